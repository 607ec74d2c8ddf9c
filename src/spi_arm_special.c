/*
 * spi_arm_special.c
 *	  Arms with more than one transaction: commits, subtransactions, savepoints.
 *
 * A client that commits inside a loop has read the loop's rows before, since
 * a commit closes its cursor; so here drivers are read whole, into a store
 * that outlives transactions.
 *
 * BEGIN and COMMIT that a client must send are round trips of theirs: around
 * what a loop commits, and around a whole pass of several messages; a message
 * that commits by itself needs none.
 *
 * Memory: stores and their rows lie in the pass's context.
 */
#include "postgres.h"

#include "spi_arm_private.h"

#include "access/xact.h"
#include "executor/tuptable.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "hooks.h"
#include "probe.h"
#include "spi_transaction.h"

/* BEGIN and COMMIT */
#define TRANSACTION_TRIPS	2

static const char savepoint_text[] = "SAVEPOINT rtbench_statement";
static const char release_text[] = "RELEASE SAVEPOINT rtbench_statement";

/* ---- ends of transactions ---- */

static void
next_transaction(SpiArm *arm, int trips)
{
	arm->run->round_trips += trips;
	message_begins();
	rtb_spi_next_transaction();
	message_ends();
	arm->sent = 0;
	arm->committed = true;
}

/*
 * rtb_spi_sent_special
 *		A message was sent: if it is a transaction of its own, that ends.
 */
void
rtb_spi_sent_special(SpiArm *arm)
{
	if (arm->arm->ending == RTB_ENDING_AUTOCOMMIT)
		next_transaction(arm, 0);
	else
		arm->sent++;
}

/*
 * rtb_spi_end_special
 *		The last of an arm's transactions: committed, or left for a rollback
 *		with a snapshot for what looks at it.
 */
void
rtb_spi_end_special(SpiArm *arm)
{
	RtbArmRun  *run = arm->run;

	if (arm->arm->ending == RTB_ENDING_ROLLBACK)
	{
		if (run->round_trips > 1)
			run->round_trips += TRANSACTION_TRIPS;
		rtb_spi_need_snapshot();
		return;
	}
	/* one message alone is committed by the server */
	if (arm->sent > 1 || (arm->sent == 1 && arm->committed))
		run->round_trips += TRANSACTION_TRIPS;
	message_begins();
	rtb_spi_finish();
	message_ends();
}

/* ---- one statement ---- */

static void
send_plan(SpiArm *arm, SpiStep *step, SpiStatement *st, const RtbRow *row)
{
	SPIExecuteOptions options = {0};

	rtb_spi_need_snapshot();
	if (unlikely(st->plan == NULL))
		rtb_spi_prepare(arm, step, st, row, CURSOR_OPT_PARALLEL_OK);
	options.params = bind(arm, st, row, row ? row->cxt : NULL);
	options.dest = arm->dest;
	if (st->send == SPI_SEND_CALL)
		rtb_spi_call(st->text, st->plan, options.params, arm->dest);
	else
		check_result(SPI_execute_plan_extended(st->plan, &options), st->text);
}

static void
in_internal_subtransaction(SpiArm *arm, SpiStep *step, SpiStatement *st, const RtbRow *row)
{
	MemoryContext old = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(old);
	send_plan(arm, step, st, row);
	ReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(old);
	CurrentResourceOwner = owner;
}

static void
send_savepoint(SpiArm *arm, const char *text)
{
	arm->run->round_trips++;
	message_begins();
	rtb_spi_send_savepoint(text);
	message_ends();
}

static void
send_statement(SpiArm *arm, SpiStep *step, SpiStatement *st, const RtbRow *row)
{
	arm->run->statement_no++;
	if (st->send == SPI_SEND_SAVEPOINT)
		rtb_spi_send_savepoint(st->text);
	else if (step->step->subtransaction == RTB_SUBXACT_INTERNAL)
		in_internal_subtransaction(arm, step, st, row);
	else
		send_plan(arm, step, st, row);
}

/*
 * rtb_spi_run_special
 *		A statement step of a special arm: its text is one message, or with
 *		parameters one for each statement.
 */
