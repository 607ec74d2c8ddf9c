/*
 * experiment.c
 *	  The schedule carried out: points, sessions, rounds, stopping.
 *
 * Session 1 is the pilot: at each point it builds the fixture, discovers what
 * the arms write, holds them against each other, and runs one mirror pair of
 * timed rounds.  Later sessions are fresh backends that attach to the points'
 * fixtures; each gives one unit.  Where they don't fit in the time, or were
 * not wanted, the rounds of one session are the units.
 *
 * Memory: everything lies in the context current at rtb_experiment_run().
 */
#include "postgres.h"

#include "experiment_private.h"

#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "forecast.h"
#include "judge.h"
#include "probe.h"
#include "unseen.h"
#include "worker.h"

int			rtb_pass_order = RTB_ORDER_MIRRORED;

static const struct config_enum_entry pass_orders[] = {
	{"mirrored", RTB_ORDER_MIRRORED, false},
	{"blocks", RTB_ORDER_BLOCKS, false},
	{NULL, 0, false}
};

/* how long a later session waits for a worker slot */
#define WAIT_FOR_SLOT_NS	(INT64CONST(2) * 1000000000)

/* a run is going on in this backend */
static bool running = false;

/* ---- the pilot ---- */

/* can this point still be measured beside those before it? */
static bool
point_fits(const Experiment *x, int64 value, int needed)
{
	int64		need;

	if (x->npoints == 0)
		return true;
	need = rtb_rounds_forecast_ns(x, value, needed);
	for (int i = 0; i < x->npoints; i++)
		need += needed * x->costs[i].round_ns;
	return need <= rtb_rounds_time_left_ns(x);
}

static void
pilot_point(Experiment *x, int64 value)
{
	RtbPointCost *cost = &x->costs[x->npoints];
	int			rounds = x->e->rounds > 0 ? x->e->rounds : RTB_PILOT_ROUNDS;
	int64		started = rtb_clock_ns();

	cost->value = value;
	rtb_rounds_pilot(x, x->npoints + 1, value);
	cost->pilot_ns = rtb_clock_ns() - started;
	/* so that no pass is given up that would take no longer than those before */
	cost->round_ns = cost->pilot_ns;
	x->at = cost;
	started = rtb_clock_ns();
	rtb_rounds_of_keepers(x, 1, rounds, RTB_PASS_LAST_IF_CHEAP);
	cost->round_ns = (rtb_clock_ns() - started) / rounds;
	for (int i = 0; i < x->nsites; i++)
		x->sites[i].descriptions[x->npoints] = rtb_host_describe(x->sites[i].keeper);
	x->npoints++;
	rtb_outlook_tell_pilot(&x->outlook, value, cost->pilot_ns + rounds * cost->round_ns);
}

/* the pilot at every point that fits, upwards */
static void
run_pilot(Experiment *x, int needed)
{
	RtbRun	   *run = x->e->run;
	List	   *left_out = NIL;

	for (int i = 0; i < x->nwalk; i++)
	{
		int64		value = rtb_rounds_point(x, i);

		if (point_fits(x, value, needed))
			pilot_point(x, value);
		else
			left_out = lappend(left_out, list_nth(run->points, x->walk[i]));
	}
	if (left_out != NIL)
	{
		rtb_forecast_warn_left_out(left_out);
		rtb_sites_leave_out(x, left_out);
	}
	/* a session that does not come about everywhere is taken back to here */
	rtb_sites_mark(x, 0);
}

/* ---- sessions as units ---- */

