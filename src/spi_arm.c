/*
 * spi_arm.c
 *	  An arm's statements by SPI in this process.
 *
 * A sent statement is prepared at its first execution in a pass and kept to
 * the pass's end, as a client that prepares it would; a driver is a cursor
 * whose rows become the parameters of its body.
 *
 * What runs once per statement of a loop is inlined into run_batch(): each
 * call more between the loop and the executor makes every statement dearer by
 * more than its own instructions, as the processor predicts the returns of a
 * limited depth only.
 *
 * Memory: an arm's state has a context of its own, from open_arm to
 * close_arm; what belongs to one pass (bindings) lives in its child
 * pass_cxt, which release_arm resets; conversions of one driver row in the
 * foreach's row_cxt, reset for every row.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/memnodes.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"

#include "hooks.h"
#include "pass.h"
#include "probe.h"
#include "row_binding.h"
#include "script.h"
#include "spi_arm.h"

/* rows a cursor hands over at once, as plpgsql's FOR loops take them */
#define RTB_FETCH_ROWS 50

/* so many columns are taken out of a row one by one, more of them all at once */
#define RTB_FEW_COLUMNS 4

typedef struct SpiStatement
{
	const char *text;
	bool		types_known;
	int			ntypes;
	Oid		   *types;
	SPIPlanPtr	plan;			/* NULL until its first execution in a pass */
	RtbBinding	binding;		/* valid while bound */
	bool		bound;
} SpiStatement;

typedef struct SpiStep
{
	const RtbStep *step;
	int			nstatements;
	SpiStatement *statements;
	int			nbody;
	struct SpiStep *body;
	/* of a foreach or generated step */
	RtbRow		row;			/* its values lie in the pass's context */
	int			ncolumns;		/* columns of the driver that its body uses */
} SpiStep;

typedef struct SpiArm
{
	MemoryContext cxt;
	MemoryContext pass_cxt;
	int			nsteps;
	SpiStep    *steps;
	/* during a pass */
	RtbArmRun  *run;
	DestReceiver *dest;			/* the run's, or one that discards */
} SpiArm;

/* is statement_timeout ours to arm for each message, and is it armed? */
static bool limits_messages;
static bool limit_armed;

static void run_driver(SpiArm *arm, SpiStep *step, const RtbRow *outer);

/* ---- rows that nobody wants ---- */

static bool
discard_row(TupleTableSlot *slot, DestReceiver *self)
{
	return true;
}

static void
discard_startup(DestReceiver *self, int operation, TupleDesc desc)
{
}

static void
discard_nothing(DestReceiver *self)
{
}

/* none of the server's own: a statement sent to DestNone is a special case for hooks.c */
static DestReceiver discard_receiver = {
	discard_row, discard_startup, discard_nothing, discard_nothing, DestTuplestore
};

/* ---- an arm's state ---- */

/* how many of its driver's columns a body uses, in its own statements or as its drivers' parameters */
static int
columns_used(List *body)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, body)
		n = Max(n, ((const RtbStep *) lfirst(lc))->nparams);
	return n;
}

static void
open_steps(SpiArm *arm, List *steps, SpiStep **out, int *nout)
{
	ListCell   *lc;
	int			i = 0;

	*nout = list_length(steps);
	*out = palloc0(sizeof(SpiStep) * Max(*nout, 1));
	foreach(lc, steps)
	{
		const RtbStep *step = lfirst(lc);
		SpiStep    *state = &(*out)[i++];
		ListCell   *ls;
		int			n = 0;

		state->step = step;
		state->nstatements = list_length(step->statements);
		state->statements = palloc0(sizeof(SpiStatement) * state->nstatements);
		foreach(ls, step->statements)
			state->statements[n++].text = lfirst(ls);
		if (step->kind != RTB_STEP_STATEMENT)
			state->row.cxt = AllocSetContextCreate(arm->cxt, "rtbench row",
												   ALLOCSET_DEFAULT_SIZES);
		if (step->kind == RTB_STEP_FOREACH)
		{
			state->ncolumns = columns_used(step->body);
			open_steps(arm, step->body, &state->body, &state->nbody);
		}
	}
}

/*
 * rtb_spi_open_arm
 *		State of an arm in a context of its own, under the current one.
 */
void *
rtb_spi_open_arm(const RtbArm *arm)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "rtbench arm",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	SpiArm	   *state = palloc0(sizeof(SpiArm));

	state->cxt = cxt;
	state->pass_cxt = AllocSetContextCreate(cxt, "rtbench pass", ALLOCSET_DEFAULT_SIZES);
	open_steps(state, arm->steps, &state->steps, &state->nsteps);
	MemoryContextSwitchTo(old);
	return state;
}

