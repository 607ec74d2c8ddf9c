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

#include "experiment.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "collector.h"
#include "facts.h"
#include "forecast.h"
#include "judge.h"
#include "outlook.h"
#include "probe.h"
#include "schedule.h"
#include "session_host.h"
#include "stats.h"
#include "unseen.h"

/* no pass gets less than this, however little is left of max_time */
#define LEAST_PASS_TIMEOUT_MS	1000
/* for the sessions without which there is no interval, max_time may be exceeded by this */
#define OVERTIME	1.2
/* rounds of one session at a point, unless asked for */
#define MOST_ROUNDS	256
/* without a limit of time sessions go on to the last look */
#define NO_LIMIT_NS	(INT64CONST(3600) * 1000000000)

int			rtb_pass_order = RTB_ORDER_MIRRORED;

static const struct config_enum_entry pass_orders[] = {
	{"mirrored", RTB_ORDER_MIRRORED, false},
	{"blocks", RTB_ORDER_BLOCKS, false},
	{NULL, 0, false}
};

/* how long a later session waits for a worker slot */
#define WAIT_FOR_SLOT_NS	(INT64CONST(2) * 1000000000)

typedef struct Experiment
{
	RtbExperiment *e;
	RtbCollector *collector;
	RtbSessionSink sink;
	RtbHost    *keeper;			/* session 1 */
	RtbHost    *visitor;		/* the running later session, or NULL */
	pg_prng_state prng;
	int64		started_ns;
	int			norder;			/* passes in a round */
	int		   *order;
	/* points that the pilot measured */
	int			npoints;
	int		   *index;			/* into the run's points */
	StringInfo *descriptions;
	RtbPointCost *costs;
	RtbOutlook	outlook;
} Experiment;

/* a run is going on in this backend */
static bool running = false;

/* ---- time ---- */

/* nanoseconds left of max_time; a long time without one */
static int64
time_left_ns(const Experiment *x)
{
	if (x->e->max_time_ms == 0)
		return NO_LIMIT_NS;
	return x->e->max_time_ms * 1000000 - (rtb_clock_ns() - x->started_ns);
}

static int64
pass_timeout_ms(const Experiment *x)
{
	if (x->e->pass_timeout_ms > 0)
		return x->e->pass_timeout_ms;
	if (x->e->max_time_ms == 0)
		return 0;
	return Max(time_left_ns(x) / 1000000, LEAST_PASS_TIMEOUT_MS);
}

/* ---- rounds ---- */

static int64
point_value(const Experiment *x, int i)
{
	return *(int64 *) list_nth(x->e->run->points, i);
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

static void
warm_up(Experiment *x, RtbHost *host, int session)
{
	start_order(x);
	rtb_host_round(host, pass_timeout_ms(x), RTB_PASS_WARMUP, session, 0,
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
			rtb_host_round(host, pass_timeout_ms(x), round == last ? kind : RTB_PASS_TIMED,
						   session, round, 1, &x->order[i]);
		}
	}
}

/* rounds first..last at a point; the last of them is of the kind given */
static void
run_rounds(Experiment *x, RtbHost *host, int session, int first, int last, RtbPassKind kind)
{
	if (rtb_pass_order == RTB_ORDER_BLOCKS)
	{
		run_blocks(x, host, session, first, last, kind);
		return;
	}
	for (int round = first; round <= last; round++)
	{
		rtb_progress_round(x->e->progress, round);
		rtb_schedule_order(&x->prng, round, x->norder, x->order);
		rtb_host_round(host, pass_timeout_ms(x), round == last ? kind : RTB_PASS_TIMED,
					   session, round, x->norder, x->order);
	}
}

/* the widest half-width on the log scale over all arms that are judged */
static double
widest(const RtbRun *run, bool one_point, int64 point)
{
	double		most = 0;
	ListCell   *lc;

	foreach(lc, rtb_judge(run))
	{
		const RtbResult *r = lfirst(lc);

		if ((one_point && r->point != point) || r->arm == run->baseline ||
			isnan(r->speedup.estimate))
			continue;
		if (isnan(r->speedup.low))
			return INFINITY;
		most = Max(most, (log(r->speedup.high) - log(r->speedup.low)) / 2);
	}
	return most;
}

