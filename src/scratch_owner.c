/*
 * scratch_owner.c
 *	  Whose a scratch schema is, as its comment says, and which ones are nobody's.
 *
 * A comment names the process that made the schema, or the far end's backend.
 * Behind a pooler a run outlives the backends that it finds, so there the
 * comment says until when the schema is in use, by the far end's clock; a run
 * puts that off from time to time.
 *
 * Memory: nothing is kept.
 */
#include "postgres.h"

#include "scratch.h"

#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "own_sql.h"
#include "probe.h"
#include "wire.h"

#define COMMENT			"rtbench scratch schema "
#define OF_PROCESS		COMMENT "of process "
#define OF_POOLED		COMMENT "made through a pooler, in use until "

/* a point in time that sorts as text, whatever DateStyle and TimeZone are there */
#define UTC_TEXT(time) \
	"pg_catalog.to_char((" time ") AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')"

/* beyond the time that was asked for: pilots, setups, passes that last longer, clocks that are set */
#define ROOM_SECONDS	(24 * 3600)
#define MOST_SECONDS	(INT64CONST(10) * 365 * 24 * 3600)
/* how often a session puts it off */
#define RENEW_NS		(INT64CONST(3600) * 1000000000)

/* scratch schemas of this role; no backslash: how it is read is a setting */
#define SCHEMAS_SQL \
	"  FROM pg_catalog.pg_namespace n," \
	"       pg_catalog.regexp_matches(pg_catalog.obj_description(n.oid, 'pg_namespace')," \
	"         '^(?:" OF_PROCESS "([0-9]+) started at ([0-9]+)|" OF_POOLED "([-0-9 :]+) UTC)$') AS m" \
	" WHERE pg_catalog.left(n.nspname, 16) = 'rtbench_scratch_'" \
	"   AND n.nspowner = (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user)"

static const char left_over_sql[] =
"SELECT n.nspname::text" SCHEMAS_SQL
"   AND CASE WHEN m[3] IS NOT NULL"
"       THEN m[3] COLLATE pg_catalog.\"C\" < " UTC_TEXT("pg_catalog.clock_timestamp()")
"       ELSE NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity a"
"         WHERE a.pid::text = m[1]"
"           AND (a.backend_start IS NULL OR m[2] ="
"                (extract(epoch FROM a.backend_start) * 1000000)::bigint::text)) END";

static const char in_use_sql[] =
"SELECT n.nspname::text, m[3]" SCHEMAS_SQL
"   AND m[3] COLLATE pg_catalog.\"C\" >= " UTC_TEXT("pg_catalog.clock_timestamp()");

static int64 expected_seconds = 0;	/* of this process's run or load */

/*
 * rtb_scratch_expect
 *		So long will a run or a load last, as far as is known: before its scratch
 *		schemas are made.
 */
void
rtb_scratch_expect(int64 milliseconds)
{
	/* twice: the first interval of a run may take it past its max_time */
	expected_seconds = Min(milliseconds / 1000, MOST_SECONDS) * 2;
}

static char *
until_sql(void)
{
	return psprintf("SELECT " UTC_TEXT("pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => " INT64_FORMAT ")"),
					expected_seconds + ROOM_SECONDS);
}

static int64
my_start_microseconds(void)
{
	return MyStartTimestamp +
		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * USECS_PER_SEC;
}

/*
 * rtb_scratch_comment
 *		What makes a scratch schema of this process findable, in a transaction
 *		where it is made; not on another engine.
 */
char *
rtb_scratch_comment(void)
{
	RtbOwnRows *rows;

	if (!rtb_own_is_far() || !rtb_wire_options.is_server)
		return psprintf(OF_PROCESS "%d started at " INT64_FORMAT, MyProcPid, my_start_microseconds());
	if (rtb_wire_pooled())
		return psprintf(OF_POOLED "%s UTC", rtb_own_row_text(rtb_own_rows(until_sql(), 0, NULL), 0, 1));
	rows = rtb_own_rows("SELECT a.pid, (extract(epoch FROM a.backend_start) * 1000000)::bigint"
						" FROM pg_catalog.pg_stat_activity a WHERE a.pid = pg_catalog.pg_backend_pid()", 0, NULL);
	if (rows->n == 0)
		return psprintf(OF_PROCESS "0 started at 0");
	return psprintf(OF_PROCESS "%s started at %s", rtb_own_row_text(rows, 0, 1), rtb_own_row_text(rows, 0, 2));
}

/*
 * rtb_scratch_renew
 *		A session still uses a schema that was made through a pooler: put off
 *		the time until which it is in use, if *renewed_ns, when it last did, is
 *		long ago.  Outside any transaction.
 */
void
rtb_scratch_renew(const RtbTransport *transport, const char *schema, int64 *renewed_ns)
{
	char	   *params[1] = {unconstify(char *, schema)};
	int64		now = rtb_clock_ns();
	MemoryContext old = CurrentMemoryContext;
	RtbOwnRows *rows;

	if (schema == NULL || !transport->far || !rtb_wire_options.is_server || !rtb_wire_pooled() ||
		rtb_own_is_other() || (*renewed_ns != 0 && now - *renewed_ns < RENEW_NS))
		return;
	*renewed_ns = now;
	transport->begin(NULL);
	/* an arm may have taken the comment away, or the schema: that is told where it is missed */
	rows = rtb_own_rows("SELECT 1 FROM pg_catalog.pg_namespace n WHERE n.nspname = $1"
						" AND pg_catalog.strpos(pg_catalog.obj_description(n.oid, 'pg_namespace'), '" OF_POOLED "') = 1",
						1, params);
	if (rows->n > 0)
		(void) rtb_own_rows(psprintf("COMMENT ON SCHEMA %s IS %s", quote_identifier(schema),
									 quote_literal_cstr(rtb_scratch_comment())), 0, NULL);
	transport->commit();
	MemoryContextSwitchTo(old);
}

/*
 * rtb_scratch_left_over
 *		Names of the scratch schemas of this role that nobody uses any more:
 *		list of char *, in cxt.
 *
 * Left over is what belongs to the current role, bears the comment of a scratch
 * schema, and whose process (by number and start) is not there, or whose time is
 * past.  Not on another engine.
 */
List *
rtb_scratch_left_over(MemoryContext cxt)
{
	RtbOwnRows *rows = rtb_own_rows(left_over_sql, 0, NULL);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	List	   *left = NIL;

	for (int i = 0; i < rows->n; i++)
		left = lappend(left, pstrdup(rtb_own_row_text(rows, i, 1)));
	MemoryContextSwitchTo(old);
	return left;
}

/*
 * rtb_scratch_tell_in_use
 *		Say which were made through a pooler and may be left: nobody can see it,
 *		and somebody may know it.  Not on another engine.
 */
void
rtb_scratch_tell_in_use(void)
{
	RtbOwnRows *rows = rtb_own_rows(in_use_sql, 0, NULL);

	for (int i = 0; i < rows->n; i++)
	{
		const char *schema = quote_identifier(rtb_own_row_text(rows, i, 1));

		ereport(NOTICE,
				(errmsg("scratch schema %s was made through a pooler, and counts as in use until %s UTC",
						schema, rtb_own_row_text(rows, i, 2)),
				 errhint("If its run is known to be gone, drop it there: DROP SCHEMA %s CASCADE.", schema)));
	}
}
