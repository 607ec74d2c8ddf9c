/*
 * ledger_read.c
 *	  Read a run back from rtbench's tables.
 *
 * As the current user, under the tables' row security: another role's run
 * does not exist.
 *
 * Memory: what is returned is palloc'd in the caller's context; the rows it
 * is made of live in SPI's own, which ends with the call.
 */
#include "postgres.h"

#include "ledger_private.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

/* a row whose columns are read one after the other */
typedef struct Reader
{
	HeapTuple	tuple;
	TupleDesc	tupdesc;
	int			column;			/* last one read */
	bool		null;			/* it was NULL */
} Reader;

static Datum
take(Reader *reader)
{
	return SPI_getbinval(reader->tuple, reader->tupdesc, ++reader->column, &reader->null);
}

static char *
take_text(Reader *reader)
{
	Datum		value = take(reader);

	return reader->null ? NULL : TextDatumGetCString(value);
}

static int64
take_count(Reader *reader)
{
	Datum		value = take(reader);

	return reader->null ? RTB_UNKNOWN : DatumGetInt64(value);
}

static int64
take_point(Reader *reader, bool *has_point)
{
	Datum		value = take(reader);

	*has_point = !reader->null;
	return reader->null ? 0 : DatumGetInt64(value);
}

static int32
take_int(Reader *reader)
{
	Datum		value = take(reader);

	return reader->null ? 0 : DatumGetInt32(value);
}

static bool
take_bool(Reader *reader)
{
	Datum		value = take(reader);

	return !reader->null && DatumGetBool(value);
}

/* a boolean that may be null as 0, 1 or RTB_UNKNOWN */
static int64
take_flag(Reader *reader)
{
	Datum		value = take(reader);

	return reader->null ? RTB_UNKNOWN : DatumGetBool(value);
}

static TimestampTz
take_timestamp(Reader *reader)
{
	Datum		value = take(reader);

	return reader->null ? 0 : DatumGetTimestampTz(value);
}

static Jsonb *
take_jsonb(Reader *reader)
{
	Datum		value = take(reader);

	return reader->null ? NULL : DatumGetJsonbPCopy(value);
}

static List *
take_texts(Reader *reader)
{
	Datum		value = take(reader);
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	List	   *texts = NIL;

	if (reader->null)
		return NIL;
	deconstruct_array(DatumGetArrayTypeP(value), TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, &nulls, &n);
	for (int i = 0; i < n; i++)
		texts = lappend(texts, nulls[i] ? NULL : TextDatumGetCString(elements[i]));
	return texts;
}

static List *
take_points(Reader *reader)
{
	Datum		value = take(reader);
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	List	   *points = NIL;

	if (reader->null)
		return NIL;
	deconstruct_array(DatumGetArrayTypeP(value), INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &elements, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		int64	   *point;

		if (nulls[i])
			continue;
		point = palloc(sizeof(int64));
		*point = DatumGetInt64(elements[i]);
		points = lappend(points, point);
	}
	return points;
}

static int64
take_interval(Reader *reader)
{
	Datum		value = take(reader);
	Interval   *interval;

	if (reader->null)
		return RTB_UNKNOWN;
	interval = DatumGetIntervalP(value);
	return interval->time +
		(interval->month * (int64) DAYS_PER_MONTH + interval->day) * USECS_PER_DAY;
}

/* an arm's index by its name; -1, "all arms", for NULL */
static int
take_arm(Reader *reader, const RtbRun *run)
{
	char	   *name = take_text(reader);
	ListCell   *lc;

	if (name == NULL)
		return -1;
	foreach(lc, run->arms)
		if (strcmp(lfirst(lc), name) == 0)
			return foreach_current_index(lc);
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("run " INT64_FORMAT " has no arm \"%s\"", run->run, name),
			 errdetail("What is kept of the run does not fit together.")));
	return -1;					/* keep compilers quiet */
}

/* what others count on: each arm has a name, and a description or NULL */
static void
check_arms(const RtbRun *run)
{
	bool		fit = list_length(run->descriptions) == list_length(run->arms);
	ListCell   *lc;

	foreach(lc, run->arms)
		fit &= lfirst(lc) != NULL;
	if (!fit)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("run " INT64_FORMAT " has arms without a name or without a place for their description",
						run->run),
				 errdetail("What is kept of the run does not fit together.")));
}