static bool
narrow_enough(const Experiment *x, bool one_point, int64 point)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "rtbench look",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	bool		narrow = widest(x->e->run, one_point, point) <= log1p(x->e->target);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return narrow;
}

/*
 * Rounds of one session at one point, in whole mirror pairs, until the width
 * is reached at a look or the deadline comes.  The last pair is digested.
 */
static void
run_rounds_until(Experiment *x, RtbHost *host, int round, int most, bool looks,
				 int64 deadline_ns, int64 point)
{
	while (round < most)
	{
		int64		started = rtb_clock_ns();
		int			n = rtb_pass_order == RTB_ORDER_BLOCKS ? most - round : Min(2, most - round);
		bool		last = round + n >= most;

		rtb_outlook_rounds(&x->outlook, point, most - round, x->costs[0].round_ns,
						   deadline_ns - started, time_left_ns(x));
		start_order(x);
		/* the pair after this one would come too late, so this one is the last */
		if (!last && round >= 2 && deadline_ns != 0)
			last = started + 2 * (x->costs[0].round_ns * 2) > deadline_ns;
		run_rounds(x, host, 1, round + 1, round + n,
				   last || (looks && rtb_schedule_is_rounds_look(round + n))
				   ? RTB_PASS_LAST : RTB_PASS_TIMED);
		round += n;
		x->costs[0].round_ns = (rtb_clock_ns() - started) / n;
		if (last || (looks && rtb_schedule_is_rounds_look(round) && narrow_enough(x, true, point)))
			return;
	}
}

/* ---- one session, point by point ---- */

/* the fixture, and the untimed passes */
static void
do_pilot(Experiment *x, bool has_point, int64 point)
{
	rtb_progress_point(x->e->progress, RTB_PHASE_FIXTURE, has_point, point, 1);
	rtb_host_point(x->keeper, rtb_work_document(x->e->scenario, has_point, point));
	rtb_progress_point(x->e->progress, RTB_PHASE_PILOT, has_point, point, 1);
	rtb_host_pilot(x->keeper, pass_timeout_ms(x));
}

/*
 * When a point's rounds must end: its share of the time that is left, the
 * points weighted by their value, since a pass's time grows with it.
 */
static int64
point_deadline_ns(const Experiment *x, int index)
{
	List	   *points = x->e->run->points;
	double		total = 0;
	double		own = 0;

	for (int i = index; i < list_length(points); i++)
	{
		double		weight = Max(point_value(x, i), 1);

		total += weight;
		if (i == index)
			own = weight;
	}
	return rtb_clock_ns() + (int64) (Max(time_left_ns(x), 0) * (total > 0 ? own / total : 1));
}

static void
run_point_by_point(Experiment *x)
{
	RtbRun	   *run = x->e->run;
	int			npoints = Max(list_length(run->points), 1);
	int			most = x->e->rounds > 0 ? x->e->rounds : MOST_ROUNDS;

	rtb_progress_sessions(x->e->progress, 1);
	for (int i = 0; i < npoints; i++)
	{
		bool		has_point = run->points != NIL;
		int64		point = has_point ? point_value(x, i) : 0;
		int64		started = rtb_clock_ns();

		if (i > 0 && time_left_ns(x) <= 0)
		{
			rtb_forecast_warn_left_out(run->points, i);
			run->complete = false;
			return;
		}
		do_pilot(x, has_point, point);
		rtb_outlook_tell_pilot(&x->outlook, point, rtb_clock_ns() - started);
		rtb_progress_point(x->e->progress, RTB_PHASE_ROUNDS, has_point, point, 1);
		warm_up(x, x->keeper, 1);
		x->costs[0].round_ns = 0;
		rtb_outlook_asked(&x->outlook, i);
		run_rounds_until(x, x->keeper, 0, most, x->e->rounds == 0,
						 point_deadline_ns(x, i), point);
		rtb_host_leave(x->keeper);
		rtb_collector_mark(x->collector, i + 1);
		if (i + 1 < npoints)
			rtb_outlook_tell_point(&x->outlook, point, rtb_clock_ns() - started);
	}
}

