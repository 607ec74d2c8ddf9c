/*
 * scratch.c
 *	  Scratch schemas: made, emptied, and gone whatever happens.
 *
 * The process that makes a scratch schema drops it: at the end of the point,
 * or from a before_shmem_exit callback that is registered before CREATE
 * SCHEMA and so survives errors, cancel and SIGTERM.  For kill -9 the next
 * run of the same role drops schemas whose maker, named in the schema's
 * comment (scratch_owner.c), is gone.
 *
 * Memory: names are kept in TopMemoryContext, because the exit callback needs
 * them.
 */
#include "postgres.h"

#include "scratch.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "observer.h"
#include "other_engine.h"
#include "own_sql.h"
#include "probe.h"
#include "wire.h"

/* how long a process that ends waits for a far end to let it connect, and to drop a schema */
#define DROP_MS		4000

/*
 * How long what is left over may be waited for.  A run shall not be long in
 * coming, nor anybody's deadlock (deadlock_timeout is a second) be found while
 * it waits; in cleanup() an autovacuum should have the time to give way.
 */
#define SWEEP_LOCK_MS		"500"
#define CLEANUP_LOCK_MS		"2000"
#define SWEEP_NS			INT64CONST(2000000000)

/* scratch schemas of this process that are (or may be) committed */
static List *scratch_schemas = NIL;
static int	scratch_counter = 0;
static const RtbTransport *scratch_transport;	/* by which they were made */

/*
 * rtb_scratch_empty
 *		Drop a scratch schema with all in it, in the running transaction.
 */
void
rtb_scratch_empty(const char *schema)
{
	int			nest = rtb_own_begin();
	char	   *sql = psprintf("DROP SCHEMA IF EXISTS %s CASCADE", quote_identifier(schema));

	/* one NOTICE for each object otherwise; what another engine has not cannot be tried while a process ends */
	if (!rtb_own_is_other())
		rtb_set_local("client_min_messages", "warning");
	rtb_own_rows(sql, 0, NULL);
	rtb_own_end(nest);
}

static void
drop_committed(const RtbTransport *transport, const char *schema)
{
	transport->begin(NULL);
	rtb_scratch_empty(schema);
	transport->commit();
}

/* what is in the way there (an arm that cannot be cancelled) may last for hours */
static void
left_behind_callback(void *arg)
{
	errcontext("dropping scratch schema %s; if it stays, SELECT rtbench.cleanup(%s) drops it later",
			   (char *) arg, quote_literal_cstr(rtb_wire_options.name));
}

static void
drop_far_at_exit(void)
{
	ErrorContextCallback callback = {error_context_stack, left_behind_callback, linitial(scratch_schemas)};

	error_context_stack = &callback;
	AbortOutOfAnyTransaction();
	rtb_wire_reopen(DROP_MS);
	rtb_connection_limit(rtb_wire, DROP_MS);
	scratch_transport->after_error();
	while (scratch_schemas != NIL)
	{
		callback.arg = linitial(scratch_schemas);
		scratch_schemas = list_delete_first(scratch_schemas);
		drop_committed(scratch_transport, callback.arg);
	}
	error_context_stack = callback.previous;
}

static void
drop_at_exit(int code, Datum arg)
{
	if (scratch_schemas == NIL)
		return;
	/* an arm that was ended in the middle is no longer looked at: this is not its doing */
	rtb_observe_abandon();
	if (scratch_transport->far)
	{
		drop_far_at_exit();
		return;
	}
	scratch_transport->after_error();
	while (scratch_schemas != NIL)
	{
		char	   *schema = linitial(scratch_schemas);

		/* off the list first: an error here must not come back here */
		scratch_schemas = list_delete_first(scratch_schemas);
		drop_committed(scratch_transport, schema);
	}
}

static void
remember_schema(const RtbTransport *transport, const char *schema)
{
	static bool registered = false;
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	scratch_transport = transport;
	if (!registered)
		before_shmem_exit(drop_at_exit, 0);
	registered = true;
	scratch_schemas = lappend(scratch_schemas, pstrdup(schema));
	MemoryContextSwitchTo(old);
}

static void
forget_schema(const char *schema)
{
	ListCell   *lc;

	foreach(lc, scratch_schemas)
	{
		if (strcmp(lfirst(lc), schema) == 0)
		{
			scratch_schemas = foreach_delete_current(scratch_schemas, lc);
			return;
		}
	}
}

static bool
answer(const char *question)
{
	return rtb_own_row_bool(rtb_own_rows(question, 0, NULL), 0, 1);
}