static void
free_plans(SpiStep *steps, int nsteps, bool kept_too)
{
	for (int i = 0; i < nsteps; i++)
	{
		for (int n = 0; n < steps[i].nstatements; n++)
		{
			SpiStatement *st = &steps[i].statements[n];

			st->bound = false;
			if (st->plan != NULL && (kept_too || !steps[i].step->plans_kept))
			{
				SPI_freeplan(st->plan);
				st->plan = NULL;
			}
		}
		if (steps[i].row.cxt != NULL)
			MemoryContextReset(steps[i].row.cxt);
		steps[i].row.values = NULL;
		free_plans(steps[i].body, steps[i].nbody, kept_too);
	}
}

/*
 * rtb_spi_release_arm
 *		Free what one pass prepared; also right after an error.
 */
void
rtb_spi_release_arm(void *arg)
{
	SpiArm	   *arm = arg;

	free_plans(arm->steps, arm->nsteps, false);
	MemoryContextReset(arm->pass_cxt);
}

/*
 * rtb_spi_close_arm
 *		Free an arm's state, kept plans included.
 */
void
rtb_spi_close_arm(void *arg)
{
	SpiArm	   *arm = arg;

	free_plans(arm->steps, arm->nsteps, true);
	MemoryContextDelete(arm->cxt);
}

/* ---- one statement ---- */

/*
 * Parameter types as the server infers them from the statement.  Done once,
 * in the first pass, which is never timed.
 */
static void
infer_types(SpiArm *arm, SpiStep *step, SpiStatement *st, const RtbRow *row)
{
	List	   *raw;
	Oid		   *types = NULL;
	int			ntypes = 0;
	MemoryContext old;
	ListCell   *lc;

	st->types_known = true;
	if (step->step->nparams == 0)
		return;

	old = MemoryContextSwitchTo(arm->cxt);
	ntypes = list_length(step->step->types);
	types = palloc0(sizeof(Oid) * Max(ntypes, 1));
	ntypes = 0;
	foreach(lc, step->step->types)
		types[ntypes++] = DatumGetObjectId(DirectFunctionCall1(regtypein,
															   CStringGetDatum((char *) lfirst(lc))));
	MemoryContextSwitchTo(old);

	raw = raw_parser(st->text, RAW_PARSE_DEFAULT);
	(void) parse_analyze_varparams(linitial_node(RawStmt, raw), st->text,
								   &types, &ntypes, NULL);

	st->types = MemoryContextAllocZero(arm->cxt, sizeof(Oid) * Max(ntypes, 1));
	for (int i = 0; i < ntypes; i++)
	{
		/* nothing in the statement decides: it is what the driver gives */
		if ((types[i] == InvalidOid || types[i] == UNKNOWNOID) &&
			row != NULL && i < row->desc->natts)
			types[i] = TupleDescAttr(row->desc, i)->atttypid;
		if (types[i] == InvalidOid || types[i] == UNKNOWNOID)
			ereport(ERROR,
					(errcode(ERRCODE_INDETERMINATE_DATATYPE),
					 errmsg("could not determine data type of parameter $%d", i + 1),
					 errhint("Give it in the step: rtbench.step(statement, types => '{bigint}').")));
		st->types[i] = types[i];
	}
	st->ntypes = ntypes;
}

static void
prepare(SpiArm *arm, SpiStep *step, SpiStatement *st, const RtbRow *row, int options)
{
	if (!st->types_known)
		infer_types(arm, step, st, row);
	st->plan = SPI_prepare_cursor(st->text, st->ntypes, st->types, options);
	if (st->plan == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("could not prepare statement: %s",
						SPI_result_code_string(SPI_result))));
	/* a kept plan is revalidated when an arm changes the schema under it */
	SPI_keepplan(st->plan);
}

static inline ParamListInfo
bind(SpiArm *arm, SpiStep *step, SpiStatement *st, const RtbRow *row, MemoryContext row_cxt)
{
	if (st->ntypes == 0)
		return NULL;
	if (unlikely(!st->bound))
	{
		MemoryContext old = MemoryContextSwitchTo(arm->pass_cxt);

		rtb_binding_init(&st->binding, st->ntypes, st->types, row);
		st->bound = true;
		MemoryContextSwitchTo(old);
	}
	return rtb_binding_fill(&st->binding, row, row_cxt);
}

/*
 * rtb_spi_refuse
 *		Throw what an SPI result code below zero means for a statement.
 */
