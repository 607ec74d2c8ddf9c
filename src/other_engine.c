/*
 * other_engine.c
 *	  What is asked of an engine that speaks the protocol and is not PostgreSQL.
 *
 * Of such a far end nothing is taken for granted but the protocol, transactions
 * and savepoints by SQL, schemas, and the views of the SQL standard's
 * information_schema.  It does not tell which tables a transaction has
 * written: of a fixture all tables are compared, and where arms write
 * elsewhere only a check query can tell.  Nothing is vacuumed.
 *
 * Whose a scratch schema is stands in its name, since comments, and sessions
 * by their start, are PostgreSQL's own.
 *
 * Memory: everything is palloc'd in the current context, unless said.
 */
#include "postgres.h"

#include "other_engine.h"

#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "digest.h"
#include "fixture.h"
#include "own_sql.h"
#include "written.h"

#define NAME_PREFIX	"rtbench_scratch_"

/*
 * Answers true where the far end is PostgreSQL, as far as its catalogs and what
 * they tell of a running transaction are needed: an empty pg_locks, which some
 * engines have, is none.  An error is a no.
 */
const char	rtb_engine_is_postgres_sql[] =
"SELECT pg_catalog.pg_current_xact_id_if_assigned() IS NULL"
" AND EXISTS (SELECT FROM pg_catalog.pg_locks WHERE pid = pg_catalog.pg_backend_pid() AND locktype = 'relation')"
" AND EXISTS (SELECT FROM pg_catalog.pg_stat_activity WHERE pid = pg_catalog.pg_backend_pid())"
" AND EXISTS (SELECT FROM pg_catalog.pg_class WHERE oid = 'pg_catalog.pg_trigger'::pg_catalog.regclass)"
" AND current_user::pg_catalog.regrole IS NOT NULL";

/* a column of its table, unless it is to be left out */
static void
add_column(RtbRelation *rel, const char *column, List *ignore_columns)
{
	ListCell   *lc;

	foreach(lc, ignore_columns)
	{
		if (strcmp(lfirst(lc), column) == 0)
		{
			rel->ignored = bms_add_member(rel->ignored, foreach_current_index(lc));
			return;
		}
	}
	column = quote_identifier(column);
	rel->columns = rel->columns ? psprintf("%s, %s", rel->columns, column) : pstrdup(column);
}

/*
 * rtb_engine_tables
 *		The tables of a scratch schema as RtbRelation *, by name.  In a
 *		transaction.
 */
List *
rtb_engine_tables(const char *schema, List *ignore_columns)
{
	char	   *params[1] = {schema ? pstrdup(schema) : ""};
	List	   *tables = NIL;
	RtbRelation *rel = NULL;
	RtbOwnRows *rows = rtb_own_rows("SELECT t.table_name, c.column_name FROM information_schema.tables t"
									" JOIN information_schema.columns c ON c.table_schema = t.table_schema AND c.table_name = t.table_name"
									" WHERE t.table_schema = $1 AND t.table_type = 'BASE TABLE'"
									" ORDER BY t.table_name, c.ordinal_position", 1, params);

	for (int i = 0; i < rows->n; i++)
	{
		const char *name = rtb_own_row_text(rows, i, 1);
		char	   *label = rtb_digest_label(NULL, name);

		if (rel == NULL || strcmp(rel->label, label) != 0)
		{
			rel = palloc0(sizeof(RtbRelation));
			rel->relkind = RELKIND_RELATION;
			rel->scratch = true;
			rel->label = label;
			rel->name = quote_qualified_identifier(schema, name);
			rel->tuples = -1;
			tables = lappend(tables, rel);
		}
		add_column(rel, rtb_own_row_text(rows, i, 2), ignore_columns);
	}
	return tables;
}

/*
 * rtb_engine_sequences
 *		The sequences of a scratch schema as RtbSequence * in cxt, each with
 *		where it stands, as far as the engine tells.  In a transaction.
 */
List *
rtb_engine_sequences(const char *schema, MemoryContext cxt)
{
	char	   *params[1] = {pstrdup(schema)};
	RtbOwnRows *rows = rtb_own_rows("SELECT sequence_name FROM information_schema.sequences"
									" WHERE sequence_schema = $1 ORDER BY sequence_name", 1, params);
	List	   *sequences = NIL;

	for (int i = 0; i < rows->n; i++)
	{
		const char *name = quote_qualified_identifier(schema, rtb_own_row_text(rows, i, 1));
		RtbOwnRows *state = rtb_own_try(psprintf("SELECT last_value, is_called FROM %s", name), true);
		MemoryContext old = MemoryContextSwitchTo(cxt);

		if (state != NULL && state->n == 1)
		{
			RtbSequence *seq = palloc0(sizeof(RtbSequence));

			seq->name = pstrdup(name);
			seq->last_value = rtb_own_row_int64(state, 0, 1);
			seq->is_called = rtb_own_row_bool(state, 0, 2);
			sequences = lappend(sequences, seq);
		}
		MemoryContextSwitchTo(old);
	}
	return sequences;
}

/*
 * rtb_engine_analyze
 *		Tell the engine's planner what is in these tables (RtbRelation *), if it
 *		knows ANALYZE.  Outside any transaction.
 */
void
rtb_engine_analyze(List *tables)
{
	ListCell   *lc;

	foreach(lc, tables)
		(void) rtb_own_try(psprintf("ANALYZE %s", ((RtbRelation *) lfirst(lc))->name), false);
}

/*
 * rtb_engine_defers
 *		Are there constraints that are only checked at the end of a transaction,
 *		and can that be had sooner?  In a transaction, before anything is done.
 */
bool
rtb_engine_defers(void)
{
	RtbOwnRows *rows = rtb_own_try("SELECT 1 FROM information_schema.table_constraints WHERE initially_deferred = 'YES'", true);

	return rows != NULL && rows->n > 0 && rtb_own_try("SET CONSTRAINTS ALL IMMEDIATE", true) != NULL;
}

/*
 * rtb_engine_scratch_name
 *		A name that says which server's process made the schema, and when that
 *		began, since processes' numbers come again.
 */
char *
rtb_engine_scratch_name(int number)
{
	return psprintf(NAME_PREFIX UINT64_FORMAT "_%d_" INT64_FORMAT "_%d",
					GetSystemIdentifier(), MyProcPid, (int64) MyStartTimestamp / USECS_PER_SEC, number);
}

/*
 * rtb_engine_left_over
 *		Names of scratch schemas that processes of this server made, which are
 *		gone: list of char *.
 */
List *
rtb_engine_left_over(void)
{
	RtbOwnRows *rows = rtb_own_rows("SELECT schema_name FROM information_schema.schemata", 0, NULL);
	List	   *left = NIL;

	for (int i = 0; i < rows->n; i++)
	{
		char	   *name = rtb_own_row_text(rows, i, 1);
		unsigned long long system;
		long long	started;
		int			pid;
		int			number;

		if (name != NULL && sscanf(name, NAME_PREFIX "%llu_%d_%lld_%d", &system, &pid, &started, &number) == 4 &&
			system == GetSystemIdentifier() && BackendPidGetProc(pid) == NULL)
			left = lappend(left, name);
	}
	return left;
}
