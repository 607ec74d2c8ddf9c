/*
 * rounds.c
 *	  Rounds of passes: in what order, at which sites, and when they are enough.
 *
 * A round is one pass of every arm, and one more of the baseline as control.
 * Rounds come in mirror pairs.
 *
 * Memory: as in experiment.c.
 */
#include "postgres.h"

#include "experiment_private.h"

#include <math.h>

#include "utils/memutils.h"

#include "across.h"
#include "judge.h"
#include "probe.h"

/* no pass gets less than this, however little is left of max_time */
#define LEAST_PASS_TIMEOUT_MS	1000
/* nor less than this many times what a whole round of the same passes took */
#define PASS_PATIENCE	4
/* without a limit of time sessions go on to the last look */
#define NO_LIMIT_NS	(INT64CONST(3600) * 1000000000)

/* ---- time ---- */

/*
 * rtb_rounds_time_left_ns
 *		Nanoseconds left of max_time; a long time without one.
 */
int64
rtb_rounds_time_left_ns(const Experiment *x)
{
	if (x->e->max_time_ms == 0)
		return NO_LIMIT_NS;
	return x->e->max_time_ms * 1000000 - (rtb_clock_ns() - x->started_ns);
}

/*
 * rtb_rounds_overtime_ns
 *		Nanoseconds left for what makes the first interval.
 */
int64
rtb_rounds_overtime_ns(const Experiment *x)
{
	return rtb_rounds_time_left_ns(x) + (int64) (x->e->max_time_ms * 1e6 * RTB_OVERTIME);
}

/*
 * rtb_rounds_pass_timeout_ms
 *		When a pass is given up: 0 for never.
 *
 * What is left of max_time, unless asked for; but an arm is not failed because
 * its last passes come late, or the machine became slower.
 */
int64
rtb_rounds_pass_timeout_ms(const Experiment *x)
{
	int64		known_ns = x->at != NULL ? x->at->round_ns : 0;

	if (x->e->pass_timeout_ms > 0)
		return x->e->pass_timeout_ms;
	if (x->e->max_time_ms == 0)
		return 0;
	return Max(Max(rtb_rounds_time_left_ns(x), PASS_PATIENCE * known_ns) / 1000000,
			   LEAST_PASS_TIMEOUT_MS);
}

/* round trips at a point and all sites: in the untimed passes, and in a timed round */
static void
trips_at(const Experiment *x, int64 point, int64 *untimed, int64 *of_round)
{
	int64		timed = 0;
	int			rounds = 1;

	*untimed = 0;
	for (int i = 0; i < x->nsites; i++)
	{
		ListCell   *lc;

		foreach(lc, x->sites[i].run->passes)
		{
			const RtbPass *pass = lfirst(lc);

			if (pass->point != point || pass->round_trips == RTB_UNKNOWN)
				continue;
			if (pass->kind == RTB_PASS_TIMED || pass->kind == RTB_PASS_LAST)
				timed += pass->round_trips;
			else
				*untimed += pass->round_trips;
			rounds = Max(rounds, pass->round);
		}
	}
	*of_round = timed / rounds;
}

/*
 * rtb_rounds_forecast_ns
 *		What a point and so many rounds there will cost, from the points before it;
 *		0 if there is none.
 *
 * A distance adds to each round trip; what it costs beyond that does not grow
 * with it, as the work does with other points.
 */
int64
rtb_rounds_forecast_ns(const Experiment *x, int64 value, int rounds)
{
	const RtbWireOptions *wire = ((RtbSite *) linitial(x->e->sites))->wire;
	const RtbPointCost *last = x->npoints > 0 ? &x->costs[x->npoints - 1] : NULL;
	int64		untimed;
	int64		of_round;

	if (last == NULL || wire == NULL || !wire->simulated)
		return rtb_schedule_forecast(x->costs, x->npoints, value, false) +
			rounds * rtb_schedule_forecast(x->costs, x->npoints, value, true);
	trips_at(x, last->value, &untimed, &of_round);
	return last->pilot_ns + rounds * last->round_ns +
		(untimed + rounds * of_round) * (value - last->value) * 1000;
}