pg_noinline void
rtb_spi_refuse(int rc, const char *statement)
{
	/* a generated text is looked at only now: that is work for outside the clock */
	rtb_script_refuse(statement);
	if (rc == SPI_ERROR_TRANSACTION)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_TERMINATION),
				 errmsg("a pass is one transaction that is rolled back: it cannot contain transaction control"),
				 errhint("Leave BEGIN, COMMIT, ROLLBACK and SAVEPOINT out of the arm's statements.")));
	if (rc == SPI_ERROR_COPY)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot COPY to or from the client in a pass"),
				 errhint("Use COPY with a file on the server, or INSERT ... SELECT.")));
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg("could not execute statement: %s", SPI_result_code_string(rc))));
}

static inline void
check_result(int rc, const char *statement)
{
	if (unlikely(rc < 0))
		rtb_spi_refuse(rc, statement);
}

/* the session's statement_timeout goes for every message, as it does for a client's */
static inline void
message_begins(void)
{
	if (limits_messages && StatementTimeout > 0)
	{
		limit_armed = true;
		enable_timeout_after(STATEMENT_TIMEOUT, StatementTimeout);
	}
}

static inline void
message_ends(void)
{
	/* the message itself may have changed the setting */
	if (limit_armed)
		disable_timeout(STATEMENT_TIMEOUT, false);
	limit_armed = false;
}

/* how often a step's plan was generic so far; -1 of a step without a plan of its own */
static int64
generic_plans(SpiStep *step)
{
	List	   *sources;

	if (step->step->kind != RTB_STEP_STATEMENT || step->nstatements != 1)
		return -1;
	if (step->statements[0].plan == NULL)
		return 0;
	sources = SPI_plan_get_plan_sources(step->statements[0].plan);
	if (list_length(sources) != 1)
		return -1;
	return ((CachedPlanSource *) linitial(sources))->num_generic_plans;
}

static void
time_execution(SpiArm *arm, SpiStep *step, int64 started, int64 generic_before)
{
	int64		ns = rtb_clock_ns() - started;
	int64		generic = generic_plans(step);

	rtb_step_timer_add(&arm->run->timers[step->step->id - 1], ns,
					   generic < 0 ? RTB_PLAN_UNKNOWN :
					   generic > generic_before ? RTB_PLAN_GENERIC : RTB_PLAN_CUSTOM);
}

/* ---- the three kinds of steps ---- */

static pg_attribute_always_inline void
run_statement(SpiArm *arm, SpiStep *step, const RtbRow *row)
{
	RtbArmRun  *run = arm->run;
	int64		generic_before = 0;
	int64		started = 0;
	bool		each = step->step->nparams > 0;

	if (unlikely(run->timers != NULL))
	{
		generic_before = generic_plans(step);
		started = rtb_clock_ns();
	}
	if (!each)
		run->round_trips++;
	message_begins();
	for (int i = 0; i < step->nstatements; i++)
	{
		SpiStatement *st = &step->statements[i];
		SPIExecuteOptions options = {0};

		if (each)
			run->round_trips++;
		run->statement_no++;
		if (unlikely(st->plan == NULL))
			prepare(arm, step, st, row, CURSOR_OPT_PARALLEL_OK);
		options.params = bind(arm, step, st, row, row ? row->cxt : NULL);
		options.dest = arm->dest;
		check_result(SPI_execute_plan_extended(st->plan, &options), st->text);
	}
	message_ends();
	if (unlikely(run->timers != NULL))
		time_execution(arm, step, started, generic_before);
}

static pg_attribute_always_inline void
run_step(SpiArm *arm, SpiStep *step, const RtbRow *row)
{
	arm->run->step = step->step->id;
	if (likely(step->step->kind == RTB_STEP_STATEMENT))
		run_statement(arm, step, row);
	else
		run_driver(arm, step, row);
}

static Portal
open_driver(SpiArm *arm, SpiStep *step, const RtbRow *row)
{
	SpiStatement *st = &step->statements[0];
	Portal		portal;

	arm->run->round_trips++;
	arm->run->statement_no++;
	rtb_hooks_driver(true);
	if (st->plan == NULL)
		prepare(arm, step, st, row, 0);
	if (!SPI_is_cursor_plan(st->plan))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("a driver query must return rows"),
				 errhint("Use a SELECT, or INSERT, UPDATE or DELETE with RETURNING.")));
	portal = SPI_cursor_open_with_paramlist(NULL, st->plan,
											bind(arm, step, st, row, row ? row->cxt : NULL),
											false);
	rtb_hooks_driver(false);
	return portal;
}