/* a fresh backend; false if no worker slot was free for a while */
static bool
open_visitor(Site *site)
{
	MemoryContext cxt = CurrentMemoryContext;
	int64		started = rtb_clock_ns();

	for (;;)
	{
		PG_TRY();
		{
			site->visitor = rtb_host_open(&site->options, &site->sink);
		}
		PG_CATCH();
		{
			MemoryContextSwitchTo(cxt);
			if (geterrcode() != ERRCODE_CONFIGURATION_LIMIT_EXCEEDED)
				PG_RE_THROW();
			FlushErrorState();
		}
		PG_END_TRY();
		if (site->visitor != NULL)
			return true;
		if (rtb_clock_ns() - started > WAIT_FOR_SLOT_NS)
			break;
		pg_usleep(100000);
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

/* the next session: a fresh backend at every site */
typedef struct Turn
{
	int			session;
	int			rounds;
	bool		last;
	int64		in_rounds;		/* nanoseconds */
	bool		missed;			/* there was no backend to be had */
} Turn;

/* a fresh backend visits every point at a site */
static void
visit_site(Experiment *x, Site *site, void *arg)
{
	Turn	   *turn = arg;
	bool		has_points = x->e->run->points != NIL;

	if (turn->missed)
		return;
	if (!open_visitor(site))
	{
		turn->missed = true;
		return;
	}
	for (int i = 0; i < x->npoints; i++)
	{
		x->at = &x->costs[i];
		rtb_progress_point(x->e->progress, RTB_PHASE_SESSIONS, has_points, x->at->value, turn->session);
		rtb_host_attach(site->visitor,
						rtb_work_document(x->e->scenario, has_points, x->at->value),
						site->descriptions[i]);
		rtb_rounds_warm_up(x, site->visitor, turn->session);
		turn->in_rounds -= rtb_clock_ns();
		rtb_rounds_run(x, site->visitor, turn->session, 1, turn->rounds,
					   turn->last ? RTB_PASS_LAST : RTB_PASS_LAST_IF_CHEAP);
		turn->in_rounds += rtb_clock_ns();
		rtb_host_leave(site->visitor);
	}
	rtb_host_close(site->visitor);
	site->visitor = NULL;
}

/* a session at every site; false if one was not to be had, and then there is none of it */
static bool
run_session(Experiment *x, int session, int rounds, bool last, RtbPace *seen)
{
	Turn		turn = {session, rounds, last, 0, false};
	int64		started = rtb_clock_ns();

	rtb_sites_each(x, session, visit_site, &turn);
	if (turn.missed)
	{
		rtb_sites_cut(x);
		ereport(WARNING,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("no background worker slot was free for session %d of the run", session),
				 errdetail("A run of several sessions needs %d at a time.", x->nsites + 1),
				 errhint("Raise max_worker_processes, or run it when fewer workers are in use.")));
		return false;
	}
	*seen = (RtbPace) {rtb_clock_ns() - started - turn.in_rounds, turn.in_rounds / rounds};
	return true;
}

/* timed rounds at each point of the next session */
static int
next_rounds(const Experiment *x, const RtbPace *pace, int done, int first, int64 begun_ns)
{
	int64		left = rtb_rounds_time_left_ns(x);
	int64		in_all = left + rtb_clock_ns() - begun_ns;

	if (x->e->rounds > 0)
		return x->e->rounds;
	/* as many as all sessions could have, and the wanted ones still can */
	return Min(rtb_schedule_rounds(in_all, Max(first - 1, done), pace),
			   rtb_schedule_rounds(left, Max(first - done, 1), pace));
}

/*
 * Sessions 2 and on: as many as were asked for, or until the intervals are
 * narrow at a look; and as max_time allows, which those needed for the first
 * interval may exceed.  Returns how many there are then, the pilot included.
 *
 * The price of a session follows what is seen, by half each time, since the
 * machine's speed changes while a run goes on: a session that would end too
 * late is not begun, and each gets as many rounds as leave time for the
 * sessions that are still wanted.
 */
static int
run_sessions(Experiment *x, const RtbPlan *plan, int needed)
{
	bool		asked_for = x->e->sessions > 0;
	int			most = asked_for ? plan->sessions : RTB_SESSIONS_MOST;
	int			first = asked_for || x->nsites > 1 ? plan->sessions
		: Min(plan->sessions, Max(needed, RTB_SESSIONS_FIRST));
	RtbPace		pace = rtb_schedule_pace(x->costs, x->npoints);
	int64		begun_ns = rtb_clock_ns();
	int			done = 1;

	while (done < most)
	{
		int64		left = rtb_rounds_time_left_ns(x);
		int			rounds = next_rounds(x, &pace, done, first, begun_ns);
		int64		cost = rtb_schedule_session_ns(&pace, rounds);
		int64		limit = done < needed ? rtb_rounds_overtime_ns(x) : left;
		bool		look = !asked_for && rtb_schedule_is_look(done + 1, needed);
		RtbPace		seen;
		int			in_all;

		if (limit < cost)
			break;
		in_all = rtb_outlook_sessions(&x->outlook, x->costs, x->npoints, done, most, rounds,
									  cost, limit);
		if (!run_session(x, done + 1, rounds, look || done + 1 == most || left < 2 * cost, &seen))
			break;
		done++;
		pace.start_ns = done == 2 ? seen.start_ns : (pace.start_ns + seen.start_ns) / 2;
		pace.round_ns = done == 2 ? seen.round_ns : (pace.round_ns + seen.round_ns) / 2;
		rtb_sites_mark(x, x->npoints);
		rtb_outlook_tell_session(&x->outlook, done, in_all);
		if (look && rtb_rounds_narrow(x))
			break;
	}
	return done;
}

static void
leave_points(Experiment *x)
{
	rtb_progress_phase(x->e->progress, RTB_PHASE_CLEANING);
	for (int i = 0; i < x->npoints; i++)
	{
		rtb_sites_enter(x, i);
		rtb_sites_leave(x);
	}
}

/*
 * Between servers the sessions of one number are a pair, and the shorter they
 * are the less has changed from one to the other: the time goes into as many as
 * there can be before it goes into their rounds.
 */
static void
prefer_sessions(const Experiment *x, RtbPlan *plan)
{
	RtbPace		pace = rtb_schedule_pace(x->costs, x->npoints);
	int64		left = rtb_rounds_time_left_ns(x);

	plan->rounds = rtb_schedule_rounds(left, RTB_SESSIONS_MOST - 1, &pace);
	plan->sessions = (int) Min(1 + left / rtb_schedule_session_ns(&pace, plan->rounds),
							   RTB_SESSIONS_MOST);
}

/* what will be done after the pilot */
static RtbPlan
make_plan(const Experiment *x, int needed, int needed_plain)
{
	RtbPlan		plan = rtb_schedule_plan(x->costs, x->npoints, rtb_rounds_time_left_ns(x),
										 needed, needed_plain);

	/* without a ratio no more sessions make anything narrower */
	if (list_length(x->e->run->arms) < 2 && x->nsites < 2)
		plan.sessions = Min(plan.sessions, needed);
	if (x->nsites > 1 && x->e->sessions == 0 && plan.sessions > 1)
		prefer_sessions(x, &plan);
	if (x->e->sessions == 1 && plan.sessions > 1)
		plan = (RtbPlan) {1, rtb_schedule_one_session(x->costs, x->npoints,
													  rtb_rounds_time_left_ns(x), needed), true};
	else if (x->e->sessions > 1)
	{
		RtbPace		pace = rtb_schedule_pace(x->costs, x->npoints);

		plan.sessions = x->e->sessions;
		plan.rounds = x->e->rounds > 0 ? x->e->rounds
			: rtb_schedule_rounds(rtb_rounds_time_left_ns(x), plan.sessions - 1, &pace);
		plan.corrected = plan.sessions >= needed;
	}
	return plan;
}

static void
run_all_points(Experiment *x)
{
	int			needed_plain = rtb_judge_needed(RTB_ALPHA);
	int			needed;
	RtbPlan		plan;
	RtbBudget	budget = {x->costs, 0, x->e->max_time_ms, 0, x->e->sessions > 0, NIL};
	int			done = 1;

	run_pilot(x, needed_plain);
	needed = rtb_judge_needed(rtb_judge_alpha(x->e->run));
	plan = make_plan(x, needed, needed_plain);
	budget.ncosts = x->npoints;
	budget.left_ns = rtb_rounds_time_left_ns(x);
	for (int i = 0; i < x->nsites; i++)
		budget.runs = lappend(budget.runs, x->sites[i].run);
	rtb_forecast_announce(&plan, &budget);
	if (plan.sessions > 1)
		done = run_sessions(x, &plan, plan.corrected ? needed : needed_plain);
	if (x->e->sessions > done)
		rtb_forecast_warn_fewer_sessions(done, x->e->sessions);
	/* too few sessions for an interval */
	if (x->e->sessions <= 1 && done < needed_plain)
		rtb_one_session_in_turn(x);
	else
		rtb_rounds_close(x);
	for (int i = 0; done > 1 && i < x->nsites; i++)
		x->sites[i].run->scope = psprintf("%d sessions", done);
	leave_points(x);
}

/* ---- all of it ---- */

/*
 * An error, or somebody's cancel, ended the run: keep what is finished, clean
 * up, and go on with the error.  What goes wrong on the way is lost.
 */
static void
end_early(Experiment *x, MemoryContext cxt)
{
	ErrorData  *edata;

	MemoryContextSwitchTo(cxt);
	edata = CopyErrorData();
	FlushErrorState();
	rtb_worker_end_within(RTB_WORKER_ENDS);
	PG_TRY();
	{
		rtb_sites_unwind(x);
		if (x->e->options.own_transactions && edata->hint == NULL &&
			edata->sqlerrcode == ERRCODE_UNDEFINED_TABLE)
			edata->hint = rtb_unseen_hint(edata->message);
		rtb_sites_keep(x);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		FlushErrorState();
	}
	PG_END_TRY();
	rtb_sites_abandon(x);
	rtb_worker_end_within(0);
	ReThrowError(edata);
}

/* indexes of the run's points, upwards: the small ones tell what the others cost */
static void
plan_walk(Experiment *x)
{
	List	   *points = x->e->run->points;

	x->nwalk = Max(list_length(points), 1);
	x->walk = palloc0(sizeof(int) * x->nwalk);
	for (int i = 1; i < list_length(points); i++)
	{
		int64		value = *(int64 *) list_nth(points, i);
		int			k = i;

		for (; k > 0 && rtb_rounds_point(x, k - 1) > value; k--)
			x->walk[k] = x->walk[k - 1];
		x->walk[k] = i;
	}
}

static Experiment *
prepare(RtbExperiment *e)
{
	Experiment *x = palloc0(sizeof(Experiment));

	x->e = e;
	plan_walk(x);
	rtb_sites_prepare(x);
	x->outlook.e = e;
	x->outlook.collector = x->sites[0].collector;
	x->order = palloc0(sizeof(int) * (list_length(e->run->arms) + 1));
	x->costs = palloc0(sizeof(RtbPointCost) * x->nwalk);
	x->started_ns = rtb_clock_ns();
	pg_prng_seed(&x->prng, (uint64) e->run->seed);
	return x;
}

/*
 * rtb_experiment_init
 *		At module load: the settings.
 */
void
rtb_experiment_init(void)
{
	DefineCustomEnumVariable("rtbench.pass_order",
							 "Order of the passes in a run.",
							 "\"blocks\" runs all passes of an arm before those of the next and gives false verdicts: it exists to test the tests.",
							 &rtb_pass_order, RTB_ORDER_MIRRORED, pass_orders, PGC_USERSET,
							 GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	MarkGUCPrefixReserved("rtbench");
}

/*
 * rtb_experiment_run
 *		Run everything; passes, findings and step times are in the sites' runs then.
 *
 * In the current memory context.  Throws what ends a run: a failing setup or
 * check, a cancel, a worker that cannot be had or died; and 55000 in an arm of
 * a run, which cannot start another one.
 */
void
rtb_experiment_run(RtbExperiment *e)
{
	Experiment *x = prepare(e);
	MemoryContext cxt = CurrentMemoryContext;

	if (running || rtb_host_serves())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a run of rtbench cannot be part of another one")));
	running = true;
	PG_TRY();
	{
		rtb_sites_open(x);
		if (!e->options.own_transactions || (e->rounds > 0 && e->sessions <= 1))
			rtb_one_session_point_by_point(x);
		else
			run_all_points(x);
		rtb_sites_close(x);
		running = false;
	}
	PG_CATCH();
	{
		running = false;
		end_early(x, cxt);
	}
	PG_END_TRY();
}
