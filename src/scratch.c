/*
 * scratch.c
 *	  Scratch schemas: made, emptied, and gone whatever happens.
 *
 * The process that makes a scratch schema drops it: at the end of the point,
 * or from a before_shmem_exit callback that is registered before CREATE
 * SCHEMA and so survives errors, cancel and SIGTERM.  For kill -9 the next
 * run of the same role drops schemas whose maker, named in the schema's
 * comment, is gone.
 *
 * Memory: names are kept in TopMemoryContext, because the exit callback needs
 * them.
 */
#include "postgres.h"

#include "scratch.h"

#include "datatype/timestamp.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "observer.h"
#include "other_engine.h"
#include "own_sql.h"
#include "wire.h"

#define SCRATCH_COMMENT "rtbench scratch schema of process "

/* how long a process that ends waits for a far end to let it connect, and to drop a schema */
#define DROP_MS		4000

/* scratch schemas of this process that are (or may be) committed */
static List *scratch_schemas = NIL;
static int	scratch_counter = 0;
static const RtbTransport *scratch_transport;	/* by which they were made */

static int64
my_start_microseconds(void)
{
	return MyStartTimestamp +
		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * USECS_PER_SEC;
}

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

/* a far end may be a standby, or be set so */
static void
require_writable(void)
{
	RtbOwnRows *rows = rtb_own_try("SHOW transaction_read_only", true);

	if (rows == NULL || rows->n == 0 || strcmp(rtb_own_row_text(rows, 0, 1), "on") != 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
			 errmsg("cannot set up a scenario on \"%s\", which is read-only", rtb_wire_options.name),
			 errhint("There only arms that read what is there can be compared, without a setup; or name a server that can be written.")));
}

/* makes a scratch schema findable: whose is it?  On another server that is the session there */
static char *
comment_of_process(void)
{
	RtbOwnRows *rows;

	if (!rtb_own_is_far() || !rtb_wire_options.is_server)
		return psprintf(SCRATCH_COMMENT "%d started at " INT64_FORMAT, MyProcPid, my_start_microseconds());
	rows = rtb_own_rows("SELECT a.pid, (extract(epoch FROM a.backend_start) * 1000000)::bigint"
						" FROM pg_catalog.pg_stat_activity a WHERE a.pid = pg_catalog.pg_backend_pid()", 0, NULL);
	if (rows->n == 0)
		return psprintf(SCRATCH_COMMENT "0 started at 0");
	return psprintf(SCRATCH_COMMENT "%s started at %s", rtb_own_row_text(rows, 0, 1), rtb_own_row_text(rows, 0, 2));
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
							  quote_literal_cstr(comment_of_process())), 0, NULL);
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

/* scratch schemas of this role whose maker is gone; no backslash: how it is read is a setting */
static const char left_over_sql[] =
"SELECT n.nspname::text"
"  FROM pg_catalog.pg_namespace n,"
"       pg_catalog.regexp_matches(pg_catalog.obj_description(n.oid, 'pg_namespace'),"
"         '^" SCRATCH_COMMENT "([0-9]+) started at ([0-9]+)$') AS m"
" WHERE pg_catalog.left(n.nspname, 16) = 'rtbench_scratch_'"
"   AND n.nspowner = (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user)"
"   AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity a"
"         WHERE a.pid::text = m[1]"
"           AND (a.backend_start IS NULL OR m[2] ="
"                (extract(epoch FROM a.backend_start) * 1000000)::bigint::text))";

/*
 * rtb_scratch_sweep
 *		Drop what runs of this role left whose process was killed.
 *
 * In a worker, outside any transaction.  A schema counts as left over if it
 * belongs to the current role, bears the comment of a scratch schema, and no
 * process with that pid and start time is there.
 */
void
rtb_scratch_sweep(const RtbTransport *transport)
{
	MemoryContext cxt = CurrentMemoryContext;
	List	   *left = NIL;
	RtbOwnRows    *rows;
	ListCell   *lc;
	int			nest;

	transport->begin(NULL);
	nest = rtb_own_begin();
	rows = rtb_own_rows(left_over_sql, 0, NULL);
	for (int i = 0; i < rows->n; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(cxt);

		left = lappend(left, pstrdup(rtb_own_row_text(rows, i, 1)));
		MemoryContextSwitchTo(old);
	}
	rtb_own_end(nest);
	transport->commit();
	MemoryContextSwitchTo(cxt);

	foreach(lc, left)
		drop_committed(transport, lfirst(lc));
	MemoryContextSwitchTo(cxt);
}

/*
 * rtb_scratch_cleanup
 *		The same where the current route of own statements leads, outside any
 *		transaction there; how many were dropped.
 */
int
rtb_scratch_cleanup(void)
{
	List	   *left = NIL;
	ListCell   *lc;

	if (rtb_own_is_other())
		left = rtb_engine_left_over();
	else
	{
		RtbOwnRows *rows = rtb_own_rows(left_over_sql, 0, NULL);

		for (int i = 0; i < rows->n; i++)
			left = lappend(left, rtb_own_row_text(rows, i, 1));
	}
	foreach(lc, left)
	{
		(void) rtb_own_rows("BEGIN", 0, NULL);
		rtb_scratch_empty(lfirst(lc));
		(void) rtb_own_rows("COMMIT", 0, NULL);
	}
	return list_length(left);
}