/* ---- sessions as units ---- */

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
	return need <= time_left_ns(x);
}

static void
pilot_point(Experiment *x, int index)
{
	RtbRun	   *run = x->e->run;
	bool		has_point = run->points != NIL;
	int64		value = has_point ? point_value(x, index) : 0;
	RtbPointCost *cost = &x->costs[x->npoints];
	int			rounds = x->e->rounds > 0 ? x->e->rounds : 2;
	int64		started = rtb_clock_ns();

	do_pilot(x, has_point, value);
	cost->value = value;
	cost->pilot_ns = rtb_clock_ns() - started;
	started = rtb_clock_ns();
	start_order(x);
	run_rounds(x, x->keeper, 1, 1, rounds, x->e->sessions == 1 ? RTB_PASS_LAST : RTB_PASS_LAST_IF_CHEAP);
	cost->round_ns = (rtb_clock_ns() - started) / rounds;
	x->descriptions[x->npoints] = rtb_host_describe(x->keeper);
	x->index[x->npoints++] = index;
	rtb_outlook_tell_pilot(&x->outlook, value, cost->pilot_ns + rounds * cost->round_ns);
}

/* the pilot at every point that fits, upwards */
static void
run_pilot(Experiment *x, int needed)
{
	RtbRun	   *run = x->e->run;
	int			npoints = Max(list_length(run->points), 1);
	List	   *left_out = NIL;

	for (int i = 0; i < npoints; i++)
	{
		if (run->points != NIL && !point_fits(x, point_value(x, i), needed))
		{
			left_out = lappend(left_out, list_nth(run->points, i));
			continue;
		}
		pilot_point(x, i);
	}
	if (left_out != NIL)
	{
		rtb_forecast_warn_left_out(left_out, 0);
		run->points = list_difference_ptr(run->points, left_out);
		run->complete = false;
	}
}

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
			return false;
		pg_usleep(100000);
		CHECK_FOR_INTERRUPTS();
	}
}

/* a fresh backend visits every point; false if there was none to be had */
static bool
run_session(Experiment *x, int session, int rounds, bool last)
{
	if (!open_visitor(x))
		return false;
	for (int i = 0; i < x->npoints; i++)
	{
		bool		has_point = x->e->run->points != NIL;

		rtb_progress_point(x->e->progress, RTB_PHASE_SESSIONS, has_point, x->costs[i].value,
						   session);
		rtb_host_attach(x->visitor,
						rtb_work_document(x->e->scenario, has_point, x->costs[i].value),
						x->descriptions[i]);
		warm_up(x, x->visitor, session);
		start_order(x);
		run_rounds(x, x->visitor, session, 1, rounds, last ? RTB_PASS_LAST : RTB_PASS_LAST_IF_CHEAP);
		rtb_host_leave(x->visitor);
	}
	rtb_host_close(x->visitor);
	x->visitor = NULL;
	return true;
}

/* returns how many sessions there are then, session 1 among them */
static int
run_sessions(Experiment *x, const RtbPlan *plan, int needed)
{
	int64		round_ns = rtb_schedule_session_ns(x->costs, x->npoints, 1) / 3;
	int			first = Min(plan->sessions, Max(needed, RTB_SESSIONS_FIRST));
	int			done = 1;

	while (done < plan->sessions)
	{
		int64		started = rtb_clock_ns();
		int64		left = time_left_ns(x);
		int			pairs = rtb_schedule_pairs(left, Max(first - done, 1), round_ns);
		int			rounds = x->e->rounds > 0 ? x->e->rounds : x->e->sessions > 0 ? 2 : 2 * pairs;
		int64		cost = round_ns * (1 + rounds);
		int			in_all;
		bool		look;

		if (x->e->sessions == 0 && left < cost &&
			(done >= needed ||
			 left + x->e->max_time_ms * 1000000 * (OVERTIME - 1) < cost))
			break;
		in_all = rtb_outlook_sessions(&x->outlook, x->costs, x->npoints, done, plan->sessions,
									  rounds, cost, x->e->sessions > 0 ? PG_INT64_MAX
									  : Max(left, (needed - done) * cost));
		look = x->e->sessions == 0 && rtb_schedule_is_look(done + 1, needed);
		if (!run_session(x, done + 1, rounds,
						 look || done + 1 == plan->sessions || left < 3 * cost))
		{
			ereport(WARNING,
					(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
					 errmsg("no background worker slot was free for session %d of the run", done + 1),
					 errdetail("A run of several sessions needs two at a time."),
					 errhint("Raise max_worker_processes, or run it when fewer workers are in use.")));
			break;
		}
		done++;
		round_ns = (rtb_clock_ns() - started) / (1 + rounds);
		rtb_collector_mark(x->collector, x->npoints);
		rtb_outlook_tell_session(&x->outlook, done, in_all);
		if (look && narrow_enough(x, false, 0))
			break;
	}
	if (done > 1)
		x->e->run->scope = psprintf("%d sessions", done);
	return done;
}