static void
send_generated(SpiArm *arm, SpiStep *step, const RtbRow *row)
{
	RtbArmRun  *run = arm->run;

	for (int c = 0; c < row->desc->natts; c++)
	{
		SPIExecuteOptions options = {0};
		char	   *text;
		Oid			output;
		bool		varlena;
		int64		started;

		if (row->nulls[c])
			continue;
		getTypeOutputInfo(TupleDescAttr(row->desc, c)->atttypid, &output, &varlena);
		text = OidOutputFunctionCall(output, row->values[c]);
		started = run->timers ? rtb_clock_ns() : 0;
		run->round_trips++;
		run->statement_no++;
		options.dest = arm->dest;
		message_begins();
		check_result(SPI_execute_extended(text, &options), text);
		message_ends();
		if (run->timers)
			time_execution(arm, step, started, -1);
	}
}

/* the columns of a driver's row that its body uses, or all of them for texts to send */
static inline void
take_row(SpiStep *step, HeapTuple tuple, int ncolumns)
{
	RtbRow	   *row = &step->row;

	if (ncolumns > RTB_FEW_COLUMNS || step->step->kind != RTB_STEP_FOREACH)
	{
		heap_deform_tuple(tuple, row->desc, row->values, row->nulls);
		return;
	}
	for (int i = 0; i < ncolumns; i++)
		row->values[i] = heap_getattr(tuple, i + 1, row->desc, &row->nulls[i]);
}

static inline void
run_driver_row(SpiArm *arm, SpiStep *step)
{
	MemoryContext cxt = step->row.cxt;

	if (likely(step->step->kind == RTB_STEP_FOREACH))
	{
		for (int i = 0; i < step->nbody; i++)
			run_step(arm, &step->body[i], &step->row);
	}
	else
	{
		MemoryContext old = MemoryContextSwitchTo(cxt);

		send_generated(arm, step, &step->row);
		MemoryContextSwitchTo(old);
	}
	/* most rows need no conversion: spare them the call */
	if (!cxt->isReset || cxt->firstchild != NULL)
		MemoryContextReset(cxt);
}

static void
run_batch(SpiArm *arm, SpiStep *step, SPITupleTable *batch, uint64 n)
{
	int			ncolumns = Min(step->ncolumns, batch->tupdesc->natts);

	if (step->row.values == NULL)
		rtb_row_init(&step->row, batch->tupdesc, arm->pass_cxt);
	step->row.desc = batch->tupdesc;
	for (uint64 i = 0; i < n; i++)
	{
		take_row(step, batch->vals[i], ncolumns);
		run_driver_row(arm, step);
	}
}

static void
run_driver(SpiArm *arm, SpiStep *step, const RtbRow *outer)
{
	RtbArmRun  *run = arm->run;
	bool		timed_itself = run->timers && step->step->kind == RTB_STEP_FOREACH;
	int64		spent = 0;
	int64		started = timed_itself ? rtb_clock_ns() : 0;
	Portal		portal;

	message_begins();
	portal = open_driver(arm, step, outer);
	for (;;)
	{
		SPITupleTable *batch;
		uint64		n;

		run->step = step->step->id;
		rtb_hooks_driver(true);
		SPI_cursor_fetch(portal, true, RTB_FETCH_ROWS);
		rtb_hooks_driver(false);
		message_ends();
		if (timed_itself)
			spent += rtb_clock_ns() - started;
		batch = SPI_tuptable;
		n = SPI_processed;
		if (n == 0)
			break;
		run_batch(arm, step, batch, n);
		SPI_freetuptable(batch);
		CHECK_FOR_INTERRUPTS();
		if (n < RTB_FETCH_ROWS)
			break;
		started = timed_itself ? rtb_clock_ns() : 0;
		message_begins();
	}
	SPI_cursor_close(portal);
	/* of a foreach the load itself is timed: its body has rows of its own */
	if (timed_itself)
		rtb_step_timer_add(&run->timers[step->step->id - 1], spent, RTB_PLAN_UNKNOWN);
}

/*
 * rtb_spi_run
 *		All steps of an arm, in order; inside the clock.  Whatever a statement
 *		throws goes through; run tells how far it came.
 */
void
rtb_spi_run(void *arg, RtbArmRun *run)
{
	SpiArm	   *arm = arg;

	arm->run = run;
	arm->dest = run->dest ? run->dest : &discard_receiver;
	for (int i = 0; i < arm->nsteps; i++)
		run_step(arm, &arm->steps[i], NULL);
	arm->run = NULL;
}

/*
 * rtb_spi_limit_messages
 *		Does the session's statement_timeout go for each message of an arm?
 *		Not in the caller's backend, where it is his own statement's.
 */
void
rtb_spi_limit_messages(bool limit)
{
	message_ends();
	limits_messages = limit;
}
