/*
 * forecast.c
 *	  The budget, said before it is spent.
 *
 * After the pilot one NOTICE says how many sessions fit and how wide the
 * intervals will be at each point; where they don't fit, what would make
 * them.
 */
#include "postgres.h"

#include "forecast.h"

#include <math.h>

#include "judge.h"
#include "stats.h"

/*
 * rtb_forecast_warn_left_out
 *		Say which points, from the first-th on, are not measured for want of time.
 */
void
rtb_forecast_warn_left_out(List *points, int first)
{
	StringInfoData left;

	initStringInfo(&left);
	for (int i = first; i < list_length(points); i++)
		appendStringInfo(&left, "%s" INT64_FORMAT, i > first ? ", " : "",
						 *(int64 *) list_nth(points, i));
	ereport(WARNING,
			(errmsg("points that don't fit in max_time are not measured: %s", left.data),
			 errhint("Raise max_time, or name fewer points or arms.")));
}

/* ln of baseline's time over the arm's in one of the pilot's rounds; NaN if not there */
static double
log_ratio(const RtbRun *run, int64 point, int arm, int round)
{
	double		base = NAN;
	double		own = NAN;
	ListCell   *lc;

	foreach(lc, run->passes)
	{
		const RtbPass *pass = lfirst(lc);

		if (pass->point != point || pass->round != round || pass->control ||
			pass->elapsed_ns <= 0 ||
			(pass->kind != RTB_PASS_TIMED && pass->kind != RTB_PASS_LAST))
			continue;
		if (pass->arm == run->baseline)
			base = log(pass->elapsed_ns);
		if (pass->arm == arm)
			own = log(pass->elapsed_ns);
	}
	return base - own;
}

/*
 * Half-width to be expected at a point, on the log scale: from how far the
 * pilot's two rounds are apart, pooled over the arms.  A rough figure: it
 * rests on one pair.
 */
static double
expected_half_width(const RtbRun *run, const RtbPlan *plan, int64 point, int units, double alpha)
{
	double		sum = 0;
	int			n = 0;

	for (int arm = 0; arm < list_length(run->arms); arm++)
	{
		double		apart = log_ratio(run, point, arm, 1) - log_ratio(run, point, arm, 2);

		if (arm == run->baseline || isnan(apart))
			continue;
		sum += apart * apart / 2;
		n++;
	}
	if (n == 0)
		return NAN;
	return rtb_normal_quantile(alpha / 2) * sqrt(sum / n / (2 * plan->pairs) / units);
}

static char *
widths(const RtbRun *run, const RtbPlan *plan, const RtbPointCost *costs, int ncosts, double alpha)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < ncosts; i++)
	{
		double		h = expected_half_width(run, plan, costs[i].value, plan->sessions, alpha);

		if (isnan(h))
			continue;
		if (buf.len > 0)
			appendStringInfoString(&buf, ", ");
		if (run->points != NIL)
			appendStringInfo(&buf, "point " INT64_FORMAT ": ", costs[i].value);
		appendStringInfo(&buf, h < 0.1 ? "%.2g%%" : "%.0f%%", 100 * expm1(h));
	}
	return buf.len > 0 ? psprintf("Half-width to be expected: %s.", buf.data)
		: pstrdup("No half-width can be forecast.");
}

/*
 * rtb_forecast_announce
 *		One NOTICE after the pilot: what fits, and what to expect of it.
 */
void
rtb_forecast_announce(const RtbRun *run, const RtbPlan *plan, const RtbPointCost *costs,
					  int ncosts, int needed_corrected, int64 max_time_ms, int64 left_ns,
					  bool asked_for)
{
	double		alpha = plan->corrected ? rtb_judge_alpha(run) : RTB_ALPHA;
	int64		session_ns = rtb_schedule_session_ns(costs, ncosts, 1);
	double		needed_s = (max_time_ms * 1e6 - left_ns +
							(double) session_ns * (needed_corrected - 1)) / 1e9;
	char	   *what;

	if (plan->sessions > 1)
		what = psprintf("%s%d sessions of %d mirror pairs at each point",
						asked_for ? "" : "up to ", plan->sessions, plan->pairs);
	else
		what = pstrdup("sessions don't fit in max_time: the rounds of one backend are compared");
	ereport(NOTICE,
			(errmsg("%s", what),
			 errdetail("%s", widths(run, plan, costs, ncosts, alpha)),
			 plan->corrected || asked_for || max_time_ms == 0 ? 0
			 : errhint("For the level that so many comparisons need, %d sessions must fit: max_time => '%.0f s', or fewer points or arms.",
					   needed_corrected, ceil(needed_s * 1.1))));
}