static RtbRun *
read_run(Reader *reader, int64 id)
{
	RtbRun	   *run = palloc0(sizeof(RtbRun));

	run->run = id;
	run->together = DatumGetInt64(take(reader));
	run->server = take_text(reader);
	run->label = take_text(reader);
	run->scenario = take_text(reader);
	run->transport = take_text(reader);
	run->scope = take_text(reader);
	run->arms = take_texts(reader);
	run->descriptions = take_texts(reader);
	check_arms(run);
	run->points = take_points(reader);
	run->swept = take_text(reader);
	run->baseline = take_arm(reader, run);
	run->margin = DatumGetFloat8(take(reader));
	run->max_time_us = take_interval(reader);
	run->seed = take_count(reader);
	run->started_at = take_timestamp(reader);
	run->finished_at = take_timestamp(reader);
	run->complete = take_bool(reader);
	run->server_version = take_text(reader);
	run->options = take_jsonb(reader);
	run->settings = take_jsonb(reader);
	run->machine = take_jsonb(reader);
	run->documents = take_jsonb(reader);
	return run;
}

static void
read_pass(Reader *reader, RtbRun *run)
{
	RtbPass    *pass = palloc0(sizeof(RtbPass));

	pass->session = take_int(reader);
	pass->round = take_int(reader);
	pass->position = take_int(reader);
	pass->kind = rtb_pass_kind(take_text(reader));
	pass->control = take_bool(reader);
	pass->point = take_point(reader, &pass->has_point);
	pass->arm = take_arm(reader, run);
	pass->elapsed_ns = take_count(reader);
	pass->cpu_ns = take_count(reader);
	pass->repetitions = take_count(reader);
	pass->below_resolution = take_bool(reader);
	pass->round_trips = take_count(reader);
	pass->bytes_sent = take_count(reader);
	pass->bytes_received = take_count(reader);
	pass->statements = take_count(reader);
	pass->fired = take_count(reader);
	pass->loop_queries = take_count(reader);
	pass->rows = take_count(reader);
	pass->plannings = take_count(reader);
	pass->buffers_hit = take_count(reader);
	pass->buffers_read = take_count(reader);
	pass->wal_records = take_count(reader);
	pass->wal_fpi = take_count(reader);
	pass->wal_bytes = take_count(reader);
	pass->xids = take_count(reader);
	pass->transactions = take_count(reader);
	pass->commit_ns = take_count(reader);
	pass->subxact_overflowed = take_flag(reader);
	pass->updates = take_count(reader);
	pass->hot_updates = take_count(reader);
	pass->core = take_count(reader);
	pass->far_core = take_count(reader);
	pass->catalog_reads = take_count(reader);
	pass->plan_shape = take_text(reader);
	pass->fired_shape = take_text(reader);
	pass->digest = take_text(reader);
	pass->returned = take_text(reader);
	pass->sqlstate = take_text(reader);
	pass->message = take_text(reader);
	pass->failed_step = take_int(reader);
	pass->failed_statement = take_count(reader);
	run->passes = lappend(run->passes, pass);
}

static void
read_finding(Reader *reader, RtbRun *run)
{
	RtbFinding *finding = palloc0(sizeof(RtbFinding));

	finding->point = take_point(reader, &finding->has_point);
	finding->arm = take_arm(reader, run);
	finding->kind = rtb_finding_kind(take_text(reader));
	finding->detail = take_text(reader);
	run->findings = lappend(run->findings, finding);
}

static void
read_step(Reader *reader, RtbRun *run)
{
	RtbStepTime *step = palloc0(sizeof(RtbStepTime));

	step->point = take_point(reader, &step->has_point);
	step->arm = take_arm(reader, run);
	step->step = take_int(reader);
	step->statement = take_text(reader);
	step->calls = take_count(reader);
	step->first_ns = take_count(reader);
	step->second_ns = take_count(reader);
	step->third_ns = take_count(reader);
	step->later_ns = take_count(reader);
	step->prepare_ns = take_count(reader);
	step->custom_plans = take_count(reader);
	step->generic_plans = take_count(reader);
	step->custom_ns = take_count(reader);
	step->generic_ns = take_count(reader);
	run->steps = lappend(run->steps, step);
}

/* a query with a bigint parameter, read only; rows are in SPI_tuptable */
static void
query_by_run(const char *query, int64 run)
{
	Oid			type = INT8OID;
	Datum		value = Int64GetDatum(run);
	int			result = SPI_execute_with_args(query, 1, &type, &value, NULL, true, 0);

	if (result != SPI_OK_SELECT)
		elog(ERROR, "could not read the run: %s", SPI_result_code_string(result));
}

