/*
 * wire_transport.c
 *	  The transport over a connection: what stands around an arm's statements.
 *
 * Transactions are the far end's; a local one goes along with each, for what
 * looks at results needs one too.  rtbench's own statements go over the same
 * connection.  If rtbench is installed at the far end, untimed passes are
 * counted there; timed ones are left alone, since counting costs a little.
 *
 * Memory: the connection's own; nothing else is kept.
 */
#include "postgres.h"

#include "wire.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "advice.h"
#include "other_engine.h"
#include "own_sql.h"
#include "probe.h"
#include "written.h"

/* how long an error's remains at the far end may take to end */
#define RECOVER_MS			1500

static uint32 counting_on = 0;	/* the connection that count_begin() was sent over, until its end */
static bool settles;			/* and deferred triggers, which fire before the clock stops */
static uint32 settles_of = 0;	/* the connection for which that is known */
static bool in_block;			/* BEGIN was sent by wire_begin() */
static MemoryContext outer_cxt;
static const RtbArmRun *under_clock = NULL;	/* the arm that runs */

/* BEGIN and COMMIT around an arm that is rolled back, which stand outside of the clock */
#define BLOCK_TRIPS		2
#define BLOCK_SENT		(5 + sizeof("BEGIN") + 5 + sizeof("COMMIT"))
#define BLOCK_RECEIVED	(5 + sizeof("BEGIN") + 6 + 5 + sizeof("COMMIT") + 6)

/* ---- transactions ---- */

static void
wire_begin(const RtbArm *arm)
{
	outer_cxt = CurrentMemoryContext;
	if (!IsTransactionState())
	{
		SetCurrentStatementStartTimestamp();
		StartTransactionCommand();
		MemoryContextSwitchTo(CurTransactionContext);
	}
	if (arm != NULL && arm->ending != RTB_ENDING_ROLLBACK)
		return;
	(void) rtb_connection_query(rtb_wire, rtb_wire_begin_text(), NULL);
	in_block = true;
}

static void
end_local(bool commit)
{
	in_block = false;
	if (commit)
		CommitTransactionCommand();
	else
		AbortOutOfAnyTransaction();
	MemoryContextSwitchTo(outer_cxt);
}

static void
wire_rollback(void)
{
	if (in_block)
		(void) rtb_connection_query(rtb_wire, "ROLLBACK", NULL);
	end_local(false);
}

static void
wire_commit(void)
{
	if (in_block)
		(void) rtb_connection_query(rtb_wire, "COMMIT", NULL);
	end_local(true);
}

static void
count_end(void)
{
	counting_on = 0;
	(void) rtb_connection_query(rtb_wire, "CALL rtbench.count_end()", NULL);
}

static void
wire_after_error(void)
{
	in_block = false;
	under_clock = NULL;
	AbortOutOfAnyTransaction();
	rtb_wire_apart(false);
	/* from here on it is rtbench that speaks */
	(void) rtb_connection_hush(rtb_wire, true);
	if (!rtb_connection_recover(rtb_wire, RECOVER_MS))
		rtb_connection_give_up(rtb_wire);
	if (rtb_connection_in_block(rtb_wire))
		(void) rtb_connection_query(rtb_wire, "ROLLBACK", NULL);
	/* what comes next is not the arm's: it is neither counted nor refused */
	if (counting_on == rtb_wire_number)
		count_end();
}

/* of a setup, or before an arm: the user's text */
static void
wire_sql(const char *statement)
{
	rtb_wire_require_alike();
	(void) rtb_connection_query(rtb_wire, statement, NULL);
}

/* rtbench's own */
static void
wire_toplevel(const char *statement)
{
	(void) rtb_connection_query(rtb_wire, statement, NULL);
}

/*
 * Of a transaction block: deferred triggers would be dropped unfired.  A client
 * sends BEGIN and COMMIT around an arm that needs them: what is simulated of
 * the distance is theirs, too.
 */
static void
wire_settle(void)
{
	int			trips = in_block && under_clock != NULL && under_clock->needs_block ? BLOCK_TRIPS : 0;

	rtb_wire_apart(false);
	if (in_block && under_clock != NULL && !rtb_connection_in_block(rtb_wire))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_TERMINATION),
				 errmsg("the arm has ended its transaction at the far end"),
				 errhint("A pass is one transaction, which rtbench begins and rolls back.")));
	if (settles && in_block)
		rtb_connection_aside(rtb_wire, "SET CONSTRAINTS ALL IMMEDIATE");
	for (int i = 0; i < trips; i++)
		rtb_wire_wait();
}

