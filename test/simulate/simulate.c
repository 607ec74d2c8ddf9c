/*
 * simulate.c
 *	  Runs made up from models of noise, judged by the code that judges runs.
 *
 * An experiment is a run of two or more arms in sessions of mirrored rounds,
 * whose passes take a time that is known but for the model's noise.  So it is
 * known which of the judge's intervals are wrong.
 *
 * Memory: each experiment lies in a context that is reset after it.
 */
#include "postgres.h"

#include <math.h>

#include "common/pg_prng.h"
#include "fmgr.h"
#include "funcapi.h"
#include "judge.h"
#include "miscadmin.h"
#include "schedule.h"
#include "stats.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(simulate);

/* of a pass without noise, in nanoseconds */
#define TYPICAL_NS	10e6
/* in a round's order: the baseline's second pass */
#define CONTROL		(-1)
#define MOST_ARMS	16

typedef struct Design
{
	const char *model;
	int			sessions;
	int			rounds;			/* in each session */
	int			arms;
	double		noise;			/* of a pass, on the log scale */
	double		speedup;		/* of every arm but the baseline */
	double		bias;			/* of each arm in each session, on the log scale */
	double		target;			/* stop when intervals are that narrow; NaN: never */
	bool		control;
	bool		mirrored;		/* else one arm after the other */
} Design;

typedef struct Experiment
{
	const Design *plan;
	RtbRun	   *run;
	pg_prng_state prng;
	double		state;			/* of autocorrelated noise */
	double		arm_state;
	double		bias[MOST_ARMS];	/* by arm, in this session */
	int			passes;			/* so far, */
	int			passes_planned; /* of so many */
} Experiment;

typedef struct Tally
{
	int64		verdicts;		/* with an interval */
	int64		wrong;			/* the interval leaves out the true speedup */
	int64		alarms;			/* it leaves out 1 */
	int64		runs_wrong;		/* with a wrong interval */
	int64		control_failed;
	int64		no_interval;
	double		half_width;		/* sums */
	double		units;
	double		level;
} Tally;

/* Box and Muller (1958) */
static double
normal(Experiment *x)
{
	double		u = 1 - pg_prng_double(&x->prng);
	double		v = pg_prng_double(&x->prng);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static bool
is_model(const Experiment *x, const char *name)
{
	return strcmp(x->plan->model, name) == 0;
}

/* the noise of the next pass, on the log scale */
static double
noise(Experiment *x, int arm, int position)
{
	double		progress = (double) x->passes / x->passes_planned;
	double		own = x->plan->noise * normal(x);

	if (is_model(x, "independent"))
		return own;
	if (is_model(x, "drift"))
		return own + 0.2 * progress;
	if (is_model(x, "outliers"))
		return own + (pg_prng_double(&x->prng) < 0.05 ? log(1 + 2 * pg_prng_double(&x->prng)) : 0);
	if (is_model(x, "trend, first place"))
		return own - 0.2 * progress + (position == 1 ? 0.05 : 0);
	if (is_model(x, "autocorrelated"))
	{
		x->state = 0.9 * x->state + own;
		return x->state;
	}
	/* the worst case for the method: what disturbs one arm and not the other */
	if (is_model(x, "one arm autocorrelated"))
	{
		if (arm == 0)
			return own;
		x->arm_state = 0.5 * x->arm_state + own;
		return x->arm_state;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("model \"%s\" is not known", x->plan->model)));
}

static void
add_pass(Experiment *x, RtbPassKind kind, int session, int round, int position, int arm)
{
	RtbPass    *pass = palloc0(sizeof(RtbPass));
	int			real = arm == CONTROL ? 0 : arm;
	double		time = TYPICAL_NS * exp(x->bias[real]) / (real > 0 ? x->plan->speedup : 1);

	if (round > 0)
		time *= exp(noise(x, real, position));
	pass->kind = kind;
	pass->session = session;
	pass->round = round;
	pass->position = position;
	pass->control = arm == CONTROL;
	pass->arm = real;
	pass->elapsed_ns = (int64) rint(time);
	pass->cpu_ns = RTB_UNKNOWN;
	pass->statements = pass->round_trips = pass->rows = 100;
	if (kind != RTB_PASS_TIMED)
		pass->digest = "same";
	x->run->passes = lappend(x->run->passes, pass);
	if (round > 0)
		x->passes++;
}

/* arms and control, in the order in which every session begins */
static int
first_order(const Design *plan, int *order)
{
	int			n = 0;

	for (int arm = 0; arm < plan->arms; arm++)
		order[n++] = arm;
	if (plan->control)
		order[n++] = CONTROL;
	return n;
}

