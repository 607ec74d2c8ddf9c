/*
 * load_ledger.c
 *	  Keep a load in rtbench's tables, and read it back.
 *
 * As the current user, under the tables' row security; values travel as
 * parameters only.
 *
 * Memory: what is read is palloc'd in the context current at the call.
 */
#include "postgres.h"

#include "load.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/timestamp.h"

#include "facts.h"
#include "json_access.h"
#include "ledger.h"
#include "ledger_private.h"
#include "ledger_row.h"

/* ---- writing ---- */

/* counts as an object; texts: their texts instead, of those that have one */
static void
put_counts(RtbLedgerRow *row, List *counts, bool texts)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	foreach(lc, counts)
	{
		const RtbLoadCount *count = lfirst(lc);

		if (texts && count->text == NULL)
			continue;
		if (buf.len > 1)
			appendStringInfoString(&buf, ", ");
		escape_json(&buf, count->name);
		appendStringInfoString(&buf, ": ");
		if (texts)
			escape_json(&buf, count->text);
		else
			appendStringInfo(&buf, INT64_FORMAT, count->n);
	}
	appendStringInfoChar(&buf, '}');
	rtb_ledger_put(row, JSONBOID, JsonbPGetDatum(rtb_json_to_jsonb(buf.data)), false);
}

/* the buckets that hold something, and how many */
static void
put_histogram(RtbLedgerRow *row, const RtbHistogram *h)
{
	Datum	   *buckets = palloc(sizeof(Datum) * RTB_HISTOGRAM_BUCKETS);
	Datum	   *counts = palloc(sizeof(Datum) * RTB_HISTOGRAM_BUCKETS);
	int			n = 0;

	for (int i = 0; i < RTB_HISTOGRAM_BUCKETS; i++)
	{
		if (h->counts[i] == 0)
			continue;
		buckets[n] = Int32GetDatum(i);
		counts[n++] = Int64GetDatum(h->counts[i]);
	}
	rtb_ledger_put_bigint(row, h->n);
	rtb_ledger_put_bigint(row, h->max);
	rtb_ledger_put_float(row, h->sum);
	rtb_ledger_put_float(row, h->sum_of_squares);
	rtb_ledger_put(row, INT4ARRAYOID, PointerGetDatum(construct_array(buckets, n, INT4OID, sizeof(int32),
														   true, TYPALIGN_INT)), false);
	rtb_ledger_put(row, INT8ARRAYOID, PointerGetDatum(construct_array(counts, n, INT8OID, sizeof(int64),
														   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)), false);
}

/* the groups as an array of objects: what load_result() needs to know of them */
static Jsonb *
groups_document(const RtbLoad *load)
{
	StringInfoData buf;
	ListCell   *lg;
	ListCell   *lv;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '[');
	foreach(lg, load->groups)
	{
		const RtbLoadGroup *g = lfirst(lg);

		appendStringInfo(&buf, "%s{\"group\": ", buf.len > 1 ? ", " : "");
		escape_json(&buf, g->name);
		appendStringInfo(&buf, ", \"sessions\": %d, \"rate\": ", g->sessions);
		if (g->rate > 0)
			appendStringInfo(&buf, "%.17g", g->rate);
		else
			appendStringInfoString(&buf, "null");
		appendStringInfoString(&buf, ", \"variants\": [");
		foreach(lv, g->variants)
		{
			const RtbLoadVariant *variant = lfirst(lv);

			appendStringInfo(&buf, "%s{\"variant\": ", foreach_current_index(lv) > 0 ? ", " : "");
			escape_json(&buf, variant->name);
			appendStringInfoString(&buf, ", \"arm\": ");
			escape_json(&buf, variant->arm);
			appendStringInfo(&buf, ", \"work\": %s}", variant->work);
		}
		appendStringInfoString(&buf, "]}");
	}
	appendStringInfoChar(&buf, ']');
	return rtb_json_to_jsonb(buf.data);
}