/* ---- digests ---- */

typedef struct Digesting
{
	RtbDigest  *digest;
	Tuplestorestate *row_hashes;
} Digesting;

static void
digest_columns(void *arg, int ncolumns, char **names)
{
	Digesting  *d = arg;
	char	  **shown = palloc(sizeof(char *) * Max(ncolumns, 1));

	for (int i = 0; i < ncolumns; i++)
		shown[i] = rtb_connection_text(names[i]);
	rtb_digest_set_columns(d->digest, ncolumns, shown);
	for (int i = 0; i < ncolumns; i++)
		pfree(shown[i]);
	pfree(shown);
}

static void
digest_row(void *arg, int ncolumns, char **values, int *lengths)
{
	Digesting  *d = arg;
	RtbHash128	hash = rtb_digest_add_text_row(d->digest, ncolumns, values, lengths);

	if (d->row_hashes != NULL)
		rtb_row_hash_put(d->row_hashes, hash);
}

/* which rows could not be had */
static void
tell_query(void *query)
{
	errcontext("SQL statement \"%s\"", (const char *) query);
}

/* bytes as they came: the same hashes as of the same text here, even where it is none */
static void
wire_digest(const char *query, RtbDigest *digest, Tuplestorestate *row_hashes)
{
	Digesting	d = {digest, row_hashes};
	RtbRows		receiver = {digest_columns, digest_row, &d};
	ErrorContextCallback context = {error_context_stack, tell_query, unconstify(char *, query)};

	error_context_stack = &context;
	/* one statement whatever an arm has set: a check query is the user's text */
	(void) rtb_connection_query_params(rtb_wire, query, NULL, &receiver);
	error_context_stack = context.previous;
}

/* ---- what was written ---- */

static const char locked_sql[] =
"SELECT l.relation::bigint, pg_catalog.max(CASE WHEN l.mode = 'RowExclusiveLock' THEN 3 WHEN l.mode = 'ShareUpdateExclusiveLock' THEN 4"
" WHEN l.mode = 'ShareLock' THEN 5 WHEN l.mode = 'ShareRowExclusiveLock' THEN 6 WHEN l.mode = 'ExclusiveLock' THEN 7"
" WHEN l.mode = 'AccessExclusiveLock' THEN 8 ELSE 0 END) AS mode"
" FROM pg_catalog.pg_locks l WHERE l.pid = pg_catalog.pg_backend_pid() AND l.locktype = 'relation'"
" AND (l.relation >= 16384"
/* large objects, as in is_write_lock() */
"      OR l.relation = 2613 AND pg_catalog.pg_current_xact_id_if_assigned() IS NOT NULL)"
" AND l.mode <> ALL ('{AccessShareLock,RowShareLock}') GROUP BY l.relation ORDER BY 1";

static void
wire_locked(List **oids, List **modes)
{
	RtbOwnRows *rows;

	*oids = *modes = NIL;
	if (rtb_own_is_other())
		return;
	rows = rtb_own_rows(locked_sql, 0, NULL);
	for (int i = 0; i < rows->n; i++)
	{
		*oids = lappend_oid(*oids, (Oid) rtb_own_row_int64(rows, i, 1));
		*modes = lappend_int(*modes, (int) rtb_own_row_int64(rows, i, 2));
	}
}

/*
 * Of the tables $1 those whose row in the catalogs is of this very transaction:
 * a row that is seen while what wrote it is under way.  What a subtransaction
 * wrote bears its own id, which comes after the transaction's, as ids go round.
 */
static const char made_sql[] =
"SELECT c.oid::bigint FROM pg_catalog.pg_class c,"
" LATERAL (SELECT pg_catalog.pg_current_xact_id()::text::bigint AS id) t,"
" LATERAL (SELECT ((c.xmin::text::bigint - (t.id % 4294967296)) + 4294967296) % 4294967296 AS after) x"
" WHERE c.oid = ANY ($1::oid[]) AND c.relkind = ANY ('{r,m}') AND c.relpersistence <> 't'"
" AND CASE WHEN x.after < 10000000 THEN pg_catalog.pg_xact_status((t.id + x.after)::text::xid8) = 'in progress'"
" ELSE false END";

static List *
wire_made(List *oids, SubTransactionId since)
{
	char	   *params[1] = {rtb_oids_text(oids)};
	List	   *made = NIL;
	RtbOwnRows *rows;

	if (oids == NIL)
		return NIL;
	rows = rtb_own_rows(made_sql, 1, params);
	for (int i = 0; i < rows->n; i++)
		made = lappend_oid(made, (Oid) rtb_own_row_int64(rows, i, 1));
	return made;
}