/* sessions don't fit: the rounds of the pilot's session are the units */
static void
run_rounds_instead(Experiment *x)
{
	double		total = 0;
	int64		left = Max(time_left_ns(x), 0);
	int64		needed_ns;

	for (int i = 0; i < x->npoints; i++)
		total += x->costs[i].round_ns;
	needed_ns = (int64) (total * rtb_judge_needed(RTB_ALPHA));
	left = Max(left, needed_ns);
	rtb_progress_sessions(x->e->progress, 1);
	for (int i = 0; i < x->npoints; i++)
	{
		bool		has_point = x->e->run->points != NIL;
		int64		share = (int64) (left * (x->costs[i].round_ns / total));
		int64		started = rtb_clock_ns();

		rtb_progress_point(x->e->progress, RTB_PHASE_ROUNDS, has_point, x->costs[i].value, 1);
		rtb_outlook_shares(&x->outlook, x->costs, x->npoints, i, MOST_ROUNDS - 2, left / total);
		rtb_host_enter(x->keeper, i);
		x->costs[0].round_ns = x->costs[i].round_ns;
		run_rounds_until(x, x->keeper, 2, MOST_ROUNDS, true, rtb_clock_ns() + share, x->costs[i].value);
		rtb_collector_mark(x->collector, i + 1);
		if (i + 1 < x->npoints)
			rtb_outlook_tell_point(&x->outlook, x->costs[i].value, rtb_clock_ns() - started);
	}
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

static void
run_all_points(Experiment *x)
{
	RtbRun	   *run = x->e->run;
	int			plain = rtb_judge_needed(RTB_ALPHA);
	int			corrected;
	int			sessions = 1;
	RtbPlan		plan;

	run_pilot(x, plain);
	corrected = rtb_judge_needed(rtb_judge_alpha(run));
	plan = rtb_schedule_plan(x->costs, x->npoints, time_left_ns(x), corrected, plain);
	if (x->e->sessions > 0)
	{
		plan.sessions = x->e->sessions;
		plan.pairs = 1;
		plan.corrected = true;
	}
	rtb_forecast_announce(run, &plan, x->costs, x->npoints, corrected,
						  x->e->max_time_ms, time_left_ns(x), x->e->sessions > 0);
	if (plan.sessions > 1)
		sessions = run_sessions(x, &plan, plan.corrected ? corrected : plain);
	if (sessions == 1 && x->e->sessions == 0)
		run_rounds_instead(x);
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

static Experiment *
prepare(RtbExperiment *e)
{
	Experiment *x = palloc0(sizeof(Experiment));
	int			npoints = Max(list_length(e->run->points), 1);

	x->e = e;
	x->collector = rtb_collector_create(e->run, e->progress, &x->sink);
	x->outlook.e = e;
	x->outlook.collector = x->collector;
	x->order = palloc0(sizeof(int) * (list_length(e->run->arms) + 1));
	x->index = palloc0(sizeof(int) * npoints);
	x->descriptions = palloc0(sizeof(StringInfo) * npoints);
	x->costs = palloc0(sizeof(RtbPointCost) * npoints);
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
		if (!e->options.own_transactions || (e->rounds > 0 && e->sessions == 0))
			run_point_by_point(x);
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
