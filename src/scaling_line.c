/*
 * scaling_line.c
 *	  One arm's times over the points of a run, and the figures of each round.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "scaling_line.h"

#include <math.h>

#include "advice.h"
#include "cell.h"
#include "judge.h"
#include "miscadmin.h"
#include "notes.h"
#include "stats.h"
#include "units.h"

/* ---- the points that an arm has ---- */

static int
compare_cells(const ListCell *a, const ListCell *b)
{
	const RtbCell *p = lfirst(a);
	const RtbCell *q = lfirst(b);

	return (p->point > q->point) - (p->point < q->point);
}

static int64
statements_of(const RtbPass *pass)
{
	return pass->statements;
}

static int64
rows_of(const RtbPass *pass)
{
	return pass->rows;
}

static int64
fired_of(const RtbPass *pass)
{
	return pass->fired;
}

static bool
has_times(const RtbCell *cell)
{
	ListCell   *lc;

	foreach(lc, cell->timed)
	{
		if (((RtbPass *) lfirst(lc))->elapsed_ns <= 0)
			return false;
	}
	return cell->timed != NIL;
}

/* do the counts differ between the points? -1: they are not known */
static int
varies(const RtbLine *line, int64 (*count) (const RtbPass *), double *counts)
{
	int			differ = 0;

	for (int i = 0; i < line->n; i++)
	{
		counts[i] = (double) rtb_cell_count(line->cells[i], count);
		if (counts[i] == RTB_UNKNOWN)
			return -1;
		differ |= counts[i] != counts[0];
	}
	return differ;
}

/* cells as a line, ascending by their points; what of their work varies over them */
RtbLine
rtb_line_of(List *cells)
{
	int			n = list_length(cells);
	RtbLine		line = {n, palloc0(Max(n, 1) * sizeof(RtbCell *)),
						palloc(Max(n, 1) * sizeof(double)), NULL, false, false};
	ListCell   *lc;

	foreach(lc, cells)
	{
		RtbCell    *cell = lfirst(lc);

		line.cells[foreach_current_index(lc)] = cell;
		line.point[foreach_current_index(lc)] = (double) cell->point;
	}
	return line;
}

/* the points at which an arm has times, ascending and each once */
RtbLine
rtb_line_of_arm(const RtbRun *run, int arm)
{
	List	   *cells = NIL;
	RtbLine		line;
	ListCell   *lc;

	foreach(lc, run->points)
	{
		int64		point = *(int64 *) lfirst(lc);
		bool		known = false;
		RtbCell    *cell = rtb_cell_collect(run, true, point, arm);
		ListCell   *other;

		foreach(other, cells)
			known |= ((RtbCell *) lfirst(other))->point == point;
		if (!known && cell->failed == NULL && has_times(cell))
			cells = lappend(cells, cell);
	}
	list_sort(cells, compare_cells);
	line = rtb_line_of(cells);
	line.work = palloc(Max(line.n, 1) * sizeof(double));
	line.same_effect = varies(&line, rows_of, line.work) == 0 &&
		varies(&line, fired_of, line.work) == 0;
	line.per_statement = varies(&line, statements_of, line.work) == 1;
	if (!line.per_statement)
		memcpy(line.work, line.point, line.n * sizeof(double));
	return line;
}

/* ---- rounds that have all points ---- */