static void
write_load(const RtbLoad *load)
{
	SPIPlanPtr	plan = NULL;
	RtbLedgerRow row = {0};

	rtb_ledger_put(&row, REGROLEOID, ObjectIdGetDatum(GetUserId()), false);
	rtb_ledger_put_text(&row, load->label);
	rtb_ledger_put_text(&row, load->scenario);
	rtb_ledger_put_text(&row, load->transport);
	rtb_ledger_put_text(&row, load->compared < 0 ? NULL
			 : ((RtbLoadGroup *) list_nth(load->groups, load->compared))->name);
	rtb_ledger_put(&row, JSONBOID, JsonbPGetDatum(groups_document(load)), false);
	rtb_ledger_put_float(&row, load->margin);
	rtb_ledger_put_bigint(&row, load->seed);
	rtb_ledger_put(&row, TIMESTAMPTZOID, TimestampTzGetDatum(load->started_at), false);
	rtb_ledger_put(&row, TIMESTAMPTZOID, TimestampTzGetDatum(load->finished_at), false);
	rtb_ledger_put_text(&row, load->server_version);
	rtb_ledger_put(&row, JSONBOID, JsonbPGetDatum(load->options), false);
	rtb_ledger_put(&row, JSONBOID, load->settings ? JsonbPGetDatum(load->settings) : (Datum) 0, load->settings == NULL);
	rtb_ledger_put(&row, JSONBOID, JsonbPGetDatum(load->machine), false);
	rtb_ledger_put(&row, JSONBOID, JsonbPGetDatum(rtb_json_to_jsonb(load->setup)), false);
	rtb_ledger_insert(&plan, "loads", "owner, label, scenario, transport, compared, groups, margin, seed, started_at, finished_at, "
		   "server_version, options, settings, machine, setup", &row);
}

static void
write_window(SPIPlanPtr *plan, const RtbLoad *load, const RtbLoadWindow *w)
{
	RtbLedgerRow row = {0};
	RtbLoadGroup *g = list_nth(load->groups, w->group);
	RtbLoadGroup *compared = load->compared < 0 ? g : list_nth(load->groups, load->compared);

	rtb_ledger_put_bigint(&row, load->run);
	rtb_ledger_put_int(&row, w->number);
	rtb_ledger_put_int(&row, w->round);
	rtb_ledger_put_int(&row, w->position);
	rtb_ledger_put_bool(&row, w->control);
	rtb_ledger_put_text(&row, ((RtbLoadVariant *) list_nth(compared->variants, w->variant))->name);
	rtb_ledger_put_text(&row, g->name);
	rtb_ledger_put_int(&row, w->sessions);
	rtb_ledger_put_float(&row, w->elapsed_ms);
	rtb_ledger_put_float(&row, w->tps);
	put_histogram(&row, w->latency);
	rtb_ledger_put_float(&row, w->lag_ms);
	rtb_ledger_put_float(&row, w->lag_max_ms);
	rtb_ledger_put_bigint(&row, w->retries);
	rtb_ledger_put_count(&row, w->xids);
	rtb_ledger_put(&row, BOOLOID, BoolGetDatum(w->overflowed), w->xids == RTB_UNKNOWN);
	put_counts(&row, w->errors, false);
	put_counts(&row, w->errors, true);
	if (w->waits_seen)
		put_counts(&row, w->waits, false);
	else
		rtb_ledger_put(&row, JSONBOID, (Datum) 0, true);
	rtb_ledger_insert(plan, "load_windows", "run, number, round, \"position\", control, variant, group_name, sessions, elapsed_ms, tps, "
		   "transactions, latency_max, latency_sum, latency_squares, latency_buckets, latency_counts, lag_ms, lag_max_ms, "
		   "retries, xids, subxact_overflowed, errors, messages, waits", &row);
}

/*
 * rtb_load_write
 *		Keep a load under its id, which was reserved.  Throws what the INSERTs
 *		throw; nothing is committed here.
 */
void
rtb_load_write(RtbLoad *load)
{
	int			nestlevel = rtb_ledger_begin();
	SPIPlanPtr	plan = NULL;
	ListCell   *lc;

	rtb_ledger_next_is(load->run);
	PG_TRY();
	{
		write_load(load);
	}
	PG_FINALLY();
	{
		rtb_ledger_next_is(0);
	}
	PG_END_TRY();
	foreach(lc, load->windows)
	{
		CHECK_FOR_INTERRUPTS();
		write_window(&plan, load, lfirst(lc));
	}
	rtb_ledger_end(nestlevel);
}

/* ---- reading ---- */

