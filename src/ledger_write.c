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

#define MAX_COLUMNS	48

PG_FUNCTION_INFO_V1(rtb_next_run);

/* the id reserved for the run whose row is being inserted; 0: the row gets the next one */
static int64 reserved_run = 0;

/* a row of parameters */
typedef struct Row
{
	int			n;
	Oid			types[MAX_COLUMNS];
	Datum		values[MAX_COLUMNS];
	char		nulls[MAX_COLUMNS];
} Row;

static void
put(Row *row, Oid type, Datum value, bool null)
{
	Assert(row->n < MAX_COLUMNS);
	row->types[row->n] = type;
	row->values[row->n] = value;
	row->nulls[row->n++] = null ? 'n' : ' ';
}

static void
put_text(Row *row, const char *text)
{
	put(row, TEXTOID, text ? CStringGetTextDatum(text) : (Datum) 0, text == NULL);
}

static void
put_count(Row *row, int64 count)
{
	put(row, INT8OID, Int64GetDatum(count), count == RTB_UNKNOWN);
}

static void
put_point(Row *row, bool has_point, int64 point)
{
	put(row, INT8OID, Int64GetDatum(point), !has_point);
}

static void
put_int(Row *row, int32 value)
{
	put(row, INT4OID, Int32GetDatum(value), false);
}

static void
put_bool(Row *row, bool value)
{
	put(row, BOOLOID, BoolGetDatum(value), false);
}

static void
put_timestamp(Row *row, TimestampTz value)
{
	put(row, TIMESTAMPTZOID, TimestampTzGetDatum(value), value == 0);
}

static void
put_jsonb(Row *row, Jsonb *value)
{
	Datum		datum;

	if (value)
		datum = JsonbPGetDatum(value);
	else
		datum = DirectFunctionCall1(jsonb_in, CStringGetDatum("{}"));
	put(row, JSONBOID, datum, false);
}

/* a list of char *, NULL among them, as text[] of n elements */
static void
put_texts(Row *row, List *texts, int n)
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
	put(row, TEXTARRAYOID,
		PointerGetDatum(construct_md_array(values, nulls, 1, &n, &lower,
										   TEXTOID, -1, false, TYPALIGN_INT)), false);
}

static void
put_points(Row *row, List *points)
{
	Datum	   *values = palloc(Max(list_length(points), 1) * sizeof(Datum));
	ListCell   *lc;
	int			n = 0;

	foreach(lc, points)
		values[n++] = Int64GetDatum(*(int64 *) lfirst(lc));
	put(row, INT8ARRAYOID,
		PointerGetDatum(construct_array(values, n, INT8OID, sizeof(int64),
										FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)), false);
}

static void
put_interval(Row *row, int64 microseconds)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->time = microseconds;
	put(row, INTERVALOID, PointerGetDatum(interval), microseconds == RTB_UNKNOWN);
}

/* "$1, $2, ..." */
static char *
placeholders(int n)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 1; i <= n; i++)
		appendStringInfo(&buf, "%s$%d", i > 1 ? ", " : "", i);
	return buf.data;
}