void
rtb_spi_run_special(SpiArm *arm, SpiStep *step, const RtbRow *row)
{
	RtbArmRun  *run = arm->run;
	bool		savepoints = step->step->subtransaction == RTB_SUBXACT_SAVEPOINT;
	bool		each = step->step->nparams > 0 || savepoints;
	bool		timed = run->timers != NULL;
	int64		generic_before = timed ? rtb_spi_generic_plans(step) : 0;
	int64		started = timed ? rtb_clock_ns() : 0;

	if (!each)
		run->round_trips++;
	for (int i = 0; i < step->nstatements; i++)
	{
		if (savepoints)
			send_savepoint(arm, savepoint_text);
		if (each)
			run->round_trips++;
		if (each || i == 0)
			message_begins();
		send_statement(arm, step, &step->statements[i], row);
		if (each || i == step->nstatements - 1)
		{
			message_ends();
			rtb_spi_sent_special(arm);
		}
		if (savepoints)
			send_savepoint(arm, release_text);
	}
	if (timed)
		rtb_spi_time_execution(arm, step, started, generic_before);
}

/* ---- loops ---- */

/* read a driver whole; returns its rows' shape */
static TupleDesc
store_driver(SpiArm *arm, SpiStep *step, const RtbRow *outer)
{
	SpiStatement *st = &step->statements[0];
	SPIExecuteOptions options = {0};
	CachedPlanSource *source;
	MemoryContext old;
	TupleDesc	desc;

	arm->run->round_trips++;
	arm->run->statement_no++;
	message_begins();
	rtb_hooks_driver(true);
	rtb_spi_need_snapshot();
	if (st->plan == NULL)
		rtb_spi_prepare(arm, step, st, outer, 0);
	options.params = bind(arm, st, outer, outer ? outer->cxt : NULL);
	options.must_return_tuples = true;
	options.dest = CreateDestReceiver(DestTuplestore);
	old = MemoryContextSwitchTo(arm->pass_cxt);
	if (step->store == NULL)
		step->store = tuplestore_begin_heap(false, true, work_mem);
	else
		tuplestore_clear(step->store);
	/* values out of line could be gone after a commit */
	SetTuplestoreDestReceiverParams(options.dest, step->store, arm->pass_cxt, true, NULL, NULL);
	MemoryContextSwitchTo(old);
	check_result(SPI_execute_plan_extended(st->plan, &options), st->text);
	options.dest->rDestroy(options.dest);
	rtb_hooks_driver(false);
	source = linitial(SPI_plan_get_plan_sources(st->plan));
	old = MemoryContextSwitchTo(arm->pass_cxt);
	desc = CreateTupleDescCopy(source->resultDesc);
	MemoryContextSwitchTo(old);
	message_ends();
	rtb_spi_sent_special(arm);
	return desc;
}

static void
take_row(SpiStep *step, TupleTableSlot *slot, int ncolumns)
{
	slot_getsomeattrs(slot, ncolumns);
	memcpy(step->row.values, slot->tts_values, sizeof(Datum) * ncolumns);
	memcpy(step->row.nulls, slot->tts_isnull, sizeof(bool) * ncolumns);
}

/*
 * rtb_spi_run_stored
 *		A foreach or generated step whose driver is read whole first, and whose
 *		loop may commit after every so many rows.
 */
void
rtb_spi_run_stored(SpiArm *arm, SpiStep *step, const RtbRow *outer)
{
	RtbArmRun  *run = arm->run;
	int64		started = run->timers ? rtb_clock_ns() : 0;
	TupleDesc	desc = store_driver(arm, step, outer);
	int			ncolumns = step->step->kind == RTB_STEP_FOREACH ? Min(step->ncolumns, desc->natts)
		: desc->natts;
	int64		every = step->step->commit_every;
	int64		rows = 0;
	TupleTableSlot *slot;
	MemoryContext old = MemoryContextSwitchTo(arm->pass_cxt);

	slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(old);
	if (run->timers && step->step->kind == RTB_STEP_FOREACH)
		rtb_step_timer_add(&run->timers[step->step->id - 1], rtb_clock_ns() - started,
						   RTB_PLAN_UNKNOWN);
	/* what came before a loop that commits is no part of its transactions */
	if (every > 0 && arm->sent > 0)
		next_transaction(arm, arm->sent > 1 ? TRANSACTION_TRIPS : 0);
	if (step->row.values == NULL)
		rtb_row_init(&step->row, desc, arm->pass_cxt);
	step->row.desc = desc;
	while (tuplestore_gettupleslot(step->store, true, false, slot))
	{
		take_row(step, slot, ncolumns);
		rtb_spi_run_row(arm, step);
		if (every > 0 && ++rows % every == 0)
			next_transaction(arm, TRANSACTION_TRIPS);
		CHECK_FOR_INTERRUPTS();
	}
	if (every > 0 && rows % every != 0)
		next_transaction(arm, TRANSACTION_TRIPS);
	ExecDropSingleTupleTableSlot(slot);
	run->step = step->step->id;
}
