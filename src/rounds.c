/*
 * rounds.c
 *	  Rounds of passes, and runs whose units they are.
 *
 * A round is one pass of every arm, and one more of the baseline as control.
 * Rounds come in mirror pairs.  In a run of one session they are the units:
 * point by point where the fixture lies in the caller's transaction or the
 * number of rounds was given, else at all points in turn, so that every point
 * gets as many and is measured over the whole time.
 *
 * Memory: as in experiment.c.
 */
#include "postgres.h"

#include "experiment_private.h"

#include <math.h>

#include "utils/memutils.h"

#include "across.h"
#include "forecast.h"
#include "judge.h"
#include "probe.h"

/* no pass gets less than this, however little is left of max_time */
#define LEAST_PASS_TIMEOUT_MS	1000
/* nor less than this many times what a whole round of the same passes took */
#define PASS_PATIENCE	4
/* without a limit of time sessions go on to the last look */
#define NO_LIMIT_NS	(INT64CONST(3600) * 1000000000)

/* the rounds of one session at a point */
typedef struct Rounds
{
	RtbPointCost *cost;			/* of the point; round_ns follows what is seen */
	int			done;
	int			most;
	bool		looks;			/* stop when the interval is narrow enough */
	bool		finished;
} Rounds;

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

/* are the intervals at this point within the target, those that there can be? */
static bool
narrow_at(const Experiment *x, int64 point)
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
		if (!narrow_at(x, x->costs[i].value))
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

static void
close_point(Experiment *x, int64 point)
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
		close_point(x, x->costs[i].value);
	}
}

/* n more rounds at the point that the keepers are at */
static void
go_on(Experiment *x, Rounds *r, int n, bool last)
{
	bool		look = r->looks && rtb_schedule_is_rounds_look(r->done + n);
	int64		started = rtb_clock_ns();

	x->at = r->cost;
	rtb_progress_point(x->e->progress, RTB_PHASE_ROUNDS, x->e->run->points != NIL, r->cost->value, 1);
	rtb_rounds_of_keepers(x, r->done + 1, r->done + n,
						  last || look ? RTB_PASS_LAST : RTB_PASS_TIMED);
	r->done += n;
	r->cost->round_ns = (rtb_clock_ns() - started) / n;
	r->finished = last || r->done >= r->most || (look && narrow_at(x, r->cost->value));
}

/*
 * Nanoseconds that a point may take for the first interval.  The first point
 * was measured without a forecast, so that it may have taken all the time: it
 * gets as much again, since a pilot without an interval is time wasted.
 */
static int64
allowed_ns(const Experiment *x, int i)
{
	int64		left = rtb_rounds_overtime_ns(x);

	return i == 0 ? Max(left, x->e->max_time_ms * 1000000) : left;
}

/* ---- point by point ---- */

/*
 * The time that a point has: its share of what is left, the points weighted by
 * their value, since a pass's time grows with it.
 */
static int64
share_ns(const Experiment *x, int i)
{
	double		total = 0;

	for (int k = i; k < x->nwalk; k++)
		total += Max(rtb_rounds_point(x, k), 1);
	return (int64) (Max(rtb_rounds_time_left_ns(x), 0) *
					(Max(rtb_rounds_point(x, i), 1) / total));
}

/*
 * Pairs until the rounds are done, the width is reached at a look, or the next
 * pair would end too late.  What it takes for an interval may come later.
 */
static void
rounds_until(Experiment *x, int i, Rounds *r, int64 deadline_ns)
{
	int			needed = Min(rtb_judge_needed(RTB_ALPHA), r->most);

	while (!r->finished)
	{
		int			n = rtb_pass_order == RTB_ORDER_BLOCKS ? r->most : Min(2, r->most - r->done);
		int64		left = deadline_ns - rtb_clock_ns();
		int			wanted = Max(n, needed - r->done);
		bool		last = r->done + n >= r->most;

		if (r->done < needed)
			left = Max(left, allowed_ns(x, i));
		if (r->done > 0 && left < wanted * r->cost->round_ns)
			break;
		if (r->done > 0 && r->done + n >= needed)
			last |= deadline_ns - rtb_clock_ns() < 2 * n * r->cost->round_ns;
		rtb_outlook_rounds(&x->outlook, r->cost->value, r->most - r->done, r->cost->round_ns, left,
						   rtb_rounds_time_left_ns(x));
		go_on(x, r, n, last);
	}
}

/* can there be an interval at this point too, as far as those before it tell? */
static bool
has_time_for(const Experiment *x, int i)
{
	int64		value = rtb_rounds_point(x, i);
	int			needed = rtb_judge_needed(RTB_ALPHA);

	if (x->e->rounds > 0)
		needed = Min(needed, x->e->rounds);
	return i == 0 ||
		rtb_schedule_forecast(x->costs, x->npoints, value, false) +
		needed * rtb_schedule_forecast(x->costs, x->npoints, value, true) <=
		rtb_rounds_overtime_ns(x);
}

