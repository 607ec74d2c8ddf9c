/*
 * units.h
 *	  From the passes of two arms to the units that a ratio rests on.
 */
#ifndef RTB_UNITS_H
#define RTB_UNITS_H

#include "postgres.h"

#include "cell.h"

/* logarithms of ratios */
typedef struct RtbUnits
{
	int			n;
	double	   *d;				/* in the order they ran */
	bool		sessions;		/* sessions, not rounds of one */
	int			session;		/* that the rounds are of, among several; else 0 */
	int			all_sessions;	/* that have rounds */
} RtbUnits;

extern RtbUnits rtb_units_speedup(const RtbCell *baseline, const RtbCell *arm, bool cpu);
extern RtbUnits rtb_units_pairs(const RtbCell *one, const RtbCell *other);
extern RtbUnits rtb_units_control(const RtbCell *baseline);
extern RtbUnits rtb_units_order(const RtbCell *baseline, const RtbCell *arm,
								double *base_first, double *base_last);
extern RtbUnits rtb_units_of(const int *sessions, const double *values, int n);
extern double rtb_units_total_ratio(const RtbCell *baseline, const RtbCell *arm);

#endif							/* RTB_UNITS_H */
