/*
 * ledger_write.c
 *	  Keep a run in rtbench's tables.
 *
 * As the current user, under the tables' row security; values travel as
 * parameters only.
 *
 * Memory: a row's values are built in a context that is reset for each row,
 * inside SPI's own, which ends with the call.
 */
#include "postgres.h"

#include "ledger_private.h"
#include "ledger_row.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(rtb_next_run);

/* the id reserved for the run whose row is being inserted; 0: the row gets the next one */
static int64 reserved_run = 0;

/* a list of char *, NULL among them, as text[] of n elements */
static void
put_texts(RtbLedgerRow *row, List *texts, int n)
{
	Datum	   *values = palloc0(Max(n, 1) * sizeof(Datum));
	bool	   *nulls = palloc0(Max(n, 1) * sizeof(bool));
	int			lower = 1;

	for (int i = 0; i < n; i++)
	{
		const char *text = i < list_length(texts) ? list_nth(texts, i) : NULL;

		nulls[i] = text == NULL;
		if (text)
			values[i] = CStringGetTextDatum(text);
	}
	rtb_ledger_put(row, TEXTARRAYOID,
		PointerGetDatum(construct_md_array(values, nulls, 1, &n, &lower,
										   TEXTOID, -1, false, TYPALIGN_INT)), false);
}

static void
put_points(RtbLedgerRow *row, List *points)
{
	Datum	   *values = palloc(Max(list_length(points), 1) * sizeof(Datum));
	ListCell   *lc;
	int			n = 0;

	foreach(lc, points)
		values[n++] = Int64GetDatum(*(int64 *) lfirst(lc));
	rtb_ledger_put(row, INT8ARRAYOID,
		PointerGetDatum(construct_array(values, n, INT8OID, sizeof(int64),
										FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)), false);
}

static void
put_interval(RtbLedgerRow *row, int64 microseconds)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->time = microseconds;
	rtb_ledger_put(row, INTERVALOID, PointerGetDatum(interval), microseconds == RTB_UNKNOWN);
}

static const char *
arm_name(const RtbRun *run, int arm)
{
	return arm < 0 ? NULL : (const char *) list_nth(run->arms, arm);
}

/*
 * rtb_ledger_reserve
 *		An id for a run that will be kept later: nobody else gets it.  Throws in
 *		a read-only transaction.
 */
int64
rtb_ledger_reserve(void)
{
	Oid			sequence = get_relname_relid("runs_run_seq",
											 get_namespace_oid("rtbench", false));

	if (!OidIsValid(sequence))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("sequence \"rtbench.runs_run_seq\" does not exist"),
				 errhint("Create the extension anew: DROP EXTENSION rtbench; CREATE EXTENSION rtbench;")));
	return nextval_internal(sequence, false);
}

/*
 * rtb_next_run
 *		rtbench.next_run(), the default of rtbench.runs.run: while a run with a
 *		reserved id is being written, that id, once; else the next one.
 *
 * A role may not name an id in its INSERT, which would let it take ids that
 * others are given later; what is reserved comes in from here only.
 */
Datum
rtb_next_run(PG_FUNCTION_ARGS)
{
	int64		id = reserved_run;

	reserved_run = 0;
	PG_RETURN_INT64(id != 0 ? id : rtb_ledger_reserve());
}

/*
 * rtb_ledger_next_is
 *		The id that rtbench.next_run() returns next, once; 0 takes that back.
 */
void
rtb_ledger_next_is(int64 run)
{
	reserved_run = run;
}