static uint64
query(const char *sql, int64 run)
{
	Oid			types[2] = {INT8OID, REGROLEOID};
	Datum		values[2] = {Int64GetDatum(run), ObjectIdGetDatum(GetUserId())};

	if (SPI_execute_with_args(sql, 2, types, values, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read the load");
	return SPI_processed;
}

static Datum
value(uint64 row, int column, bool *null)
{
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, null);
}

static int64
bigint(uint64 row, int column)
{
	bool		null;
	Datum		datum = value(row, column, &null);

	return null ? 0 : DatumGetInt64(datum);
}

static int64
count(uint64 row, int column)
{
	bool		null;
	Datum		datum = value(row, column, &null);

	return null ? RTB_UNKNOWN : DatumGetInt64(datum);
}

static int
integer(uint64 row, int column)
{
	bool		null;
	Datum		datum = value(row, column, &null);

	return null ? 0 : DatumGetInt32(datum);
}

static double
number(uint64 row, int column)
{
	bool		null;
	Datum		datum = value(row, column, &null);

	return null ? NAN : DatumGetFloat8(datum);
}

static bool
boolean(uint64 row, int column)
{
	bool		null;
	Datum		datum = value(row, column, &null);

	return !null && DatumGetBool(datum);
}

/* a text or jsonb, copied into the caller's context; NULL for null */
static void *
copied(MemoryContext cxt, uint64 row, int column)
{
	bool		null;
	Datum		datum = value(row, column, &null);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	void	   *copy = null ? NULL : PG_DETOAST_DATUM_COPY(datum);

	MemoryContextSwitchTo(old);
	return copy;
}

static char *
copied_text(MemoryContext cxt, uint64 row, int column)
{
	char	   *text = SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);

	return text == NULL ? NULL : MemoryContextStrdup(cxt, text);
}

static void
read_groups(RtbLoad *load, Jsonb *groups)
{
	int			n = JsonContainerSize(&groups->root);

	for (int i = 0; i < n; i++)
	{
		JsonbContainer *object = getIthJsonbValueFromContainer(&groups->root, i)->val.binary.data;
		RtbLoadGroup *g = palloc0(sizeof(RtbLoadGroup));
		JsonbContainer *variants = rtb_json_array(object, "variants");
		JsonbValue *rate = rtb_json_value(object, "rate");

		g->name = rtb_json_text(object, "group");
		g->sessions = (int) rtb_json_integer(object, "sessions");
		if (rate != NULL)
			g->rate = DatumGetFloat8(DirectFunctionCall1(numeric_float8, NumericGetDatum(rate->val.numeric)));
		for (int k = 0; k < JsonContainerSize(variants); k++)
		{
			JsonbContainer *one = getIthJsonbValueFromContainer(variants, k)->val.binary.data;
			RtbLoadVariant *variant = palloc0(sizeof(RtbLoadVariant));

			variant->name = rtb_json_text(one, "variant");
			variant->arm = rtb_json_text(one, "arm");
			g->variants = lappend(g->variants, variant);
		}
		load->groups = lappend(load->groups, g);
	}
}

static int
group_index(const RtbLoad *load, const char *name)
{
	for (int i = 0; name != NULL && i < list_length(load->groups); i++)
		if (strcmp(((RtbLoadGroup *) list_nth(load->groups, i))->name, name) == 0)
			return i;
	return -1;
}

static int
variant_index(const RtbLoadGroup *g, const char *name)
{
	for (int i = 0; i < list_length(g->variants); i++)
		if (strcmp(((RtbLoadVariant *) list_nth(g->variants, i))->name, name) == 0)
			return i;
	return 0;
}

static RtbHistogram *
read_histogram(uint64 row, int column)
{
	RtbHistogram *h = palloc0(sizeof(RtbHistogram));
	bool		null;
	ArrayType  *buckets = DatumGetArrayTypeP(value(row, column + 4, &null));
	ArrayType  *counts = DatumGetArrayTypeP(value(row, column + 5, &null));
	int			n = ArrayGetNItems(ARR_NDIM(buckets), ARR_DIMS(buckets));

	h->n = bigint(row, column);
	h->max = bigint(row, column + 1);
	h->sum = number(row, column + 2);
	h->sum_of_squares = number(row, column + 3);
	n = Min(n, ArrayGetNItems(ARR_NDIM(counts), ARR_DIMS(counts)));
	for (int i = 0; i < n; i++)
	{
		int			bucket = ((int32 *) ARR_DATA_PTR(buckets))[i];

		/* rows can be written without the functions here */
		if (bucket >= 0 && bucket < RTB_HISTOGRAM_BUCKETS)
			h->counts[bucket] = (uint32) ((int64 *) ARR_DATA_PTR(counts))[i];
	}
	return h;
}