static void
refuse_without_create(void)
{
	char	   *database = rtb_own_row_text(rtb_own_rows("SELECT pg_catalog.quote_ident(pg_catalog.current_database())",
													  0, NULL), 0, 1);
	char	   *role = rtb_own_row_text(rtb_own_rows("SELECT pg_catalog.quote_ident(current_user)", 0, NULL), 0, 1);

	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for database %s", database),
			 errdetail("A fixture stands in a scratch schema, which rtbench creates and drops."),
			 rtb_own_is_far() ? errhint("Let somebody run GRANT CREATE ON DATABASE %s TO %s there.", database, role) :
			 errhint("Let somebody run GRANT CREATE ON DATABASE %s TO %s, or use transport => 'caller', which then makes temporary tables.",
					 database, role)));
}

/*
 * rtb_scratch_refuse_read_only
 *		Throws 25006 with the ways out: nothing can be made at that far end.
 *		what: that was to be done there.
 */
void
rtb_scratch_refuse_read_only(const char *what, const char *server)
{
	ereport(ERROR,
			(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
			 errmsg("cannot %s on \"%s\", which is read-only", what, server),
			 errhint("There only arms that read what is there can be compared, without a setup; or name a server that can be written.")));
}

/* a far end may be a standby, or be set so */
static void
require_writable(void)
{
	RtbOwnRows *rows = rtb_own_try("SHOW transaction_read_only", true);

	if (rows == NULL || rows->n == 0 || strcmp(rtb_own_row_text(rows, 0, 1), "on") != 0)
		return;
	rtb_scratch_refuse_read_only("set up a scenario", rtb_wire_options.name);
}

/*
 * rtb_scratch_create
 *		Create a scratch schema in the running transaction, SPI connected.
 *
 * Its name, in cxt; NULL if the role may not create schemas and the transport
 * can do without, in temporary tables.  With transactions of its own the
 * process drops it when it ends, if nobody does before.  Throws 42501 with the
 * ways out.
 */
char *
rtb_scratch_create(const RtbTransport *transport, MemoryContext cxt)
{
	int			nest = rtb_own_begin();
	char	   *schema;

	if (rtb_own_is_far())
		require_writable();
	/* another engine says so itself */
	if (!rtb_own_is_other() &&
		!answer("SELECT pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')"))
	{
		if (transport->own_transactions)
			refuse_without_create();
		rtb_own_end(nest);
		return NULL;
	}
	/* somebody else may have taken the name */
	do
		schema = rtb_own_is_other() ? rtb_engine_scratch_name(++scratch_counter)
			: psprintf("rtbench_scratch_%d_%d", MyProcPid, ++scratch_counter);
	while (!rtb_own_is_other() &&
		   answer(psprintf("SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = '%s')", schema)));
	if (transport->own_transactions)
		remember_schema(transport, schema);
	rtb_own_rows(psprintf("CREATE SCHEMA %s", quote_identifier(schema)), 0, NULL);
	if (!rtb_own_is_other())
		rtb_own_rows(psprintf("COMMENT ON SCHEMA %s IS %s", quote_identifier(schema),
							  quote_literal_cstr(rtb_scratch_comment())), 0, NULL);
	rtb_own_end(nest);
	return MemoryContextStrdup(cxt, schema);
}

/*
 * rtb_scratch_recreate
 *		Drop a scratch schema with all in it and create one of the same name and
 *		comment, in the running transaction, SPI connected.  3F000 if it is gone.
 */
void
rtb_scratch_recreate(const char *schema)
{
	char	   *params[1] = {pstrdup(schema)};
	int			nest = rtb_own_begin();
	RtbOwnRows *comment;

	if (rtb_own_is_other())
	{
		rtb_scratch_empty(schema);
		rtb_own_rows(psprintf("CREATE SCHEMA %s", quote_identifier(schema)), 0, NULL);
		return;
	}
	comment = rtb_own_rows("SELECT pg_catalog.obj_description(n.oid, 'pg_namespace')"
						   " FROM pg_catalog.pg_namespace n WHERE n.nspname = $1", 1, params);
	if (comment->n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("scratch schema \"%s\" is gone", schema),
				 errhint("An arm has dropped it, or the session that made it was ended during the run.")));
	rtb_scratch_empty(schema);
	rtb_own_rows(psprintf("CREATE SCHEMA %s", quote_identifier(schema)), 0, NULL);
	/* an arm may have taken the comment away */
	if (rtb_own_row_text(comment, 0, 1) != NULL)
		rtb_own_rows(psprintf("COMMENT ON SCHEMA %s IS %s", quote_identifier(schema),
							  quote_literal_cstr(rtb_own_row_text(comment, 0, 1))), 0, NULL);
	rtb_own_end(nest);
}

