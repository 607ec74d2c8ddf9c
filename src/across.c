/*
 * across.c
 *	  The same arm at the same point on two servers, measured in lockstep.
 *
 * Session k of every server is made in one turn, in mirrored order, so that
 * session k here over session k there is a pair, and pairs are the units.  The
 * rounds of one session cannot stand in for them: whether a backend lies on the
 * same core as who asks it is worth a factor of two, and sticks to a
 * connection.
 *
 * Pure, as the judge is; memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "across.h"

#include <math.h>

#include "estimate.h"

/*
 * rtb_across_times
 *		How many times as long the arm takes here as at the first server, at 99 %,
 *		and the units that this rests on.  NaN where it is not known.
 *
 * Both cells are of the same arm at the same point; whether they may be
 * compared is for the caller to say.
 */
RtbRatio
rtb_across_times(const RtbCell *first, const RtbCell *here, RtbUnits *units)
{
	RtbEstimate e;

	*units = rtb_units_pairs(here, first);
	e = rtb_estimate(units->d, units->n, RTB_ALPHA);
	return (RtbRatio) {e.units, exp(e.value), exp(e.low), exp(e.high), e.level, e.corrected,
					   e.autocorrelation, e.averaged};
}

/* is there a ratio of this arm, as far as it can be told while the run goes on? */
static bool
comparable(RtbCell *cell)
{
	rtb_cell_check(cell, rtb_run_empty_statement_ns(cell->run), false);
	return cell->failed == NULL && cell->reasons == NIL;
}

/*
 * rtb_across_half_width
 *		The widest half-width, on the log scale, of the times at a point of two
 *		runs under way, of those that have an interval; 0 if none has.
 */
double
rtb_across_half_width(const RtbRun *first, const RtbRun *here, bool has_point, int64 point)
{
	double		widest = 0;

	for (int arm = 0; arm < list_length(first->arms); arm++)
	{
		RtbCell    *there = rtb_cell_collect(first, has_point, point, arm);
		RtbCell    *cell = rtb_cell_collect(here, has_point, point, arm);
		RtbUnits	units;
		RtbRatio	times;

		if (!comparable(there) || !comparable(cell))
			continue;
		times = rtb_across_times(there, cell, &units);
		if (!isnan(times.level))
			widest = Max(widest, log(times.high / times.low) / 2);
	}
	return widest;
}
