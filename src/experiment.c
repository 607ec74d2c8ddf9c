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

#include "facts.h"
#include "forecast.h"
#include "judge.h"
#include "probe.h"
#include "unseen.h"

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
	need = rtb_schedule_forecast(x->costs, x->npoints, value, false) +
		needed * rtb_schedule_forecast(x->costs, x->npoints, value, true);
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

	rtb_rounds_pilot(x, value);
	cost->value = value;
	cost->pilot_ns = rtb_clock_ns() - started;
	/* so that no pass is given up that would take no longer than those before */
	cost->round_ns = cost->pilot_ns;
	x->at = cost;
	started = rtb_clock_ns();
	rtb_rounds_run(x, x->keeper, 1, 1, rounds, RTB_PASS_LAST_IF_CHEAP);
	cost->round_ns = (rtb_clock_ns() - started) / rounds;
	x->descriptions[x->npoints++] = rtb_host_describe(x->keeper);
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
		run->points = list_difference_ptr(run->points, left_out);
		run->complete = false;
	}
}

/* ---- sessions as units ---- */

/* a fresh backend; false if no worker slot was free for a while */
static bool
open_visitor(Experiment *x)
{
	MemoryContext cxt = CurrentMemoryContext;
	int64		started = rtb_clock_ns();

	for (;;)
	{
		PG_TRY();
		{
			x->visitor = rtb_host_open(&x->e->options, &x->sink);
		}
		PG_CATCH();
		{
			MemoryContextSwitchTo(cxt);
			if (geterrcode() != ERRCODE_CONFIGURATION_LIMIT_EXCEEDED)
				PG_RE_THROW();
			FlushErrorState();
		}
		PG_END_TRY();
		if (x->visitor != NULL)
			return true;
		if (rtb_clock_ns() - started > WAIT_FOR_SLOT_NS)
			break;
		pg_usleep(100000);
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

/* a fresh backend visits every point; false if there was none to be had */
static bool
run_session(Experiment *x, int session, int rounds, bool last, RtbPace *seen)
{
	bool		has_points = x->e->run->points != NIL;
	int64		started = rtb_clock_ns();
	int64		in_rounds = 0;

	if (!open_visitor(x))
	{
		ereport(WARNING,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("no background worker slot was free for session %d of the run", session),
				 errdetail("A run of several sessions needs two at a time."),
				 errhint("Raise max_worker_processes, or run it when fewer workers are in use.")));
		return false;
	}
	for (int i = 0; i < x->npoints; i++)
	{
		x->at = &x->costs[i];
		rtb_progress_point(x->e->progress, RTB_PHASE_SESSIONS, has_points, x->at->value, session);
		rtb_host_attach(x->visitor,
						rtb_work_document(x->e->scenario, has_points, x->at->value),
						x->descriptions[i]);
		rtb_rounds_warm_up(x, x->visitor, session);
		in_rounds -= rtb_clock_ns();
		rtb_rounds_run(x, x->visitor, session, 1, rounds,
					   last ? RTB_PASS_LAST : RTB_PASS_LAST_IF_CHEAP);
		in_rounds += rtb_clock_ns();
		rtb_host_leave(x->visitor);
	}
	rtb_host_close(x->visitor);
	x->visitor = NULL;
	*seen = (RtbPace) {rtb_clock_ns() - started - in_rounds, in_rounds / rounds};
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
	int			first = asked_for ? plan->sessions
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
		rtb_collector_mark(x->collector, x->npoints);
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
		rtb_host_enter(x->keeper, i);
		rtb_host_leave(x->keeper);
	}
}

/* what will be done after the pilot */
static RtbPlan
make_plan(const Experiment *x, int needed, int needed_plain)
{
	RtbPlan		plan = rtb_schedule_plan(x->costs, x->npoints, rtb_rounds_time_left_ns(x),
										 needed, needed_plain);

	if (list_length(x->e->run->arms) < 2)
		plan.sessions = Min(plan.sessions, needed);
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
	RtbBudget	budget = {x->costs, 0, x->e->max_time_ms, 0, x->e->sessions > 0};
	int			done = 1;

	run_pilot(x, needed_plain);
	needed = rtb_judge_needed(rtb_judge_alpha(x->e->run));
	plan = make_plan(x, needed, needed_plain);
	budget.ncosts = x->npoints;
	budget.left_ns = rtb_rounds_time_left_ns(x);
	rtb_forecast_announce(x->e->run, &plan, &budget);
	if (plan.sessions > 1)
		done = run_sessions(x, &plan, plan.corrected ? needed : needed_plain);
	if (x->e->sessions > done)
		rtb_forecast_warn_fewer_sessions(done, x->e->sessions);
	/* too few sessions for an interval */
	if (x->e->sessions <= 1 && done < needed_plain)
		rtb_rounds_in_turn(x);
	else
		rtb_rounds_close(x);
	if (done > 1)
		x->e->run->scope = psprintf("%d sessions", done);
	leave_points(x);
}

/* ---- all of it ---- */

/* what is finished is kept by another process: this transaction will be rolled back */
static void
keep_finished(Experiment *x)
{
	RtbRun	   *run = x->e->run;
	int64		id;

	if (x->collector->points_done == 0)
		return;
	rtb_progress_phase(x->e->progress, RTB_PHASE_KEEPING);
	run->complete = false;
	run->finished_at = GetCurrentTimestamp();
	rtb_collector_cut(x->collector);
	id = rtb_host_rescue(x->keeper, run);
	if (id > 0)
		ereport(WARNING,
				(errmsg("run " INT64_FORMAT " ended early and keeps what was finished", id),
				 errdetail("Finished points: %d of %d.", x->collector->points_done,
						   Max(list_length(run->points), 1)),
				 errhint("SELECT * FROM rtbench.result(" INT64_FORMAT ");", id)));
}

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
	PG_TRY();
	{
		rtb_host_abandon(x->visitor);
		x->visitor = NULL;
		if (x->keeper != NULL)
		{
			rtb_host_unwind(x->keeper);
			if (x->e->options.own_transactions && edata->hint == NULL &&
				edata->sqlerrcode == ERRCODE_UNDEFINED_TABLE)
				edata->hint = rtb_unseen_hint(edata->message);
			keep_finished(x);
		}
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		FlushErrorState();
	}
	PG_END_TRY();
	rtb_host_abandon(x->visitor);
	rtb_host_abandon(x->keeper);
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
	x->collector = rtb_collector_create(e->run, e->progress, &x->sink);
	x->outlook.e = e;
	x->outlook.collector = x->collector;
	x->order = palloc0(sizeof(int) * (list_length(e->run->arms) + 1));
	x->descriptions = palloc0(sizeof(StringInfo) * x->nwalk);
	x->costs = palloc0(sizeof(RtbPointCost) * x->nwalk);
	x->started_ns = rtb_clock_ns();
	pg_prng_seed(&x->prng, (uint64) e->run->seed);
	e->run->complete = true;
	e->run->scope = "this backend only";
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
 *		Run everything; passes, findings and step times are in e->run then.
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
		x->keeper = rtb_host_open(&e->options, &x->sink);
		e->run->machine = rtb_facts_machine(rtb_host_empty_price(x->keeper));
		if (!e->options.own_transactions || (e->rounds > 0 && e->sessions <= 1))
			rtb_rounds_point_by_point(x);
		else
			run_all_points(x);
		rtb_host_close(x->keeper);
		running = false;
	}
	PG_CATCH();
	{
		running = false;
		end_early(x, cxt);
	}
	PG_END_TRY();
	e->run->finished_at = GetCurrentTimestamp();
}