/*
 * rtb_scratch_drop
 *		Drop a committed scratch schema of this process, outside any transaction.
 */
void
rtb_scratch_drop(const char *schema)
{
	drop_committed(scratch_transport, schema);
	forget_schema(schema);
}

/* ---- what others left ---- */

/* in PG_CATCH: the error, done with, if an attempt may end so; thrown on if not */
static ErrorData *
take_refusal(MemoryContext cxt)
{
	ErrorData  *edata;

	MemoryContextSwitchTo(cxt);
	if (!rtb_own_refused())
		PG_RE_THROW();
	edata = CopyErrorData();
	FlushErrorState();
	return edata;
}

/* an attempt to drop it, in a worker; what is in the way is no matter of the run that comes next */
static void
try_to_drop(const RtbTransport *transport, const char *schema)
{
	MemoryContext cxt = CurrentMemoryContext;

	PG_TRY();
	{
		transport->begin(NULL);
		rtb_set_local("lock_timeout", SWEEP_LOCK_MS);
		rtb_scratch_empty(schema);
		transport->commit();
	}
	PG_CATCH();
	{
		ErrorData  *edata = take_refusal(cxt);

		if (transport->far)
			transport->rollback();
		else
			transport->after_error();
		MemoryContextSwitchTo(cxt);
		/* for whoever looks after the server */
		ereport(LOG,
				(errcode(edata->sqlerrcode),
				 errmsg("could not drop scratch schema %s, which a run has left: %s", schema, edata->message)));
		FreeErrorData(edata);
	}
	PG_END_TRY();
}

/*
 * rtb_scratch_sweep
 *		Drop what runs of this role left whose process was killed, as far as that
 *		is possible at once.  In a worker, outside any transaction.
 */
void
rtb_scratch_sweep(const RtbTransport *transport)
{
	MemoryContext cxt = CurrentMemoryContext;
	int64		started = rtb_clock_ns();
	List	   *left;
	ListCell   *lc;
	int			nest;

	transport->begin(NULL);
	nest = rtb_own_begin();
	left = rtb_scratch_left_over(cxt);
	rtb_own_end(nest);
	transport->commit();
	MemoryContextSwitchTo(cxt);

	foreach(lc, left)
	{
		/* there is always a next run */
		if (rtb_clock_ns() - started > SWEEP_NS)
			break;
		try_to_drop(transport, lfirst(lc));
	}
	MemoryContextSwitchTo(cxt);
}

/* in a transaction of its own there: did it go? */
static bool
cleaned_up(const char *schema)
{
	MemoryContext cxt = CurrentMemoryContext;
	volatile bool dropped = false;

	(void) rtb_own_rows("BEGIN", 0, NULL);
	PG_TRY();
	{
		if (!rtb_own_is_other())
			rtb_set_local("lock_timeout", CLEANUP_LOCK_MS);
		rtb_scratch_empty(schema);
		(void) rtb_own_rows("COMMIT", 0, NULL);
		dropped = true;
	}
	PG_CATCH();
	{
		ErrorData  *edata = take_refusal(cxt);

		ereport(WARNING,
				(errcode(edata->sqlerrcode),
				 errmsg("could not drop scratch schema %s", schema),
				 errdetail("The far end says: %s", edata->message),
				 errhint("It stays there: call rtbench.cleanup(%s) again when nobody uses it.",
						 quote_literal_cstr(rtb_wire_options.name))));
		FreeErrorData(edata);
	}
	PG_END_TRY();
	if (!dropped && rtb_connection_in_block(rtb_wire))
		(void) rtb_own_rows("ROLLBACK", 0, NULL);
	return dropped;
}

/*
 * rtb_scratch_cleanup
 *		The same where the current route of own statements leads, outside any
 *		transaction there; how many were dropped.  What could not be is named.
 */
int
rtb_scratch_cleanup(void)
{
	List	   *left = rtb_own_is_other() ? rtb_engine_left_over() : rtb_scratch_left_over(CurrentMemoryContext);
	ListCell   *lc;
	int			dropped = 0;

	foreach(lc, left)
		dropped += cleaned_up(lfirst(lc));
	if (!rtb_own_is_other())
		rtb_scratch_tell_in_use();
	return dropped;
}
