/*
 * wire_arm.c
 *	  An arm's statements over a connection, as a client sends them.
 *
 * A client that loops over rows has read them before; so drivers are read
 * whole, as text, which is also what their values are sent as.  A prepared
 * statement is parsed at its first execution in a pass, or ever where plans are
 * kept, which is a round trip of its own.
 *
 * Memory: as in wire_arm_state.c.
 */
#include "postgres.h"

#include "wire_arm_private.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "check.h"
#include "compat.h"
#include "probe.h"
#include "script.h"
#include "step_timer.h"

static void run_steps(WireArm *arm, WireStep *steps, int nsteps, const WireStep *row);

static bool lost_statement = false;

/* ---- transactions ---- */

static bool
commits(const WireArm *arm)
{
	return arm->arm->ending == RTB_ENDING_COMMIT;
}

/* a client that will commit says BEGIN first */
static void
begin_if_due(WireArm *arm, bool in_loop)
{
	if (commits(arm) && !arm->in_block && in_loop)
	{
		rtb_wire_send_control(arm, rtb_wire_begin_text());
		arm->run->control++;
		arm->in_block = true;
	}
}

static void
commit_if_open(WireArm *arm)
{
	if (arm->in_block)
	{
		rtb_wire_send_control(arm, "COMMIT");
		arm->run->control++;
		arm->run->transactions++;
	}
	arm->in_block = false;
}

/* ---- the kinds of steps ---- */

/* the statements of a step, each a message */
static void
send_each(WireArm *arm, WireStep *step, const WireStep *row)
{
	bool		savepoint = step->step->subtransaction == RTB_SUBXACT_SAVEPOINT;

	for (int i = 0; i < step->nstatements; i++)
	{
		if (savepoint)
			rtb_wire_send_control(arm, "SAVEPOINT rtbench_statement");
		rtb_wire_send(arm, &step->statements[i], step->step->nparams, row);
		if (savepoint)
			rtb_wire_send_control(arm, "RELEASE SAVEPOINT rtbench_statement");
	}
}

static void
run_statement(WireArm *arm, WireStep *step, const WireStep *row)
{
	int64		started = arm->run->timers ? rtb_clock_ns() : 0;

	if (step->step->subtransaction == RTB_SUBXACT_INTERNAL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a client cannot begin an internal subtransaction"),
				 errhint("subtransaction => 'savepoint' is what a client can do; 'internal' runs by transport => 'worker'.")));
	if (rtb_wire_is_one_text(step->step))
		rtb_wire_send_text(arm, step);
	else
		send_each(arm, step, row);
	if (arm->run->timers)
		rtb_step_timer_add(&arm->run->timers[step->step->id - 1], rtb_clock_ns() - started,
						   RTB_PLAN_UNKNOWN);
}

static void
driver_columns(void *arg, int ncolumns, char **names)
{
	WireStep   *step = arg;

	if (step->desc != NULL)
		return;
	step->ncolumns = ncolumns;
	step->desc = CreateTemplateTupleDesc(ncolumns);
	for (int i = 0; i < ncolumns; i++)
		TupleDescInitEntry(step->desc, i + 1, NULL, TEXTOID, -1, 0);
	RTB_TUPDESC_FINISH(step->desc);
	step->store = tuplestore_begin_heap(false, true, work_mem);
	step->values = palloc0(sizeof(char *) * Max(ncolumns, 1));
}

static void
driver_row(void *arg, int ncolumns, char **values, int *lengths)
{
	WireStep   *step = arg;
	Datum	   *datums = palloc(sizeof(Datum) * Max(ncolumns, 1));
	bool	   *nulls = palloc(sizeof(bool) * Max(ncolumns, 1));

	for (int i = 0; i < ncolumns; i++)
	{
		nulls[i] = values[i] == NULL;
		datums[i] = nulls[i] ? (Datum) 0 : PointerGetDatum(cstring_to_text_with_len(values[i], lengths[i]));
	}
	tuplestore_putvalues(step->store, step->desc, datums, nulls);
	for (int i = 0; i < ncolumns; i++)
	{
		if (!nulls[i])
			pfree(DatumGetPointer(datums[i]));
	}
	pfree(datums);
	pfree(nulls);
}

/* a query whose rows are wanted at once: prepared only where that is kept, since it runs once in most passes */
static RtbAnswer
query_rows(WireArm *arm, WireStatement *st, const RtbValues *values, const RtbRows *rows)
{
	bool		prepares = arm->protocol == RTB_PROTOCOL_PREPARED || arm->protocol == RTB_PROTOCOL_PIPELINE;

	if (!st->kept || !prepares)
	{
		rtb_connection_expect(rtb_wire, arm->ran, &st->large);
		return rtb_connection_query_params(rtb_wire, st->text, values, rows);
	}
	if (!st->prepared)
		rtb_wire_prepare(arm, st, values);
	return rtb_wire_execute(arm, st, values, rows);
}