static void
run_session(Experiment *x, int session, bool last)
{
	const Design *plan = x->plan;
	int			order[MOST_ARMS + 1];
	int			n = first_order(plan, order);

	for (int arm = 0; arm < plan->arms; arm++)
		x->bias[arm] = plan->bias * normal(x);
	if (plan->mirrored)
	{
		for (int round = 1; round <= plan->rounds; round++)
		{
			rtb_schedule_order(&x->prng, round, n, order);
			for (int i = 0; i < n; i++)
				add_pass(x, last && round == plan->rounds ? RTB_PASS_LAST : RTB_PASS_TIMED,
						 session, round, i + 1, order[i]);
		}
		return;
	}
	for (int i = 0; i < n; i++)
		for (int round = 1; round <= plan->rounds; round++)
			add_pass(x, last && round == plan->rounds ? RTB_PASS_LAST : RTB_PASS_TIMED,
					 session, round, i + 1, order[i]);
}

static void
run_experiment(Experiment *x)
{
	const Design *plan = x->plan;
	int			needed = rtb_judge_needed(rtb_judge_alpha(x->run));

	x->passes_planned = plan->sessions * plan->rounds * (plan->arms + plan->control);
	for (int arm = 0; arm < plan->arms; arm++)
		add_pass(x, RTB_PASS_PILOT, 1, 0, 0, arm);
	for (int session = 1; session <= plan->sessions; session++)
	{
		bool		look = !isnan(plan->target) && rtb_schedule_is_look(session, needed);

		run_session(x, session, look || session == plan->sessions);
		if (look && rtb_judge_half_width(x->run, false, 0) <= log1p(plan->target))
			break;
	}
}

static void
tally_experiment(Tally *t, const Experiment *x)
{
	ListCell   *lc;
	bool		any_wrong = false;

	foreach(lc, rtb_judge(x->run))
	{
		const RtbResult *r = lfirst(lc);
		double		half = (log(r->speedup.high) - log(r->speedup.low)) / 2;

		if (r->arm == 0)
		{
			t->control_failed += strcmp(r->verdict, "not comparable") == 0;
			continue;
		}
		if (isnan(r->speedup.level))
		{
			t->no_interval++;
			continue;
		}
		t->verdicts++;
		if (r->speedup.low > x->plan->speedup || r->speedup.high < x->plan->speedup)
		{
			t->wrong++;
			any_wrong = true;
		}
		t->alarms += r->speedup.low > 1 || r->speedup.high < 1;
		t->half_width += half;
		t->units += r->speedup.units;
		t->level = r->speedup.level;
	}
	t->runs_wrong += any_wrong;
}

static Datum
tally_row(FunctionCallInfo fcinfo, const Tally *t)
{
	TupleDesc	tupdesc;
	Datum		values[9];
	bool		nulls[9] = {0};

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE || tupdesc->natts != 9)
		elog(ERROR, "simulate() must return nine columns");
	values[0] = Int64GetDatum(t->verdicts);
	values[1] = Int64GetDatum(t->wrong);
	values[2] = Int64GetDatum(t->alarms);
	values[3] = Int64GetDatum(t->runs_wrong);
	values[4] = Int64GetDatum(t->control_failed);
	values[5] = Int64GetDatum(t->no_interval);
	values[6] = Float8GetDatum(t->half_width / Max(t->verdicts, 1));
	values[7] = Float8GetDatum(t->units / Max(t->verdicts, 1));
	values[8] = Float8GetDatum(t->level);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, nulls));
}

/*
 * simulate(model text, experiments int, sessions int, rounds int, arms int,
 *			noise float8, speedup float8, bias float8, target float8,
 *			control boolean, mirrored boolean, seed bigint)
 */
Datum
simulate(PG_FUNCTION_ARGS)
{
	Design		plan = {
		.model = text_to_cstring(PG_GETARG_TEXT_PP(0)),
		.sessions = PG_GETARG_INT32(2),
		.rounds = PG_GETARG_INT32(3),
		.arms = Min(PG_GETARG_INT32(4), MOST_ARMS),
		.noise = PG_GETARG_FLOAT8(5),
		.speedup = PG_GETARG_FLOAT8(6),
		.bias = PG_GETARG_FLOAT8(7),
		.target = PG_ARGISNULL(8) ? NAN : PG_GETARG_FLOAT8(8),
		.control = PG_GETARG_BOOL(9),
		.mirrored = PG_GETARG_BOOL(10)
	};
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "experiment",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	pg_prng_state prng;
	Tally		tally = {0};

	pg_prng_seed(&prng, (uint64) PG_GETARG_INT64(11));
	for (int i = 0; i < PG_GETARG_INT32(1); i++)
	{
		Experiment	x = {.plan = &plan, .prng = prng};

		CHECK_FOR_INTERRUPTS();
		x.run = palloc0(sizeof(RtbRun));
		x.run->margin = 0.02;
		for (int arm = 0; arm < plan.arms; arm++)
			x.run->arms = lappend(x.run->arms, psprintf("arm %d", arm));
		run_experiment(&x);
		tally_experiment(&tally, &x);
		prng = x.prng;
		MemoryContextReset(cxt);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return tally_row(fcinfo, &tally);
}
