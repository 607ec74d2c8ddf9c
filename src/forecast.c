/*
 * forecast.c
 *	  The budget, said before it is spent, and what did not fit in it.
 *
 * After the pilot one NOTICE says how many sessions fit and how wide the
 * intervals will be at each point; where they don't fit, what would make
 * them.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "forecast.h"

#include <math.h>

#include "judge.h"
#include "stats.h"

/* a max_time that is advised leaves so much room for the machine's moods */
#define ROOM	1.2

/* ---- what did not fit ---- */

static char *
list_points(List *points)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, points)
		appendStringInfo(&buf, "%s" INT64_FORMAT, buf.len > 0 ? ", " : "", *(int64 *) lfirst(lc));
	return buf.data;
}

/*
 * rtb_forecast_warn_left_out
 *		Say which points are not measured for want of time.
 */
void
rtb_forecast_warn_left_out(List *points)
{
	ereport(WARNING,
			(errmsg("points that don't fit in max_time are not measured: %s", list_points(points)),
			 errhint("Raise max_time, or name fewer points or arms.")));
}

/*
 * rtb_forecast_warn_given_up
 *		Say which points have too few rounds for an interval, because they took
 *		longer than the pilot had shown.
 */
void
rtb_forecast_warn_given_up(const RtbRun *run, List *points)
{
	if (run->points == NIL)
		ereport(WARNING,
				(errmsg("max_time ended before there were enough rounds for an interval"),
				 errhint("Raise max_time, or name fewer arms.")));
	else
		ereport(WARNING,
				(errmsg("max_time ended before there were enough rounds for an interval at these points: %s",
						list_points(points)),
				 errhint("Raise max_time, or name fewer points or arms.")));
}

/*
 * rtb_forecast_warn_fewer_rounds
 *		Say that the rounds asked for did not fit.
 */
void
rtb_forecast_warn_fewer_rounds(const RtbRun *run, int64 point, int done, int wanted)
{
	char	   *where = run->points == NIL ? "" : psprintf(" at point " INT64_FORMAT, point);

	ereport(WARNING,
			(errmsg("max_time ended after %d of %d rounds%s", done, wanted, where),
			 errhint("Raise max_time, or ask for fewer rounds.")));
}

/*
 * rtb_forecast_warn_fewer_sessions
 *		Say that the sessions asked for did not fit.
 */
void
rtb_forecast_warn_fewer_sessions(int done, int wanted)
{
	ereport(WARNING,
			(errmsg("max_time ended after %d of %d sessions", done, wanted),
			 errhint("Raise max_time, or ask for fewer sessions or rounds.")));
}

/* ---- how wide the intervals will be ---- */

/*
 * Logarithms of the times of the pilot's rounds at a point: of every arm, and
 * of the baseline's control pass last.  NaN where there is none.
 */
static double *
pilot_logs(const RtbRun *run, int64 point)
{
	int			narms = list_length(run->arms);
	double	   *logs = palloc(sizeof(double) * (narms + 1) * RTB_PILOT_ROUNDS);
	ListCell   *lc;

	for (int i = 0; i < (narms + 1) * RTB_PILOT_ROUNDS; i++)
		logs[i] = NAN;
	foreach(lc, run->passes)
	{
		const RtbPass *pass = lfirst(lc);
		int			series = pass->control ? narms : pass->arm;

		if ((pass->kind != RTB_PASS_TIMED && pass->kind != RTB_PASS_LAST) ||
			(pass->has_point && pass->point != point) || pass->session != 1 ||
			pass->round > RTB_PILOT_ROUNDS || pass->elapsed_ns <= 0)
			continue;
		logs[series * RTB_PILOT_ROUNDS + pass->round - 1] = log(pass->elapsed_ns);
	}
	return logs;
}

/*
 * Standard deviation of ln T(baseline) - ln T(arm) over rounds, from how
 * differently the arms changed between the pilot's two rounds: of the changes
 * c of k arms, c - mean(c) has the variance 2 v (k - 1) / k where v is that of
 * a pass, and d has 2 v.  It rests on one pair, so it is rough.  NaN if it
 * can't be told.
 */
static double
spread_of_rounds(const RtbRun *run, int64 point)
{
	int			narms = list_length(run->arms);
	double	   *logs = pilot_logs(run, point);
	double		squares = 0;
	double		sum = 0;
	int			k = 0;

	for (int i = 0; i <= narms; i++)
	{
		double		change = logs[i * RTB_PILOT_ROUNDS + 1] - logs[i * RTB_PILOT_ROUNDS];

		if (isnan(change))
			continue;
		sum += change;
		squares += change * change;
		k++;
	}
	if (k < 2)
		return NAN;
	return sqrt((squares - sum * sum / k) / (k - 1));
}

/*
 * Half-width of the signed-rank interval of n units whose standard deviation
 * is 1: that of the normal scores (Blom 1958), which at few units is far wider
 * than the normal approximation.  NaN if so few have none.
 */
static double
half_width_of(int n, double alpha)
{
	double	   *scores = palloc(sizeof(double) * n);
	double		low;
	double		high;

	for (int i = 0; i < n; i++)
		scores[i] = -rtb_normal_quantile((i + 1 - 0.375) / (n + 0.25));
	if (!rtb_signed_rank_interval(scores, n, alpha, &low, &high))
		return NAN;
	return (high - low) / 2;
}

/*
 * Two rounds may by chance be quieter than the run will be: the variance of a
 * point counts half, and half that of all points together.
 */