/* read a driver's rows: in one answer, or as a cursor hands them over */
static void
read_driver(WireArm *arm, WireStep *step, const WireStep *outer)
{
	WireStatement *st = &step->statements[0];
	RtbValues	values = {step->step->nparams, NULL, outer ? (const char *const *) outer->values : NULL};
	RtbRows		rows = {driver_columns, driver_row, step};
	RtbAnswer	answer;
	MemoryContext old = MemoryContextSwitchTo(arm->pass_cxt);

	rtb_wire_flush(arm);
	arm->run->statement_no++;
	if (step->store != NULL)
		tuplestore_clear(step->store);
	if (rtb_wire_fetches(arm, st))
	{
		answer = rtb_wire_fetch(arm, st, &values, &rows);
		arm->run->loop_rows += step->reads_only ? answer.returned : 0;
	}
	else
	{
		answer = query_rows(arm, st, &values, &rows);
		arm->run->loop_rows += step->reads_only ? answer.returned : 0;
	}
	arm->run->loop_queries += step->reads_only;
	MemoryContextSwitchTo(old);
}

static bool
row_says(const WireStep *row, int column)
{
	if (column > row->ncolumns)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_PARAMETER),
				 errmsg("the driver's row has no column for $%d in \"only_if\"", column)));
	return row->values[column - 1] != NULL && row->values[column - 1][0] == 't';
}

static void
take_row(WireStep *step, TupleTableSlot *slot)
{
	slot_getallattrs(slot);
	for (int i = 0; i < step->ncolumns; i++)
		step->values[i] = slot->tts_isnull[i] ? NULL : TextDatumGetCString(slot->tts_values[i]);
}

/* a text that is to be read here must be one: it would be shown in part, where it cannot be */
static void
require_text(const char *generated)
{
	if (unlikely(!rtb_connection_valid(generated)))
		ereport(ERROR,
				(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
				 errmsg("generated statement is not valid in this database's encoding: %s",
						rtb_connection_text(generated))));
}

/* what is sent for each driver row of a foreach, or the texts that a query generated */
static void
run_row(WireArm *arm, WireStep *step)
{
	if (step->step->kind == RTB_STEP_FOREACH)
	{
		run_steps(arm, step->body, step->nbody, step);
		return;
	}
	for (int c = 0; c < step->ncolumns; c++)
	{
		int64		started;

		if (step->values[c] == NULL)
			continue;
		/* a message of its own: waiting for those before is not of its time */
		if (arm->protocol != RTB_PROTOCOL_MULTI)
			rtb_wire_flush(arm);
		arm->run->statement_no++;
		/* what was sent cannot be taken back: a COMMIT is refused before, in every pass */
		rtb_wire_require_alike();
		require_text(step->values[c]);
		if (!arm->run->timed || rtb_script_may_control(step->values[c]))
			rtb_script_refuse(step->values[c], false);
		started = arm->run->timers ? rtb_clock_ns() : 0;
		rtb_wire_send_generated(arm, step, step->values[c]);
		if (arm->run->timers)
			rtb_step_timer_add(&arm->run->timers[step->step->id - 1], rtb_clock_ns() - started,
							   RTB_PLAN_UNKNOWN);
	}
}

/* send the rows that a query gave as those of a COPY FROM STDIN */
static void
run_copy(WireArm *arm, WireStep *step, const WireStep *outer)
{
	int64		started;

	read_driver(arm, step, outer);
	rtb_wire_flush(arm);
	arm->run->statement_no++;
	started = arm->run->timers ? rtb_clock_ns() : 0;
	rtb_wire_count(arm, rtb_wire_copy_rows(arm, step));
	if (arm->run->timers)
		rtb_step_timer_add(&arm->run->timers[step->step->id - 1], rtb_clock_ns() - started,
						   RTB_PLAN_UNKNOWN);
}

