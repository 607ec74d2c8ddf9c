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
 * Memory: as in spi_arm_state.c.
 */
#include "postgres.h"

#include "spi_arm_private.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "nodes/memnodes.h"
#include "parser/parser.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "hooks.h"
#include "pass.h"
#include "probe.h"
#include "spi_transaction.h"

/* rows a cursor hands over at once, as plpgsql's FOR loops take them */
#define RTB_FETCH_ROWS 50

/* so many columns are taken out of a row one by one, more of them all at once */
#define RTB_FEW_COLUMNS 4

bool		rtb_spi_limits_messages;
bool		rtb_spi_limit_armed;

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

/*
 * rtb_spi_time_execution
 *		An execution of a step has ended.
 */
void
rtb_spi_time_execution(SpiArm *arm, SpiStep *step, int64 started, int64 generic_before)
{
	int64		ns = rtb_clock_ns() - started;
	int64		generic = rtb_spi_generic_plans(step);
	RtbStepTimer *timer = &arm->run->timers[step->step->id - 1];

	rtb_step_timer_add(timer, ns,
					   generic < 0 ? RTB_PLAN_UNKNOWN :
					   generic > generic_before ? RTB_PLAN_GENERIC : RTB_PLAN_CUSTOM);
	if (arm->prepare_ns > 0)
		rtb_step_timer_prepared(timer, arm->prepare_ns);
	arm->prepare_ns = 0;
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
		generic_before = rtb_spi_generic_plans(step);
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
			rtb_spi_prepare(arm, step, st, row, CURSOR_OPT_PARALLEL_OK);
		options.params = bind(arm, st, row, row ? row->cxt : NULL);
		options.dest = arm->dest;
		check_result(SPI_execute_plan_extended(st->plan, &options), st->text);
	}
	message_ends();
	if (unlikely(run->timers != NULL))
		rtb_spi_time_execution(arm, step, started, generic_before);
}

static pg_attribute_always_inline void
run_step(SpiArm *arm, SpiStep *step, const RtbRow *row)
{
	arm->run->step = step->step->id;
	if (unlikely(step->step->if_column > 0) && !rtb_spi_row_says(row, step->step->if_column))
		return;
	if (likely(step->step->kind == RTB_STEP_STATEMENT))
	{
		if (likely(!arm->special))
			run_statement(arm, step, row);
		else
			rtb_spi_run_special(arm, step, row);
	}
	else if (arm->stores)
		rtb_spi_run_stored(arm, step, row);
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
		rtb_spi_prepare(arm, step, st, row, 0);
	if (!SPI_is_cursor_plan(st->plan))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("a driver query must return rows"),
				 errhint("Use a SELECT, or INSERT, UPDATE or DELETE with RETURNING.")));
	portal = SPI_cursor_open_with_paramlist(NULL, st->plan,
											bind(arm, st, row, row ? row->cxt : NULL),
											false);
	rtb_hooks_driver(false);
	return portal;
}

/* a generated text, with the time of parsing and analysing apart if it is one statement */
static void
send_timed(SpiArm *arm, const char *text)
{
	SPIExecuteOptions options = {.dest = arm->dest};
	SPIPlanPtr	plan;
	int64		started;

	if (list_length(raw_parser(text, RAW_PARSE_DEFAULT)) != 1)
	{
		check_result(SPI_execute_extended(text, &options), text);
		return;
	}
	started = rtb_clock_ns();
	plan = SPI_prepare_cursor(text, 0, NULL, CURSOR_OPT_PARALLEL_OK);
	arm->prepare_ns += rtb_clock_ns() - started;
	if (plan == NULL)
		check_result(SPI_result, text);
	check_result(SPI_execute_plan_extended(plan, &options), text);
	SPI_freeplan(plan);
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
		if (arm->special)
			rtb_spi_need_snapshot();
		if (arm->arm->ending == RTB_ENDING_AUTOCOMMIT)
			rtb_spi_send_text(text, arm->dest, run->timers ? &arm->prepare_ns : NULL);
		else if (unlikely(run->timers != NULL))
			send_timed(arm, text);
		else
			check_result(SPI_execute_extended(text, &options), text);
		message_ends();
		if (arm->special)
			rtb_spi_sent_special(arm);
		if (run->timers)
			rtb_spi_time_execution(arm, step, started, -1);
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

static pg_attribute_always_inline void
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

/*
 * rtb_spi_run_row
 *		What a loop does for the driver's row that lies in step->row.
 */
void
rtb_spi_run_row(SpiArm *arm, SpiStep *step)
{
	run_driver_row(arm, step);
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

static pg_attribute_hot void
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
	arm->sent = 0;
	arm->committed = false;
	arm->prepare_ns = 0;
	/* transactions end under it: no memory of theirs may be the current one */
	if (arm->special)
		MemoryContextSwitchTo(arm->pass_cxt);
	for (int i = 0; i < arm->nsteps; i++)
		run_step(arm, &arm->steps[i], NULL);
	if (arm->special)
		rtb_spi_end_special(arm);
	/* what is one transaction to the server is one to a client: BEGIN and COMMIT */
	else if (run->round_trips > 1)
		run->round_trips += 2;
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
	rtb_spi_limits_messages = limit;
}