/* an object's members as counts; texts: another object that has their texts */
static List *
read_counts(Jsonb *object, Jsonb *texts)
{
	List	   *counts = NIL;
	ListCell   *lc;

	foreach(lc, rtb_json_keys(&object->root))
	{
		RtbLoadCount *count = palloc0(sizeof(RtbLoadCount));

		count->name = lfirst(lc);
		count->n = rtb_json_integer(&object->root, lfirst(lc));
		if (texts != NULL)
			count->text = rtb_json_text(&texts->root, lfirst(lc));
		counts = lappend(counts, count);
	}
	return counts;
}

static void
read_window(RtbLoad *load, MemoryContext cxt, uint64 row)
{
	MemoryContext old = MemoryContextSwitchTo(cxt);
	RtbLoadWindow *w = palloc0(sizeof(RtbLoadWindow));
	int			group = group_index(load, copied_text(cxt, row, 6));
	RtbLoadGroup *compared;
	Jsonb	   *waits;

	w->number = integer(row, 1);
	w->round = integer(row, 2);
	w->position = integer(row, 3);
	w->control = boolean(row, 4);
	w->group = Max(group, 0);
	compared = list_nth(load->groups, load->compared < 0 ? w->group : load->compared);
	w->variant = variant_index(compared, copied_text(cxt, row, 5));
	w->sessions = integer(row, 7);
	w->elapsed_ms = number(row, 8);
	w->tps = number(row, 9);
	w->latency = read_histogram(row, 10);
	w->lag_ms = number(row, 16);
	w->lag_max_ms = number(row, 17);
	w->retries = bigint(row, 18);
	w->xids = count(row, 19);
	w->overflowed = boolean(row, 20);
	w->errors = read_counts(copied(cxt, row, 21), copied(cxt, row, 22));
	waits = copied(cxt, row, 23);
	w->waits_seen = waits != NULL;
	w->waits = waits != NULL ? read_counts(waits, NULL) : NIL;
	load->windows = lappend(load->windows, w);
	MemoryContextSwitchTo(old);
}

/*
 * rtb_load_read
 *		One of the current user's own loads with its windows; NULL if there is
 *		none of that id.
 */
RtbLoad *
rtb_load_read(int64 run)
{
	MemoryContext cxt = CurrentMemoryContext;
	int			nestlevel = rtb_ledger_begin();
	RtbLoad    *load = NULL;
	uint64		n;

	if (query("SELECT label, scenario, compared, groups, margin, transport, options FROM rtbench.loads WHERE run = $1 AND owner = $2", run) == 1)
	{
		MemoryContext old = MemoryContextSwitchTo(cxt);

		load = palloc0(sizeof(RtbLoad));
		load->run = run;
		load->label = copied_text(cxt, 0, 1);
		load->scenario = copied_text(cxt, 0, 2);
		read_groups(load, copied(cxt, 0, 4));
		load->compared = group_index(load, copied_text(cxt, 0, 3));
		load->margin = number(0, 5);
		load->transport = copied_text(cxt, 0, 6);
		load->options = copied(cxt, 0, 7);
		load->notes = rtb_json_texts(&load->options->root, "notes");
		MemoryContextSwitchTo(old);
		n = query("SELECT number, round, \"position\", control, variant, group_name, sessions, elapsed_ms, tps, "
				  "transactions, latency_max, latency_sum, latency_squares, latency_buckets, latency_counts, lag_ms, lag_max_ms, "
				  "retries, xids, subxact_overflowed, errors, messages, waits "
				  "FROM rtbench.load_windows AS w WHERE run = $1 "
				  "AND EXISTS (SELECT FROM rtbench.loads AS l WHERE l.run = w.run AND l.owner = $2) ORDER BY number, group_name", run);
		for (uint64 row = 0; row < n; row++)
			read_window(load, cxt, row);
	}
	rtb_ledger_end(nestlevel);
	MemoryContextSwitchTo(cxt);
	return load;
}

/*
 * rtb_load_last
 *		Id of the current user's own last load; 0 if there is none.
 */
int64
rtb_load_last(void)
{
	int			nestlevel = rtb_ledger_begin();
	int64		run = 0;

	if (query("SELECT max(run) FROM rtbench.loads WHERE owner = $2 AND $1 = 0", 0) == 1)
		run = bigint(0, 1);
	rtb_ledger_end(nestlevel);
	return run;
}

/*
 * rtb_load_exists
 *		Is this id one of the current user's own loads?
 */
bool
rtb_load_exists(int64 run)
{
	int			nestlevel = rtb_ledger_begin();
	bool		exists = query("SELECT FROM rtbench.loads WHERE run = $1 AND owner = $2", run) == 1;

	rtb_ledger_end(nestlevel);
	return exists;
}
