/*
 * one_session.c
 *	  Runs whose units are the rounds of one session.
 *
 * Point by point where the fixture lies in the caller's transaction or the
 * number of rounds was given, else at all points in turn, so that every point
 * gets as many and is measured over the whole time.
 *
 * Memory: as in experiment.c.
 */
#include "postgres.h"

#include "experiment_private.h"

#include "forecast.h"
#include "judge.h"
#include "probe.h"

/* the rounds of one session at a point */
typedef struct Rounds
{
	RtbPointCost *cost;			/* of the point; round_ns follows what is seen */
	int			done;
	int			most;
	bool		looks;			/* stop when the interval is narrow enough */
	bool		finished;
} Rounds;

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
	r->finished = last || r->done >= r->most || (look && rtb_rounds_narrow_at(x, r->cost->value));
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
		rtb_rounds_forecast_ns(x, value, needed) <= rtb_rounds_overtime_ns(x);
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
	rtb_rounds_close_point(x, r.cost->value);
	rtb_sites_leave(x);
	if (x->e->rounds > r.done)
		rtb_forecast_warn_fewer_rounds(x->e->run, r.cost->value, r.done, x->e->rounds);
	rtb_sites_mark(x, i + 1);
	if (i + 1 < x->nwalk)
		rtb_outlook_tell_point(&x->outlook, r.cost->value, rtb_clock_ns() - started);
}

/*
 * rtb_one_session_point_by_point
 *		A whole run in one session, each point with its fixture in its turn.
 */
void
rtb_one_session_point_by_point(Experiment *x)
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
 * rtb_one_session_in_turn
 *		Go on with the rounds that the pilot began, at all points in turn.
 */
void
rtb_one_session_in_turn(Experiment *x)
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