/* by halving: a cell's passes are sorted by session and round */
static const RtbPass *
pass_of_round(const RtbCell *cell, const RtbPass *round)
{
	int			low = 0;
	int			high = list_length(cell->timed);

	while (low < high)
	{
		int			middle = (low + high) / 2;
		const RtbPass *pass = list_nth(cell->timed, middle);

		if (pass->session == round->session && pass->round == round->round)
			return pass;
		if (pass->session != round->session ? pass->session < round->session :
			pass->round < round->round)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* the times of a round at all points, in nanoseconds; false if one is missing */
static bool
times_of_round(const RtbLine *line, const RtbPass *round, double *times)
{
	for (int i = 0; i < line->n; i++)
	{
		const RtbPass *pass = pass_of_round(line->cells[i], round);

		if (pass == NULL || pass->elapsed_ns <= 0)
			return false;
		times[i] = (double) pass->elapsed_ns;
	}
	return true;
}

/* a figure's units; base is NULL, or the baseline's passes at the same points */
RtbUnits
rtb_line_units(const RtbLine *line, const RtbLine *base, RtbFigure figure)
{
	int			most = line->n > 0 ? list_length(line->cells[0]->timed) : 0;
	double	   *times = palloc(Max(line->n, 1) * sizeof(double));
	double	   *base_times = palloc(Max(line->n, 1) * sizeof(double));
	double	   *values = palloc(Max(most, 1) * sizeof(double));
	int		   *sessions = palloc(Max(most, 1) * sizeof(int));
	int			n = 0;

	for (int i = 0; i < most; i++)
	{
		const RtbPass *round = list_nth(line->cells[0]->timed, i);

		CHECK_FOR_INTERRUPTS();
		if (!times_of_round(line, round, times) ||
			(base && !times_of_round(base, round, base_times)))
			continue;
		values[n] = figure(line, times, base_times);
		sessions[n] = round->session;
		n += isfinite(values[n]);
	}
	return rtb_units_of(sessions, values, n);
}

/* the same, estimated, with an interval at 1 - alpha */
RtbEstimate
rtb_line_estimate(const RtbLine *line, const RtbLine *base, RtbFigure figure, double alpha)
{
	RtbUnits	units = rtb_line_units(line, base, figure);

	return rtb_estimate(units.d, units.n, alpha);
}

/* ---- figures of a round ---- */

/* nanoseconds of one more of the work (Theil 1950, Sen 1968) */
double
rtb_line_slope(const RtbLine *line, const double *times, const double *base_times)
{
	return rtb_theil_sen(line->work, times, line->n);
}

/* the median of what is left when the line's slope is taken off (Sen 1968) */
double
rtb_line_intercept(const RtbLine *line, const double *times, const double *base_times)
{
	double		price = rtb_line_slope(line, times, base_times);
	double	   *left = palloc(line->n * sizeof(double));

	for (int i = 0; i < line->n; i++)
		left[i] = times[i] - price * line->work[i];
	return rtb_median(left, line->n);
}

static double *
logarithms(const double *x, int n)
{
	double	   *logs = palloc(n * sizeof(double));

	for (int i = 0; i < n; i++)
		logs[i] = log(x[i]);
	return logs;
}

/* NaN where a point has no logarithm */
static double
log_slope(const double *x, const double *y, int n)
{
	return x[0] > 0 ? rtb_theil_sen(logarithms(x, n), logarithms(y, n), n) : NAN;
}

/* of the time over the point: 1 is in proportion */
double
rtb_line_exponent(const RtbLine *line, const double *times, const double *base_times)
{
	return log_slope(line->point, times, line->n);
}

/* the same over the work, which need not be in proportion to the point */
double
rtb_line_work_exponent(const RtbLine *line, const double *times, const double *base_times)
{
	return log_slope(line->work, times, line->n);
}

/* exponent of the speedup over the point: 0 is one that stays */
double
rtb_line_speedup_growth(const RtbLine *line, const double *times, const double *base_times)
{
	double	   *speedups = palloc(line->n * sizeof(double));

	for (int i = 0; i < line->n; i++)
		speedups[i] = base_times[i] / times[i];
	return log_slope(line->point, speedups, line->n);
}

/* on the log scale, so that the ratio is the same either way round */
double
rtb_line_log_flatness(const RtbLine *line, const double *times, const double *base_times)
{
	int			last = line->n - 1;

	return log(times[last] / line->work[last]) - log(times[0] / line->work[0]);
}

/* ln T at a point within the range, on the line between its neighbours on log-log */
static double
log_time_at(const RtbLine *line, const double *times, double point)
{
	int			i = 1;

	while (i < line->n - 1 && line->point[i] < point)
		i++;
	return log(times[i]) - (log(line->point[i]) - log(point)) *
		(log(times[i]) - log(times[i - 1])) / (log(line->point[i]) - log(line->point[i - 1]));
}

/* the largest point that is twice another, else the largest that is twice something within the range */
double
rtb_line_upper_of_pair(const RtbLine *line)
{
	for (int i = line->n - 1; i > 0; i--)
		for (int k = 0; k < i; k++)
			if (line->point[i] == 2 * line->point[k])
				return line->point[i];
	return line->point[line->n - 1] >= 2 * line->point[0] ? line->point[line->n - 1] : NAN;
}

/* log of T(2n) / T(n), at the upper of the pair; NaN if there is none */
double
rtb_line_log_doubling(const RtbLine *line, const double *times, const double *base_times)
{
	double		upper = rtb_line_upper_of_pair(line);

	return log_time_at(line, times, upper) - log_time_at(line, times, upper / 2);
}
