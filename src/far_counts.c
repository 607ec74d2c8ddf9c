/*
 * far_counts.c
 *	  Counting in a backend on behalf of a run elsewhere.
 *
 * A run whose arms go over a connection has them counted where they run, if
 * rtbench is installed there: CALL rtbench.count_begin(), then the arm, then
 * CALL rtbench.count_end(), and SELECT * FROM rtbench.counted() fetches what was
 * seen.  The first two are utilities, so that neither is counted itself.
 *
 * Counting that was begun inside a transaction block ends with it at the latest,
 * as through a pooler the next transaction of this backend is another client's.
 *
 * Memory: what was seen lies in a context of its own below TopMemoryContext,
 * until the next counting.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "advice.h"
#include "commits.h"
#include "hooks.h"
#include "probe.h"

PG_FUNCTION_INFO_V1(rtb_count_begin);
PG_FUNCTION_INFO_V1(rtb_count_end);
PG_FUNCTION_INFO_V1(rtb_counted);

#define COUNTED_COLUMNS	25

typedef struct Seen
{
	bool		valid;
	RtbCounts	counts;
	RtbCommits	commits;
	RtbProbe	probe;
	char	   *plan_shape;
	char	   *fired_shape;
	char	   *advice;			/* lines, if it was asked for */
	char	   *written;		/* by what was committed under a watch: oid:mode ... */
} Seen;

static Seen seen;
static MemoryContext seen_cxt = NULL;
static RtbCommitWatch watch;
static bool watching = false;
static bool advising = false;

/* a schema is given: nothing else may be written by what commits */
static void
begin_watch(const char *scratch)
{
	memset(&watch, 0, sizeof(watch));
	watching = scratch != NULL;
	if (!watching)
		return;
	watch.cxt = seen_cxt;
	watch.scratch = MemoryContextStrdup(seen_cxt, scratch);
}

static char *
written_text(void)
{
	StringInfoData buf;
	ListCell   *lo;
	ListCell   *lm;

	initStringInfo(&buf);
	forboth(lo, watch.locked, lm, watch.modes)
		appendStringInfo(&buf, "%s%u:%d", buf.len ? " " : "", lfirst_oid(lo), lfirst_int(lm));
	return buf.data;
}

static char *
advice_text(void)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, rtb_advice_found())
		appendStringInfo(&buf, "%s%s", buf.len ? "\n" : "", (char *) lfirst(lc));
	return buf.data;
}

static bool in_transaction = false;	/* counting, of this transaction only */

static void
end_with_transaction(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_ABORT && event != XACT_EVENT_COMMIT)
		return;
	if (in_transaction && rtb_hooks_begun())
	{
		rtb_hooks_abandon();
		rtb_commits_abandon();
	}
	in_transaction = false;
}

static void
note_transaction(void)
{
	static bool registered = false;

	if (!registered)
		RegisterXactCallback(end_with_transaction, NULL);
	registered = true;
	in_transaction = IsTransactionBlock();
}

/*
 * rtb_count_begin
 *		rtbench.count_begin(scratch, advise): count from here on, in this backend,
 *		refuse commits of what is outside of the schema, unless it is NULL, and
 *		look at the plans for indexes that are missing or not used.
 */
Datum
rtb_count_begin(PG_FUNCTION_ARGS)
{
	/* one that was begun before and never ended is lost */
	rtb_hooks_abandon();
	rtb_commits_abandon();
	memset(&seen, 0, sizeof(seen));
	if (seen_cxt == NULL)
		seen_cxt = AllocSetContextCreate(TopMemoryContext, "rtbench counted", ALLOCSET_SMALL_SIZES);
	MemoryContextReset(seen_cxt);
	begin_watch(PG_ARGISNULL(0) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(0)));
	note_transaction();
	rtb_hooks_begin(true);
	advising = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	if (advising)
	{
		rtb_advice_begin();
		rtb_hooks_watch(rtb_advice_starts);
	}
	rtb_commits_begin(watching ? &watch : NULL);
	rtb_probe_start(&seen.probe);
	PG_RETURN_VOID();
}

/*
 * rtb_count_end
 *		rtbench.count_end(): stop; nothing happens if nothing was begun.
 */
Datum
rtb_count_end(PG_FUNCTION_ARGS)
{
	bool		overflowed = rtb_commits_overflowed();
	MemoryContext old;

	if (!rtb_hooks_begun())
		PG_RETURN_VOID();
	rtb_probe_stop(&seen.probe);
	rtb_hooks_end(&seen.counts);
	old = MemoryContextSwitchTo(seen_cxt);
	seen.plan_shape = rtb_hooks_shapes(false);
	seen.fired_shape = rtb_hooks_shapes(true);
	seen.advice = advising ? advice_text() : NULL;
	seen.written = watching ? written_text() : NULL;
	MemoryContextSwitchTo(old);
	in_transaction = false;
	rtb_commits_end(&seen.commits);
	seen.commits.overflowed |= overflowed;
	seen.valid = true;
	PG_RETURN_VOID();
}

static void
put_text(Datum *values, bool *nulls, int *n, const char *text)
{
	nulls[*n] = text == NULL;
	values[(*n)++] = text ? CStringGetTextDatum(text) : (Datum) 0;
}

/*
 * rtb_counted
 *		rtbench.counted(): what the last counting in this backend saw; NULLs if
 *		there was none.
 */
Datum
rtb_counted(PG_FUNCTION_ARGS)
{
	const RtbCounts *c = &seen.counts;
	const RtbProbe *p = &seen.probe;
	int64		numbers[] = {
		c->statements, c->fired, c->loop_queries, c->rows, c->plannings,
		c->xids + seen.commits.xids,
		p->buffers.shared_blks_hit + p->buffers.local_blks_hit,
		p->buffers.shared_blks_read + p->buffers.local_blks_read,
		p->wal.wal_records, p->wal.wal_fpi, (int64) p->wal.wal_bytes,
		seen.commits.transactions, seen.commits.commit_ns, p->elapsed_ns, p->cpu_ns
	};
	bool		flags[] = {
		seen.commits.overflowed, c->parallel, c->notifies, c->truncates, c->ddl, c->foreign
	};
	TupleDesc	desc;
	Datum		values[COUNTED_COLUMNS] = {0};
	bool		nulls[COUNTED_COLUMNS];
	int			n = 0;

	StaticAssertStmt(lengthof(numbers) + lengthof(flags) + 4 == COUNTED_COLUMNS,
					 "columns of rtbench.counted()");
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	memset(nulls, !seen.valid, sizeof(nulls));
	for (int i = 0; i < lengthof(numbers); i++)
		values[n++] = Int64GetDatum(numbers[i]);
	for (int i = 0; i < lengthof(flags); i++)
		values[n++] = BoolGetDatum(flags[i]);
	put_text(values, nulls, &n, seen.valid ? seen.plan_shape : NULL);
	put_text(values, nulls, &n, seen.valid ? seen.fired_shape : NULL);
	put_text(values, nulls, &n, seen.valid ? seen.written : NULL);
	put_text(values, nulls, &n, seen.valid ? seen.advice : NULL);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