static double
shrunk_spread(const double *spreads, int n, int i)
{
	double		sum = 0;
	int			known = 0;

	for (int k = 0; k < n; k++)
	{
		if (isnan(spreads[k]))
			continue;
		sum += spreads[k] * spreads[k];
		known++;
	}
	return sqrt((spreads[i] * spreads[i] + sum / known) / 2);
}

/* one digit: more would pretend */
static char *
rough_percent(double share)
{
	if (share >= 0.095)
		return psprintf("%.0f %%", 10 * rint(10 * share));
	return psprintf("%.1g %%", 100 * share);
}

/* half-widths to be expected at the points, as a phrase; NULL if there are none */
static char *
widths(const RtbRun *run, const RtbPlan *plan, const RtbBudget *budget)
{
	double		alpha = plan->corrected ? rtb_judge_alpha(run) : RTB_ALPHA;
	double		width = plan->sessions > 1
		? half_width_of(plan->sessions, alpha) / sqrt(plan->rounds)
		: half_width_of(plan->rounds, alpha);
	double	   *spreads = palloc(sizeof(double) * budget->ncosts);
	StringInfoData buf;

	initStringInfo(&buf);
	if (list_length(run->arms) < 2)
		return NULL;
	for (int i = 0; i < budget->ncosts; i++)
		spreads[i] = spread_of_rounds(run, budget->costs[i].value);
	for (int i = 0; i < budget->ncosts; i++)
	{
		double		h = width * shrunk_spread(spreads, budget->ncosts, i);

		if (isnan(h))
			continue;
		if (buf.len > 0)
			appendStringInfoString(&buf, ", ");
		if (run->points != NIL)
			appendStringInfo(&buf, "point " INT64_FORMAT ": ", budget->costs[i].value);
		appendStringInfoString(&buf, rough_percent(expm1(h)));
	}
	return buf.len > 0 ? buf.data : NULL;
}

/* ---- what would make the sessions fit ---- */

/* of the first points only: the sessions needed for the corrected level, and their time */
static int64
needed_ns(const RtbRun *run, const RtbBudget *budget, int npoints, int *needed)
{
	RtbRun		fewer = *run;
	RtbPace		pace = rtb_schedule_pace(budget->costs, npoints);

	if (run->points != NIL)
		fewer.points = list_truncate(list_copy(run->points), npoints);
	*needed = rtb_judge_needed(rtb_judge_alpha(&fewer));
	return rtb_schedule_session_ns(&pace, RTB_PILOT_ROUNDS) * (*needed - 1);
}

static char *
way_out(const RtbRun *run, const RtbBudget *budget)
{
	StringInfoData buf;
	int			needed;
	int			comparisons = (list_length(run->arms) - 1) * budget->ncosts;
	double		spent = budget->max_time_ms * 1e6 - budget->left_ns;
	double		seconds = ROOM * (spent + needed_ns(run, budget, budget->ncosts, &needed)) / 1e9;

	initStringInfo(&buf);
	appendStringInfo(&buf, "For the level that %d %s, %d sessions must fit: max_time => '%.0f s'",
					 comparisons, comparisons == 1 ? "comparison needs" : "comparisons need", needed, ceil(seconds));
	for (int n = budget->ncosts - 1; n > 0; n--)
	{
		List	   *points = NIL;

		/* the pilot of the points left out is saved too, so this is on the safe side */
		if (ROOM * needed_ns(run, budget, n, &needed) > budget->left_ns)
			continue;
		for (int i = 0; i < n; i++)
			points = lappend(points, (void *) &budget->costs[i].value);
		appendStringInfo(&buf, ", or points => '{%s}'", list_points(points));
		break;
	}
	appendStringInfoString(&buf, ", or fewer arms.");
	return buf.data;
}

/* what to expect at each server, or at the only one; NULL if nothing can be told */
static char *
widths_everywhere(const RtbPlan *plan, const RtbBudget *budget)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, budget->runs)
	{
		const RtbRun *run = lfirst(lc);
		char	   *expected = widths(run, plan, budget);

		if (expected == NULL)
			continue;
		if (run->server == NULL)
			return expected;
		appendStringInfo(&buf, "%sserver \"%s\": %s", buf.len > 0 ? "; " : "", run->server, expected);
	}
	return buf.len > 0 ? buf.data : NULL;
}

/*
 * rtb_forecast_announce
 *		One NOTICE after the pilot: what fits, and what to expect of it.
 */
void
rtb_forecast_announce(const RtbPlan *plan, const RtbBudget *budget)
{
	const RtbRun *run = linitial(budget->runs);
	char	   *expected = widths_everywhere(plan, budget);
	const char *where = run->server != NULL ? " at each server" : "";
	const char *each = run->points != NIL ? " at each point" : "";
	bool		fits = budget->asked_for || budget->max_time_ms == 0 ||
		(plan->sessions > 1 && plan->corrected);
	char	   *what;

	if (plan->sessions > 1)
		what = psprintf("%s%d sessions%s of %d rounds%s", budget->asked_for ? "" : "up to ",
						plan->sessions, where, plan->rounds, each);
	else
		what = psprintf("%sup to %d rounds of one backend%s%s",
						budget->asked_for ? "" : "sessions don't fit in max_time: ",
						plan->rounds, where, each);
	ereport(NOTICE,
			(errmsg("%s", what),
			 expected != NULL
			 ? errdetail("Half-width of the intervals to be expected, if the machine stays as it was in the pilot: %s.", expected) : 0,
			 fits ? 0 : errhint("%s", way_out(run, budget))));
}