/* run an INSERT, planned at the first of its rows */
static void
insert_row(SPIPlanPtr *plan, const char *table, const char *columns, Row *row)
{
	int			result;

	if (*plan == NULL)
	{
		char	   *query = psprintf("INSERT INTO rtbench.%s (%s) VALUES (%s)",
									 table, columns, placeholders(row->n));

		*plan = SPI_prepare(query, row->n, row->types);
		if (*plan == NULL)
			elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	}
	result = SPI_execute_plan(*plan, row->values, row->nulls, false, 0);
	if (result != SPI_OK_INSERT)
		elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(result));
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
	Row			row = {0};
	bool		null;
	int			result;
	char	   *query;

	put(&row, REGROLEOID, ObjectIdGetDatum(GetUserId()), false);
	put_text(&row, run->label);
	put_text(&row, run->scenario);
	put_text(&row, run->transport);
	put_text(&row, run->scope);
	put_texts(&row, run->arms, list_length(run->arms));
	put_texts(&row, run->descriptions, list_length(run->arms));
	put_points(&row, run->points);
	put_text(&row, run->swept);
	put_text(&row, arm_name(run, run->baseline));
	put(&row, FLOAT8OID, Float8GetDatum(run->margin), false);
	put_interval(&row, run->max_time_us);
	put(&row, INT8OID, Int64GetDatum(run->seed), false);
	put_timestamp(&row, run->started_at);
	put_timestamp(&row, run->finished_at);
	put_bool(&row, run->complete);
	put_text(&row, run->server_version);
	put_jsonb(&row, run->options);
	put_jsonb(&row, run->settings);
	put_jsonb(&row, run->machine);
	put_jsonb(&row, run->documents);

	query = psprintf("INSERT INTO rtbench.runs (owner, " RUN_COLUMNS ") VALUES (%s) RETURNING run",
					 placeholders(row.n));
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
	Row			row = {0};

	put_count(&row, run->run);
	put_int(&row, ordinal);
	put_int(&row, pass->session);
	put_int(&row, pass->round);
	put_int(&row, pass->position);
	put_text(&row, rtb_pass_kind_name(pass->kind));
	put_bool(&row, pass->control);
	put_point(&row, pass->has_point, pass->point);
	put_text(&row, arm_name(run, pass->arm));
	put_count(&row, pass->elapsed_ns);
	put_count(&row, pass->cpu_ns);
	put_count(&row, pass->repetitions);
	put_bool(&row, pass->below_resolution);
	put_count(&row, pass->round_trips);
	put_count(&row, pass->statements);
	put_count(&row, pass->fired);
	put_count(&row, pass->loop_queries);
	put_count(&row, pass->rows);
	put_count(&row, pass->plannings);
	put_count(&row, pass->buffers_hit);
	put_count(&row, pass->buffers_read);
	put_count(&row, pass->wal_records);
	put_count(&row, pass->wal_fpi);
	put_count(&row, pass->wal_bytes);
	put_count(&row, pass->xids);
	put_count(&row, pass->transactions);
	put_count(&row, pass->commit_ns);
	put(&row, BOOLOID, BoolGetDatum(pass->subxact_overflowed > 0),
		pass->subxact_overflowed == RTB_UNKNOWN);
	put_count(&row, pass->updates);
	put_count(&row, pass->hot_updates);
	put_count(&row, pass->catalog_reads);
	put_text(&row, pass->plan_shape);
	put_text(&row, pass->fired_shape);
	put_text(&row, pass->digest);
	put_text(&row, pass->returned);
	put_text(&row, pass->sqlstate);
	put_text(&row, pass->message);
	put(&row, INT4OID, Int32GetDatum(pass->failed_step),
		pass->sqlstate == NULL || pass->failed_step <= 0);
	put(&row, INT8OID, Int64GetDatum(pass->failed_statement),
		pass->sqlstate == NULL || pass->failed_statement <= 0);
	insert_row(plan, "passes", "run, pass, " PASS_COLUMNS, &row);
}

static void
write_finding(SPIPlanPtr *plan, const RtbRun *run, int ordinal, const RtbFinding *finding)
{
	Row			row = {0};

	put_count(&row, run->run);
	put_int(&row, ordinal);
	put_point(&row, finding->has_point, finding->point);
	put_text(&row, arm_name(run, finding->arm));
	put_text(&row, rtb_finding_kind_name(finding->kind));
	put_text(&row, finding->detail);
	insert_row(plan, "findings", "run, number, " FINDING_COLUMNS, &row);
}

static void
write_step(SPIPlanPtr *plan, const RtbRun *run, const RtbStepTime *step)
{
	Row			row = {0};

	put_count(&row, run->run);
	put_point(&row, step->has_point, step->point);
	put_text(&row, arm_name(run, step->arm));
	put_int(&row, step->step);
	put_text(&row, step->statement);
	put_count(&row, step->calls);
	put_count(&row, step->first_ns);
	put_count(&row, step->second_ns);
	put_count(&row, step->third_ns);
	put_count(&row, step->later_ns);
	put_count(&row, step->prepare_ns);
	put_count(&row, step->custom_plans);
	put_count(&row, step->generic_plans);
	put_count(&row, step->custom_ns);
	put_count(&row, step->generic_ns);
	insert_row(plan, "steps", "run, " STEP_COLUMNS, &row);
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