/* the row of rtbench.runs; returns the id that it was given */
static int64
write_run(const RtbRun *run)
{
	RtbLedgerRow row = {0};
	bool		null;
	int			result;
	char	   *query;

	rtb_ledger_put(&row, REGROLEOID, ObjectIdGetDatum(GetUserId()), false);
	rtb_ledger_put(&row, INT8OID, Int64GetDatum(run->together), run->together == 0);
	rtb_ledger_put_text(&row, run->server);
	rtb_ledger_put_text(&row, run->label);
	rtb_ledger_put_text(&row, run->scenario);
	rtb_ledger_put_text(&row, run->transport);
	rtb_ledger_put_text(&row, run->scope);
	put_texts(&row, run->arms, list_length(run->arms));
	put_texts(&row, run->descriptions, list_length(run->arms));
	put_points(&row, run->points);
	rtb_ledger_put_text(&row, run->swept);
	rtb_ledger_put_text(&row, arm_name(run, run->baseline));
	rtb_ledger_put(&row, FLOAT8OID, Float8GetDatum(run->margin), false);
	put_interval(&row, run->max_time_us);
	rtb_ledger_put(&row, INT8OID, Int64GetDatum(run->seed), false);
	rtb_ledger_put_timestamp(&row, run->started_at);
	rtb_ledger_put_timestamp(&row, run->finished_at);
	rtb_ledger_put_bool(&row, run->complete);
	rtb_ledger_put_text(&row, run->server_version);
	rtb_ledger_put_jsonb(&row, run->options);
	rtb_ledger_put_jsonb(&row, run->settings);
	rtb_ledger_put_jsonb(&row, run->machine);
	rtb_ledger_put_jsonb(&row, run->documents);

	query = psprintf("INSERT INTO rtbench.runs (owner, " RUN_COLUMNS ") VALUES (%s) RETURNING run",
					 rtb_ledger_placeholders(row.n));
	reserved_run = run->run;
	PG_TRY();
	{
		result = SPI_execute_with_args(query, row.n, row.types, row.values, row.nulls, false, 0);
	}
	PG_FINALLY();
	{
		reserved_run = 0;
	}
	PG_END_TRY();
	if (result != SPI_OK_INSERT_RETURNING || SPI_processed != 1)
		elog(ERROR, "could not keep the run: %s", SPI_result_code_string(result));
	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null));
}

static void
write_pass(SPIPlanPtr *plan, const RtbRun *run, int ordinal, const RtbPass *pass)
{
	RtbLedgerRow row = {0};

	rtb_ledger_put_count(&row, run->run);
	rtb_ledger_put_int(&row, ordinal);
	rtb_ledger_put_int(&row, pass->session);
	rtb_ledger_put_int(&row, pass->round);
	rtb_ledger_put_int(&row, pass->position);
	rtb_ledger_put_text(&row, rtb_pass_kind_name(pass->kind));
	rtb_ledger_put_bool(&row, pass->control);
	rtb_ledger_put_point(&row, pass->has_point, pass->point);
	rtb_ledger_put_text(&row, arm_name(run, pass->arm));
	rtb_ledger_put_count(&row, pass->elapsed_ns);
	rtb_ledger_put_count(&row, pass->cpu_ns);
	rtb_ledger_put_count(&row, pass->repetitions);
	rtb_ledger_put_bool(&row, pass->below_resolution);
	rtb_ledger_put_count(&row, pass->round_trips);
	rtb_ledger_put_count(&row, pass->bytes_sent);
	rtb_ledger_put_count(&row, pass->bytes_received);
	rtb_ledger_put_count(&row, pass->statements);
	rtb_ledger_put_count(&row, pass->fired);
	rtb_ledger_put_count(&row, pass->loop_queries);
	rtb_ledger_put_count(&row, pass->rows);
	rtb_ledger_put_count(&row, pass->plannings);
	rtb_ledger_put_count(&row, pass->buffers_hit);
	rtb_ledger_put_count(&row, pass->buffers_read);
	rtb_ledger_put_count(&row, pass->wal_records);
	rtb_ledger_put_count(&row, pass->wal_fpi);
	rtb_ledger_put_count(&row, pass->wal_bytes);
	rtb_ledger_put_count(&row, pass->xids);
	rtb_ledger_put_count(&row, pass->transactions);
	rtb_ledger_put_count(&row, pass->commit_ns);
	rtb_ledger_put(&row, BOOLOID, BoolGetDatum(pass->subxact_overflowed > 0),
		pass->subxact_overflowed == RTB_UNKNOWN);
	rtb_ledger_put_count(&row, pass->updates);
	rtb_ledger_put_count(&row, pass->hot_updates);
	rtb_ledger_put_count(&row, pass->core);
	rtb_ledger_put_count(&row, pass->far_core);
	rtb_ledger_put_count(&row, pass->catalog_reads);
	rtb_ledger_put_text(&row, pass->plan_shape);
	rtb_ledger_put_text(&row, pass->fired_shape);
	rtb_ledger_put_text(&row, pass->digest);
	rtb_ledger_put_text(&row, pass->returned);
	rtb_ledger_put_text(&row, pass->sqlstate);
	rtb_ledger_put_text(&row, pass->message);
	rtb_ledger_put(&row, INT4OID, Int32GetDatum(pass->failed_step),
		pass->sqlstate == NULL || pass->failed_step <= 0);
	rtb_ledger_put(&row, INT8OID, Int64GetDatum(pass->failed_statement),
		pass->sqlstate == NULL || pass->failed_statement <= 0);
	rtb_ledger_insert(plan, "passes", "run, pass, " PASS_COLUMNS, &row);
}

