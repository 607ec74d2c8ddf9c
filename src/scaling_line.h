/*
 * scaling_line.h
 *	  One arm's times over the points of a run, and the figures of each round.
 *
 * For scaling*.c only.
 */
#ifndef RTB_SCALING_LINE_H
#define RTB_SCALING_LINE_H

#include "postgres.h"

#include "cell.h"
#include "estimate.h"
#include "units.h"

/* one arm's passes at its points, in ascending order, and the work at each */
typedef struct RtbLine
{
	int			n;
	RtbCell   **cells;
	double	   *point;
	double	   *work;			/* statements, or the point */
	bool		per_statement;	/* they vary over the points */
	bool		same_effect;	/* neither rows nor fired statements vary over them */
} RtbLine;

/* one figure for each round that has all points */
typedef double (*RtbFigure) (const RtbLine *line, const double *times, const double *base_times);

extern RtbLine rtb_line_of(List *cells);
extern RtbLine rtb_line_of_arm(const RtbRun *run, int arm);
extern RtbUnits rtb_line_units(const RtbLine *line, const RtbLine *base, RtbFigure figure);
extern RtbEstimate rtb_line_estimate(const RtbLine *line, const RtbLine *base, RtbFigure figure,
									 double alpha);
extern double rtb_line_slope(const RtbLine *line, const double *times, const double *base_times);
extern double rtb_line_intercept(const RtbLine *line, const double *times, const double *base_times);
extern double rtb_line_exponent(const RtbLine *line, const double *times, const double *base_times);
extern double rtb_line_work_exponent(const RtbLine *line, const double *times, const double *base_times);
extern double rtb_line_speedup_growth(const RtbLine *line, const double *times, const double *base_times);
extern double rtb_line_log_flatness(const RtbLine *line, const double *times, const double *base_times);
extern double rtb_line_log_doubling(const RtbLine *line, const double *times, const double *base_times);
extern double rtb_line_upper_of_pair(const RtbLine *line);

#endif							/* RTB_SCALING_LINE_H */