static void
warm_up_keeper(Experiment *x, Site *site, void *arg)
{
	rtb_rounds_warm_up(x, site->keeper, 1);
}

static void
measure_point(Experiment *x, int i)
{
	Rounds		r = {0};
	int64		started = rtb_clock_ns();

	r.cost = &x->costs[x->npoints++];
	r.cost->value = rtb_rounds_point(x, i);
	r.most = x->e->rounds > 0 ? x->e->rounds : RTB_ROUNDS_MOST;
	r.looks = x->e->rounds == 0;
	rtb_rounds_pilot(x, i + 1, r.cost->value);
	r.cost->pilot_ns = rtb_clock_ns() - started;
	rtb_outlook_tell_pilot(&x->outlook, r.cost->value, r.cost->pilot_ns);
	rtb_outlook_asked(&x->outlook, x->walk + i + 1, x->nwalk - i - 1);
	rtb_sites_each(x, i + 1, warm_up_keeper, NULL);
	rounds_until(x, i, &r, rtb_clock_ns() + share_ns(x, i));
	close_point(x, r.cost->value);
	rtb_sites_leave(x);
	if (x->e->rounds > r.done)
		rtb_forecast_warn_fewer_rounds(x->e->run, r.cost->value, r.done, x->e->rounds);
	rtb_sites_mark(x, i + 1);
	if (i + 1 < x->nwalk)
		rtb_outlook_tell_point(&x->outlook, r.cost->value, rtb_clock_ns() - started);
}

/*
 * rtb_rounds_point_by_point
 *		A whole run in one session, each point with its fixture in its turn.
 */
void
rtb_rounds_point_by_point(Experiment *x)
{
	RtbRun	   *run = x->e->run;
	List	   *left_out = NIL;

	rtb_progress_sessions(x->e->progress, 1);
	for (int i = 0; i < x->nwalk; i++)
	{
		if (has_time_for(x, i))
			measure_point(x, i);
		else
			left_out = lappend(left_out, list_nth(run->points, x->walk[i]));
	}
	if (left_out != NIL)
	{
		rtb_forecast_warn_left_out(left_out);
		rtb_sites_leave_out(x, left_out);
	}
}

/* ---- points in turn ---- */

/* one round at every point that is not finished */
static int64
turn_ns(const Rounds *rounds, int npoints)
{
	int64		ns = 0;

	for (int i = 0; i < npoints; i++)
		ns += rounds[i].finished ? 0 : rounds[i].cost->round_ns;
	return ns;
}

/*
 * Visit every point that is not finished, for n rounds.  Where these make the
 * first interval and don't fit, the point is given up.
 */
static void
visit_points(Experiment *x, Rounds *rounds, int n, bool first, bool last)
{
	List	   *given_up = NIL;

	for (int i = 0; i < x->npoints; i++)
	{
		Rounds	   *r = &rounds[i];

		if (r->finished)
			continue;
		if (first && n * r->cost->round_ns > allowed_ns(x, i))
		{
			given_up = lappend(given_up, &r->cost->value);
			r->finished = true;
			continue;
		}
		rtb_sites_enter(x, i);
		go_on(x, r, n, last);
	}
	if (given_up != NIL)
		rtb_forecast_warn_given_up(x->e->run, given_up);
}

/*
 * rtb_rounds_in_turn
 *		Go on with the rounds that the pilot began, at all points in turn.
 */
void
rtb_rounds_in_turn(Experiment *x)
{
	Rounds	   *rounds = palloc0(sizeof(Rounds) * x->npoints);
	int			needed = rtb_judge_needed(RTB_ALPHA);
	int			done = RTB_PILOT_ROUNDS;

	rtb_progress_sessions(x->e->progress, 1);
	for (int i = 0; i < x->npoints; i++)
		rounds[i] = (Rounds) {&x->costs[i], done, RTB_ROUNDS_MOST, true, false};
	for (;;)
	{
		int64		turn = turn_ns(rounds, x->npoints);
		int			fit = (int) Min(Max(rtb_rounds_time_left_ns(x), 0) / Max(turn, 1), RTB_ROUNDS_MOST);
		int			n = rtb_schedule_visit(done, needed, fit);

		if (n == 0 || turn == 0)
			break;
		rtb_outlook_turns(&x->outlook, x->costs, x->npoints,
						  Min(Max(fit, n), RTB_ROUNDS_MOST - done));
		visit_points(x, rounds, n, done < needed, fit < n + 2);
		done += n;
		rtb_sites_mark(x, x->npoints);
	}
	rtb_rounds_close(x);
}