static void
run_driver(WireArm *arm, WireStep *step, const WireStep *outer)
{
	int64		every = step->step->commit_every;
	int64		started = arm->run->timers ? rtb_clock_ns() : 0;
	int64		n = 0;
	TupleTableSlot *slot;
	MemoryContext old;

	if (every > 0)
		commit_if_open(arm);
	read_driver(arm, step, outer);
	if (arm->run->timers && step->step->kind == RTB_STEP_FOREACH)
		rtb_step_timer_add(&arm->run->timers[step->step->id - 1], rtb_clock_ns() - started,
						   RTB_PLAN_UNKNOWN);
	if (step->store == NULL)
		return;					/* no rows */
	old = MemoryContextSwitchTo(arm->pass_cxt);
	slot = MakeSingleTupleTableSlot(step->desc, &TTSOpsMinimalTuple);
	while (tuplestore_gettupleslot(step->store, true, false, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (outer == NULL)
			MemoryContextReset(arm->row_cxt);
		MemoryContextSwitchTo(arm->row_cxt);
		take_row(step, slot);
		begin_if_due(arm, every > 0);
		run_row(arm, step);
		if (every > 0 && ++n % every == 0)
			commit_if_open(arm);
		/* a row from a file is the slot's to free, after the next reset */
		MemoryContextSwitchTo(arm->pass_cxt);
	}
	if (every > 0)
		commit_if_open(arm);
	MemoryContextSwitchTo(old);
	ExecDropSingleTupleTableSlot(slot);
}

static void
run_steps(WireArm *arm, WireStep *steps, int nsteps, const WireStep *row)
{
	for (int i = 0; i < nsteps; i++)
	{
		WireStep   *step = &steps[i];

		if (step->step->if_column > 0 && !row_says(row, step->step->if_column))
			continue;
		arm->run->step = step->step->id;
		if (step->step->kind == RTB_STEP_STATEMENT)
			run_statement(arm, step, row);
		else if (step->step->kind == RTB_STEP_COPY)
			run_copy(arm, step, row);
		else
			run_driver(arm, step, row);
	}
}

static bool
loops_commit(List *steps)
{
	ListCell   *lc;

	foreach(lc, steps)
	{
		const RtbStep *step = lfirst(lc);

		if (step->commit_every > 0 || loops_commit(step->body))
			return true;
	}
	return false;
}

/* does a client have to send BEGIN around all of it? */
static bool
needs_block(const WireArm *arm)
{
	const RtbStep *only = linitial(arm->arm->steps);

	if (loops_commit(arm->arm->steps))
		return false;
	/* what a block begins with is needed by each transaction */
	if (rtb_wire_path_in_blocks())
		return true;
	if (arm->nsteps == 1 && only->kind == RTB_STEP_STATEMENT && rtb_wire_is_one_text(only))
		return false;
	return arm->nsteps > 1 || only->kind != RTB_STEP_STATEMENT ||
		list_length(only->statements) > 1 || only->subtransaction != RTB_SUBXACT_NONE ||
		(arm->fetch_size > 0 && arm->steps[0].statements[0].is_query);
}

/*
 * rtb_wire_check_blocks
 *		Throw if an arm has statements that no transaction block would be around,
 *		where only those find what they work on.
 */
void
rtb_wire_check_blocks(const RtbArm *arm)
{
	if (!rtb_wire_path_in_blocks() || (arm->ending == RTB_ENDING_COMMIT && !loops_commit(arm->steps)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("arm \"%s\" sends statements outside of a transaction block, which find no tables behind a pooler", arm->name),
			 errdetail("search_path is set by the message that begins a transaction: set for a session it would be another client's."),
			 errhint("Use ending => 'commit' without commit_every, or connect without the pooler.")));
}

/* a statement that was prepared is not there: somebody else's backend, or it was deallocated */
static void
explain_lost(void *arg)
{
	const WireArm *arm = arg;

	if (geterrcode() != ERRCODE_INVALID_SQL_STATEMENT_NAME || !(arm->executing || arm->piped))
		return;
	lost_statement = true;
	errhint("A pooler that gives each transaction another backend loses what was prepared, as do DISCARD ALL and DEALLOCATE ALL: use protocol => 'extended' or 'simple', or in a sweep leave out plans => 'kept'.");
}

/*
 * rtb_wire_lost_statement
 *		Did the last run of an arm fail because what it had prepared is gone?
 */
bool
rtb_wire_lost_statement(void)
{
	return lost_statement;
}

/*
 * rtb_wire_run
 *		All steps of an arm, in order; inside the clock.  Of an arm that commits
 *		no transaction is open when this returns.
 */
void
rtb_wire_run(void *state, RtbArmRun *run)
{
	WireArm    *arm = state;
	MemoryContext old = MemoryContextSwitchTo(arm->row_cxt);
	ErrorContextCallback callback;

	callback.callback = explain_lost;
	callback.arg = arm;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	arm->run = run;
	run->needs_block = needs_block(arm);
	arm->in_block = false;

	rtb_connection_expect(rtb_wire, arm->ran, NULL);
	arm->gathered = 0;
	arm->piped = arm->executing = lost_statement = false;
	resetStringInfo(&arm->batch);
	if (commits(arm) && run->needs_block)
		begin_if_due(arm, true);
	run_steps(arm, arm->steps, arm->nsteps, NULL);
	rtb_wire_flush(arm);
	if (commits(arm) && !arm->in_block && run->transactions == 0)
		run->transactions = 1;
	commit_if_open(arm);
	rtb_connection_expect(rtb_wire, false, NULL);
	/* the first pass is not timed, and shows which results are large */
	arm->ran = true;
	error_context_stack = callback.previous;
	MemoryContextSwitchTo(old);
	MemoryContextReset(arm->row_cxt);
	arm->run = NULL;
}