/* each row of a query of the run's, read into the caller's context */
static void
read_rows(const char *query, RtbRun *run, void (*read_row) (Reader *, RtbRun *),
		  MemoryContext context)
{
	MemoryContext old_context;
	SPITupleTable *table;
	uint64		n;

	query_by_run(query, run->run);
	table = SPI_tuptable;
	n = SPI_processed;
	old_context = MemoryContextSwitchTo(context);
	for (uint64 i = 0; i < n; i++)
	{
		Reader		reader = {table->vals[i], table->tupdesc, 0, false};

		CHECK_FOR_INTERRUPTS();
		read_row(&reader, run);
	}
	MemoryContextSwitchTo(old_context);
	SPI_freetuptable(table);
}

/*
 * The run of an id with everything that is kept of it, palloc'd in the
 * current context; NULL if the current user sees no such run.
 */
RtbRun *
rtb_ledger_read(int64 id)
{
	MemoryContext context = CurrentMemoryContext;
	MemoryContext old_context;
	int			nestlevel = rtb_ledger_begin();
	RtbRun	   *run = NULL;

	query_by_run("SELECT " RUN_COLUMNS " FROM rtbench.runs WHERE run = $1", id);
	if (SPI_processed == 1)
	{
		Reader		reader = {SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 0, false};

		old_context = MemoryContextSwitchTo(context);
		run = read_run(&reader, id);
		MemoryContextSwitchTo(old_context);
		read_rows("SELECT " PASS_COLUMNS " FROM rtbench.passes WHERE run = $1 ORDER BY pass",
				  run, read_pass, context);
		read_rows("SELECT " FINDING_COLUMNS " FROM rtbench.findings WHERE run = $1 ORDER BY number",
				  run, read_finding, context);
		read_rows("SELECT " STEP_COLUMNS " FROM rtbench.steps AS s, "
				  "(SELECT arms, points FROM rtbench.runs WHERE run = $1) AS r "
				  "WHERE run = $1 "
				  "ORDER BY array_position(points, point), array_position(arms, arm), step",
				  run, read_step, context);
	}
	rtb_ledger_end(nestlevel);
	return run;
}

/* the id of the current user's own last run that meets a condition, 0 if there is none */
static int64
last_run(const char *condition)
{
	int			nestlevel = rtb_ledger_begin();
	Oid			type = REGROLEOID;
	Datum		owner = ObjectIdGetDatum(GetUserId());
	int64		last = 0;
	bool		null;
	int			result;

	result = SPI_execute_with_args(psprintf("SELECT run FROM rtbench.runs WHERE owner = $1 AND %s "
											"ORDER BY finished_at DESC NULLS LAST, run DESC LIMIT 1", condition),
								   1, &type, &owner, NULL, true, 0);
	if (result != SPI_OK_SELECT)
		elog(ERROR, "could not read the runs: %s", SPI_result_code_string(result));
	if (SPI_processed > 0)
		last = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null));
	rtb_ledger_end(nestlevel);
	return last;
}

/*
 * The id of the current user's own last run, 0 if there is none: of runs that
 * went on at the same time, the one that ended last; of a call on several
 * servers, that of the last server.
 */
int64
rtb_ledger_last(void)
{
	return last_run("true");
}

/*
 * The same of runs that were made by a call on several servers.
 */
int64
rtb_ledger_last_together(void)
{
	return last_run("together IS NOT NULL");
}

/*
 * The runs of a call on several servers, by the id of the first one: list of
 * RtbRun *, in the servers' order, palloc'd in the current context.  What was
 * forgotten is not among them.
 */
List *
rtb_ledger_together(int64 together)
{
	int			nestlevel = rtb_ledger_begin();
	int64	   *ids;
	int			n;
	bool		null;
	List	   *runs = NIL;

	query_by_run("SELECT run FROM rtbench.runs WHERE together = $1 ORDER BY run", together);
	n = (int) SPI_processed;
	ids = SPI_palloc(Max(n, 1) * sizeof(int64));
	for (int i = 0; i < n; i++)
		ids[i] = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &null));
	rtb_ledger_end(nestlevel);
	for (int i = 0; i < n; i++)
	{
		RtbRun	   *run = rtb_ledger_read(ids[i]);

		CHECK_FOR_INTERRUPTS();
		if (run != NULL)
			runs = lappend(runs, run);
	}
	return runs;
}

/*
 * The smallest price of an empty statement that the run knows, in
 * nanoseconds; NaN if it knows none.
 */
double
rtb_run_empty_statement_ns(const RtbRun *run)
{
	JsonbValue	value;

	if (run->machine == NULL || !JB_ROOT_IS_OBJECT(run->machine) ||
		getKeyJsonValueFromContainer(&run->machine->root, RTB_EMPTY_STATEMENT_NS,
									 strlen(RTB_EMPTY_STATEMENT_NS), &value) == NULL ||
		value.type != jbvNumeric)
		return NAN;
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
											  NumericGetDatum(value.val.numeric)));
}