static void
write_finding(SPIPlanPtr *plan, const RtbRun *run, int ordinal, const RtbFinding *finding)
{
	RtbLedgerRow row = {0};

	rtb_ledger_put_count(&row, run->run);
	rtb_ledger_put_int(&row, ordinal);
	rtb_ledger_put_point(&row, finding->has_point, finding->point);
	rtb_ledger_put_text(&row, arm_name(run, finding->arm));
	rtb_ledger_put_text(&row, rtb_finding_kind_name(finding->kind));
	rtb_ledger_put_text(&row, finding->detail);
	rtb_ledger_insert(plan, "findings", "run, number, " FINDING_COLUMNS, &row);
}

static void
write_step(SPIPlanPtr *plan, const RtbRun *run, const RtbStepTime *step)
{
	RtbLedgerRow row = {0};

	rtb_ledger_put_count(&row, run->run);
	rtb_ledger_put_point(&row, step->has_point, step->point);
	rtb_ledger_put_text(&row, arm_name(run, step->arm));
	rtb_ledger_put_int(&row, step->step);
	rtb_ledger_put_text(&row, step->statement);
	rtb_ledger_put_count(&row, step->calls);
	rtb_ledger_put_count(&row, step->first_ns);
	rtb_ledger_put_count(&row, step->second_ns);
	rtb_ledger_put_count(&row, step->third_ns);
	rtb_ledger_put_count(&row, step->later_ns);
	rtb_ledger_put_count(&row, step->prepare_ns);
	rtb_ledger_put_count(&row, step->custom_plans);
	rtb_ledger_put_count(&row, step->generic_plans);
	rtb_ledger_put_count(&row, step->custom_ns);
	rtb_ledger_put_count(&row, step->generic_ns);
	rtb_ledger_insert(plan, "steps", "run, " STEP_COLUMNS, &row);
}

/*
 * Keep a run with its passes, findings and step times, as the current user's,
 * under the id that was reserved for it, if one was.
 * Sets run->run to its id and returns it.  Throws what the INSERTs throw
 * (read-only transactions among it); nothing is committed here.
 */
int64
rtb_ledger_write(RtbRun *run)
{
	int			nestlevel = rtb_ledger_begin();
	MemoryContext row_context;
	MemoryContext old_context;
	SPIPlanPtr	passes = NULL;
	SPIPlanPtr	findings = NULL;
	SPIPlanPtr	steps = NULL;
	int			ordinal = 0;
	ListCell   *lc;

	run->run = write_run(run);

	row_context = AllocSetContextCreate(CurrentMemoryContext, "rtbench ledger row",
										ALLOCSET_DEFAULT_SIZES);
	old_context = MemoryContextSwitchTo(row_context);
	foreach(lc, run->passes)
	{
		write_pass(&passes, run, ++ordinal, lfirst(lc));
		MemoryContextReset(row_context);
	}
	ordinal = 0;
	foreach(lc, run->findings)
	{
		write_finding(&findings, run, ++ordinal, lfirst(lc));
		MemoryContextReset(row_context);
	}
	foreach(lc, run->steps)
	{
		write_step(&steps, run, lfirst(lc));
		MemoryContextReset(row_context);
	}
	MemoryContextSwitchTo(old_context);
	rtb_ledger_end(nestlevel);
	return run->run;
}