/* ---- what is seen ---- */

static void
wire_observe_before(RtbObserver *o)
{
	/* each session is another process */
	if (!o->discovery && settles_of == rtb_wire_number)
		return;
	settles = rtb_own_is_other() ? rtb_engine_defers() :
		rtb_wire_ask("SELECT EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tginitdeferred)");
	settles_of = rtb_wire_number;
}

/* count there, with a watch refuse commits outside of its schema, and look at what plans say about indexes */
static void
count_begin(const RtbCommitWatch *watch, bool advise)
{
	const char *scratch = watch && watch->scratch ? quote_literal_cstr(watch->scratch) : watch ? "''" : "NULL";

	(void) rtb_connection_query(rtb_wire, psprintf("CALL rtbench.count_begin(%s, %s)", scratch,
													advise ? "true" : "false"), NULL);
	counting_on = rtb_wire_number;
}

static void
wire_guard_begin(RtbCommitWatch *watch)
{
	if (rtb_wire_counts())
		count_begin(watch, false);
}

static void
wire_guard_end(void)
{
	if (counting_on == rtb_wire_number)
		count_end();
}

static void
wire_observe_begin(RtbObserver *o)
{
	o->counted = rtb_wire_counts() && !o->timed;
	if (o->counted)
		count_begin(o->committing ? o->watch : NULL, o->starts != NULL);
	under_clock = o->run;
	rtb_connection_begin_pass(rtb_wire);
	/* told once is enough, and nothing shall be told by the clock */
	(void) rtb_connection_hush(rtb_wire, !o->discovery);
	rtb_wire_apart(true);
}

/* what was committed under a watch: oid:mode ... */
static void
take_written(RtbCommitWatch *watch, const char *text)
{
	MemoryContext old = MemoryContextSwitchTo(watch->cxt);

	while (text != NULL && *text != '\0')
	{
		char	   *end;

		watch->locked = lappend_oid(watch->locked, (Oid) strtoul(text, &end, 10));
		watch->modes = lappend_int(watch->modes, (int) strtol(end + 1, &end, 10));
		text = end;
	}
	MemoryContextSwitchTo(old);
}

static void
take_counted(RtbObserver *o)
{
	RtbOwnRows *rows = rtb_own_rows("SELECT statements, fired, loop_queries, rows, plannings, xids, buffers_hit, buffers_read,"
								" wal_records, wal_fpi, wal_bytes, transactions, commit_ns, subxact_overflowed, parallel,"
								" notifies, truncates, ddl, foreign_tables, plan_shape, fired_shape, written, advice FROM rtbench.counted()", 0, NULL);

	o->counts.statements = rtb_own_row_int64(rows, 0, 1);
	o->counts.fired = rtb_own_row_int64(rows, 0, 2);
	o->counts.loop_queries = rtb_own_row_int64(rows, 0, 3);
	o->counts.rows = rtb_own_row_int64(rows, 0, 4);
	o->counts.plannings = rtb_own_row_int64(rows, 0, 5);
	o->counts.xids = rtb_own_row_int64(rows, 0, 6);
	o->probe.buffers.shared_blks_hit = rtb_own_row_int64(rows, 0, 7);
	o->probe.buffers.shared_blks_read = rtb_own_row_int64(rows, 0, 8);
	o->probe.wal.wal_records = rtb_own_row_int64(rows, 0, 9);
	o->probe.wal.wal_fpi = rtb_own_row_int64(rows, 0, 10);
	o->probe.wal.wal_bytes = rtb_own_row_int64(rows, 0, 11);
	o->commits.transactions = rtb_own_row_int64(rows, 0, 12);
	o->commits.commit_ns = rtb_own_row_int64(rows, 0, 13);
	o->commits.overflowed = rtb_own_row_bool(rows, 0, 14);
	o->counts.parallel = rtb_own_row_bool(rows, 0, 15);
	o->counts.notifies = rtb_own_row_bool(rows, 0, 16);
	o->counts.truncates = rtb_own_row_bool(rows, 0, 17);
	o->counts.ddl = rtb_own_row_bool(rows, 0, 18);
	o->counts.foreign = rtb_own_row_bool(rows, 0, 19);
	o->plan_shape = rtb_own_row_text(rows, 0, 20);
	o->fired_shape = rtb_own_row_text(rows, 0, 21);
	if (o->starts != NULL)
		rtb_advice_receive(rtb_own_row_text(rows, 0, 23));
	if (o->committing && o->watch != NULL)
		take_written(o->watch, rtb_own_row_text(rows, 0, 22));
}