/* ---- rounds ---- */

/*
 * rtb_rounds_point
 *		Value of the i-th point of the walk; 0 if nothing is swept.
 */
int64
rtb_rounds_point(const Experiment *x, int i)
{
	if (x->e->run->points == NIL)
		return 0;
	return *(int64 *) list_nth(x->e->run->points, x->walk[i]);
}

static void
pilot_site(Experiment *x, Site *site, void *arg)
{
	int64		value = *(const int64 *) arg;
	bool		has_point = x->e->run->points != NIL;

	rtb_progress_point(x->e->progress, RTB_PHASE_FIXTURE, has_point, value, 1);
	rtb_host_point(site->keeper, rtb_work_document(x->e->scenario, has_point, value));
	rtb_progress_point(x->e->progress, RTB_PHASE_PILOT, has_point, value, 1);
	rtb_host_pilot(site->keeper, rtb_rounds_pass_timeout_ms(x));
}

/*
 * rtb_rounds_pilot
 *		The fixture of a point at every site, which the first session there
 *		keeps, and the untimed passes.
 */
void
rtb_rounds_pilot(Experiment *x, int turn, int64 value)
{
	x->at = NULL;
	rtb_sites_each(x, turn, pilot_site, &value);
}

/* arms in their order, and the baseline's second pass last */
static void
start_order(Experiment *x)
{
	int			narms = list_length(x->e->run->arms);

	for (int i = 0; i < narms; i++)
		x->order[i] = i;
	x->norder = narms;
	if (x->e->control)
		x->order[x->norder++] = RTB_CONTROL;
}

/*
 * rtb_rounds_warm_up
 *		An untimed pass of each arm in a fresh backend.
 */
void
rtb_rounds_warm_up(Experiment *x, RtbHost *host, int session)
{
	start_order(x);
	rtb_host_round(host, rtb_rounds_pass_timeout_ms(x), RTB_PASS_WARMUP, session, 0,
				   list_length(x->e->run->arms), x->order);
}

/*
 * All rounds of one arm, then all of the next: what other harnesses do.  It
 * is here to prove that the proofs have teeth.
 */
static void
run_blocks(Experiment *x, RtbHost *host, int session, int first, int last, RtbPassKind kind)
{
	for (int i = 0; i < x->norder; i++)
	{
		for (int round = first; round <= last; round++)
		{
			rtb_progress_round(x->e->progress, round);
			rtb_host_round(host, rtb_rounds_pass_timeout_ms(x),
						   round == last ? kind : RTB_PASS_TIMED,
						   session, round, 1, &x->order[i]);
		}
	}
}

/*
 * rtb_rounds_run
 *		Rounds first..last, first being odd, where the host's session is; the
 *		last of them is of the kind given.
 */
void
rtb_rounds_run(Experiment *x, RtbHost *host, int session, int first, int last, RtbPassKind kind)
{
	start_order(x);
	if (rtb_pass_order == RTB_ORDER_BLOCKS)
	{
		run_blocks(x, host, session, first, last, kind);
		return;
	}
	for (int round = first; round <= last; round++)
	{
		rtb_progress_round(x->e->progress, round);
		rtb_schedule_order(&x->prng, round, x->norder, x->order);
		rtb_host_round(host, rtb_rounds_pass_timeout_ms(x),
					   round == last ? kind : RTB_PASS_TIMED,
					   session, round, x->norder, x->order);
	}
}

/* rounds at the keepers' point */
typedef struct Span
{
	int			first;
	int			last;
	RtbPassKind kind;			/* of the last one */
} Span;