static void
wire_observe_end(RtbObserver *o)
{
	const RtbTraffic *traffic = rtb_connection_end_pass(rtb_wire);
	RtbArmRun  *run = unconstify(RtbArmRun *, o->run);

	rtb_wire_apart(false);
	(void) rtb_connection_hush(rtb_wire, true);
	under_clock = NULL;
	run->core = rtb_core_of_this();
	run->far_core = rtb_connection_here(rtb_wire) ? rtb_core_of(rtb_connection_pid(rtb_wire)) : -1;
	run->round_trips = traffic->round_trips - run->kept;
	run->bytes_sent = traffic->bytes_sent;
	run->bytes_received = traffic->bytes_received;
	if (in_block && run->needs_block)
	{
		run->round_trips += BLOCK_TRIPS;
		run->bytes_sent += BLOCK_SENT;
		run->bytes_received += BLOCK_RECEIVED;
	}
	o->counts.statements = run->statement_no - run->loop_queries;
	o->counts.rows = run->rows;
	o->counts.changed = traffic->changed;
	o->counts.notices = traffic->notices;
	o->commits.transactions = run->transactions;
	if (o->counted)
	{
		count_end();
		take_counted(o);
		o->counts.statements -= run->loop_queries + run->control;
		o->counts.loop_queries += run->loop_queries;
		o->counts.rows -= run->loop_rows;
		o->wrote = o->counts.xids > 0;
	}
	else
		o->wrote = true;		/* not known: what wrote must not be taken for what did not */
	if (!o->counted)
		o->counts.xids = 1;
}

static void
wire_observe_after(RtbObserver *o)
{
}

/* RTB_UNKNOWN is what init_pass() left in all others */
static void
wire_observe_counts(const RtbObserver *o, const RtbProbe *probe, RtbPass *pass)
{
	pass->bytes_sent = o->run->bytes_sent;
	pass->bytes_received = o->run->bytes_received;
	pass->core = o->run->core >= 0 ? o->run->core : RTB_UNKNOWN;
	pass->far_core = o->run->far_core >= 0 ? o->run->far_core : RTB_UNKNOWN;
	if (o->committing)
		pass->transactions = o->run->transactions;
	if (!rtb_wire_counts())
	{
		pass->statements = o->counts.statements;
		pass->rows = o->run->rows_unknown ? RTB_UNKNOWN : o->run->rows;
	}
	if (!o->counted)
		return;
	pass->rows = o->counts.rows;
	pass->statements = o->counts.statements;
	pass->fired = o->counts.fired;
	pass->loop_queries = o->counts.loop_queries;
	pass->plannings = o->counts.plannings;
	pass->xids = o->counts.xids;
	pass->buffers_hit = o->probe.buffers.shared_blks_hit;
	pass->buffers_read = o->probe.buffers.shared_blks_read;
	pass->wal_records = o->probe.wal.wal_records;
	pass->wal_fpi = o->probe.wal.wal_fpi;
	pass->wal_bytes = (int64) o->probe.wal.wal_bytes;
	pass->subxact_overflowed = o->commits.overflowed;
	if (o->committing)
		pass->commit_ns = o->commits.commit_ns;
	pass->plan_shape = o->plan_shape ? pstrdup(o->plan_shape) : NULL;
	pass->fired_shape = o->fired_shape ? pstrdup(o->fired_shape) : NULL;
}

const RtbTransport rtb_wire_transport = {
	.name = "connection",
	.own_transactions = true,
	.far = true,
	.open_arm = rtb_wire_open_arm,
	.close_arm = rtb_wire_close_arm,
	.release_arm = rtb_wire_release_arm,
	.begin = wire_begin,
	.sql = wire_sql,
	.run = rtb_wire_run,
	.settle = wire_settle,
	.digest = wire_digest,
	.observe_before = wire_observe_before,
	.observe_begin = wire_observe_begin,
	.observe_end = wire_observe_end,
	.observe_after = wire_observe_after,
	.observe_counts = wire_observe_counts,
	.locked = wire_locked,
	.made = wire_made,
	.rollback = wire_rollback,
	.commit = wire_commit,
	.guard_begin = wire_guard_begin,
	.guard_end = wire_guard_end,
	.toplevel = wire_toplevel,
	.after_error = wire_after_error,
};