static void
rounds_at_site(Experiment *x, Site *site, void *arg)
{
	const Span *span = arg;

	rtb_rounds_run(x, site->keeper, 1, span->first, span->last, span->kind);
}

/*
 * rtb_rounds_of_keepers
 *		Rounds first..last, first being odd, of the first session at every site:
 *		where there are several a mirror pair at each, then the next pair, so that
 *		rounds of the same number are neighbours.
 */
void
rtb_rounds_of_keepers(Experiment *x, int first, int last, RtbPassKind kind)
{
	bool		pairs = x->nsites > 1 && rtb_pass_order == RTB_ORDER_MIRRORED;
	int			step = pairs ? 2 : last - first + 1;

	for (int round = first; round <= last; round += step)
	{
		int			end = Min(round + step - 1, last);
		Span		span = {round, end, end == last ? kind : RTB_PASS_TIMED};

		rtb_sites_each(x, round / 2 + 1, rounds_at_site, &span);
	}
}

/*
 * The widest half-width at a point: of the speedups at each site, and of the
 * times at a site over those at the first one.
 */
static double
half_width_at(const Experiment *x, int64 point)
{
	bool		has_point = x->e->run->points != NIL;
	double		widest = rtb_judge_half_width(x->e->run, has_point, point);

	for (int i = 1; i < x->nsites && !isnan(widest); i++)
	{
		const RtbRun *run = x->sites[i].run;
		double		speedups = rtb_judge_half_width(run, has_point, point);

		widest = isnan(speedups) ? NAN
			: Max(Max(widest, speedups), rtb_across_half_width(x->e->run, run, has_point, point));
	}
	return widest;
}

/*
 * rtb_rounds_narrow_at
 *		Are the intervals at this point within the target, those that there can
 *		be?
 */
bool
rtb_rounds_narrow_at(const Experiment *x, int64 point)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "rtbench look",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	double		half_width = half_width_at(x, point);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	/* NaN, no interval yet, is not narrow */
	return half_width <= log1p(x->e->target);
}

/*
 * rtb_rounds_narrow
 *		Are all intervals within the target?
 */
bool
rtb_rounds_narrow(const Experiment *x)
{
	for (int i = 0; i < x->npoints; i++)
	{
		if (!rtb_rounds_narrow_at(x, x->costs[i].value))
			return false;
	}
	return true;
}

/* was what the arms leave digested in or after a run's last round at this point? */
static bool
is_closed(const RtbRun *run, int64 point)
{
	for (int i = list_length(run->passes) - 1; i >= 0; i--)
	{
		const RtbPass *pass = list_nth(run->passes, i);

		if (pass->sqlstate == NULL && (!pass->has_point || pass->point == point))
			return pass->kind != RTB_PASS_TIMED;
	}
	return true;
}

/* where the last round was not known to be the last: one more, untimed, is digested */
static void
close_site(Experiment *x, Site *site, void *arg)
{
	int64		point = *(const int64 *) arg;

	if (is_closed(site->run, point))
		return;
	start_order(x);
	rtb_host_round(site->keeper, rtb_rounds_pass_timeout_ms(x), RTB_PASS_CLOSING, 1, 0,
				   list_length(x->e->run->arms), x->order);
}

/*
 * rtb_rounds_close_point
 *		At the end of all rounds at the point where the keepers are: see to it
 *		that what the arms leave was digested.
 */
void
rtb_rounds_close_point(Experiment *x, int64 point)
{
	rtb_sites_each(x, 1, close_site, &point);
}

/*
 * rtb_rounds_close
 *		At the end of all rounds at points that the first session keeps: see to
 *		it that what the arms leave was digested.
 */
void
rtb_rounds_close(Experiment *x)
{
	for (int i = 0; i < x->npoints; i++)
	{
		x->at = &x->costs[i];
		rtb_sites_enter(x, i);
		rtb_rounds_close_point(x, x->costs[i].value);
	}
}
