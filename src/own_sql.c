/*
 * own_sql.c
 *	  rtbench's own statements, apart from the arms'.
 *
 * They run as the calling role, find only pg_catalog in their search path,
 * and are kept out of pg_stat_statements, which would otherwise show the
 * tool's work as the user's.
 */
#include "postgres.h"

#include "compat.h"
#include "own_sql.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "nodes/parsenodes.h"
#include "nodes/value.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/snapmgr.h"

static RtbOwnRoute far_route = NULL;
static bool other_engine = false;

/*
 * rtb_set_far
 *		Set a parameter at the far end, in a transaction: until it ends if local,
 *		of the session otherwise.  Another engine need not have it.
 */
void
rtb_set_far(const char *name, const char *value, bool local)
{
	char	   *params[2] = {pstrdup(name), pstrdup(value)};

	if (!other_engine)
	{
		(void) far_route(local ? "SELECT pg_catalog.set_config($1, $2, true)" :
						 "SELECT pg_catalog.set_config($1, $2, false)", 2, params);
		return;
	}
	/* a list of names, each quoted where need be */
	if (strcmp(name, "search_path") != 0 || value[0] == '\0')
		value = quote_literal_cstr(value);
	(void) rtb_own_try(psprintf("SET %s %s TO %s", local ? "LOCAL" : "SESSION", name, value), true);
}

/*
 * rtb_set_local
 *		Set a parameter until the running GUC nest level or (sub)transaction ends;
 *		at a far end until its transaction does.
 */
void
rtb_set_local(const char *name, const char *value)
{
	if (far_route != NULL)
	{
		rtb_set_far(name, value, true);
		return;
	}
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/*
 * rtb_own_nest
 *		Settings from here on hold until rtb_own_end() is given the result, or
 *		the transaction ends.
 */
int
rtb_own_nest(void)
{
	return far_route != NULL ? 0 : NewGUCNestLevel();
}

/*
 * rtb_own_begin
 *		Settings for rtbench's own statements; pass the result to rtb_own_end.
 */
int
rtb_own_begin(void)
{
	int			nestlevel;

	if (far_route != NULL)
		return 0;
	nestlevel = NewGUCNestLevel();

	rtb_set_local("search_path", "pg_catalog, pg_temp");
	rtb_set_local("row_security", "on");
	/* only a superuser may set it, but these are not the user's statements */
	if (GetConfigOption("pg_stat_statements.track", true, false) != NULL)
		(void) set_config_option("pg_stat_statements.track", "none", PGC_SUSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	return nestlevel;
}

void
rtb_own_end(int nestlevel)
{
	if (nestlevel > 0)
		AtEOXact_GUC(true, nestlevel);
}

/*
 * rtb_own_query
 *		Run one statement by SPI (connected by the caller); number of rows.
 *
 * Rows stand in SPI_tuptable.  Throws what the statement throws.
 */
uint64
rtb_own_query(const char *sql, int nargs, Oid *types, Datum *values, const char *nulls)
{
	int			rc = SPI_execute_with_args(sql, nargs, types, values, nulls, false, 0);

	if (rc < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not run a statement of rtbench's own: %s",
						SPI_result_code_string(rc)),
				 errcontext("SQL statement \"%s\"", sql)));
	return SPI_processed;
}

/*
 * What a statement of rtbench's own returned is not what it was asked for: at
 * a far end functions and tables may be others, or rows may be hidden.
 */
static void
require_value(uint64 row, int column, uint64 rows, int columns)
{
	if (row < rows && column >= 1 && column <= columns)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CARDINALITY_VIOLATION),
			 errmsg("a statement of rtbench's own returned " UINT64_FORMAT " rows of %d columns", rows, columns),
			 errdetail("Column %d of row " UINT64_FORMAT " is needed.", column, row + 1)));
}

static void
require_own_value(uint64 row, int column)
{
	if (SPI_tuptable == NULL)
		require_value(row, column, 0, 0);
	else
		require_value(row, column, SPI_tuptable->numvals, SPI_tuptable->tupdesc->natts);
}

/* a result's value in text form (SPI's context), NULL of a null; 21000 without such a value */
char *
rtb_own_text(uint64 row, int column)
{
	require_own_value(row, column);
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
}

/* a boolean result; a null is false */
bool
rtb_own_bool(uint64 row, int column)
{
	bool		isnull;
	Datum		value;

	require_own_value(row, column);
	value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, &isnull);
	return !isnull && DatumGetBool(value);
}

/* a bigint result; a null is 0 */
int64
rtb_own_int64(uint64 row, int column)
{
	bool		isnull;
	Datum		value;

	require_own_value(row, column);
	value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, &isnull);
	return isnull ? 0 : DatumGetInt64(value);
}

/* ---- wherever the arms' transactions are ---- */

/*
 * rtb_own_route
 *		From here on rtb_own_rows() sends its statements there; NULL: they run
 *		by SPI in this process.  other: what is there is not PostgreSQL.
 */
void
rtb_own_route(RtbOwnRoute route, bool other)
{
	far_route = route;
	other_engine = other;
}

/*
 * rtb_own_is_other
 *		Do they run on an engine of which nothing but the protocol is known?
 */
bool
rtb_own_is_other(void)
{
	return other_engine;
}

/*
 * rtb_own_refused
 *		In a handler: is the error at hand the statement's, not the connection's
 *		end or a cancel?
 */
bool
rtb_own_refused(void)
{
	int			category = ERRCODE_TO_CATEGORY(geterrcode());

	return category != ERRCODE_CONNECTION_EXCEPTION && category != ERRCODE_OPERATOR_INTERVENTION;
}

/*
 * rtb_own_try
 *		A statement at the far end that it may refuse, which is an answer, too:
 *		NULL then.  in_block: in a transaction, which goes on all the same.
 */
RtbOwnRows *
rtb_own_try(const char *sql, bool in_block)
{
	MemoryContext cxt = CurrentMemoryContext;
	RtbOwnRows *volatile rows = NULL;

	Assert(far_route != NULL);
	if (in_block)
		(void) far_route("SAVEPOINT rtbench_try", 0, NULL);
	PG_TRY();
	{
		rows = far_route(sql, 0, NULL);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		if (!rtb_own_refused())
			PG_RE_THROW();
		FlushErrorState();
	}
	PG_END_TRY();
	if (in_block && rows == NULL)
		(void) far_route("ROLLBACK TO SAVEPOINT rtbench_try", 0, NULL);
	if (in_block)
		(void) far_route("RELEASE SAVEPOINT rtbench_try", 0, NULL);
	return rows;
}

/*
 * rtb_own_is_far
 *		Do rtbench's own statements run on another server, or another backend?
 */
bool
rtb_own_is_far(void)
{
	return far_route != NULL;
}

/* by SPI, connected by the caller: parameters are texts that the statement casts */
static RtbOwnRows *
rows_here(const char *sql, int nparams, char **params)
{
	MemoryContext cxt = CurrentMemoryContext;
	RtbOwnRows    *rows = palloc0(sizeof(RtbOwnRows));
	Oid		   *types = palloc(sizeof(Oid) * Max(nparams, 1));
	Datum	   *values = palloc(sizeof(Datum) * Max(nparams, 1));

	for (int i = 0; i < nparams; i++)
	{
		types[i] = TEXTOID;
		values[i] = CStringGetTextDatum(params[i]);
	}
	rows->n = (int) rtb_own_query(sql, nparams, types, values, NULL);
	MemoryContextSwitchTo(cxt); /* SPI leaves its own */
	if (SPI_tuptable == NULL)
	{
		rows->n = 0;
		return rows;
	}
	rows->columns = SPI_tuptable->tupdesc->natts;
	rows->values = palloc(sizeof(char *) * Max(rows->n * rows->columns, 1));
	for (int i = 0; i < rows->n; i++)
	{
		for (int c = 0; c < rows->columns; c++)
			rows->values[i * rows->columns + c] = rtb_own_text(i, c + 1);
	}
	SPI_freetuptable(SPI_tuptable);
	return rows;
}

/*
 * rtb_own_rows
 *		Run one statement where the arms' transactions are, in the running one;
 *		its rows as text, in the current memory context.
 *
 * Every parameter is of type text: the statement casts it.  Between
 * rtb_own_begin() and rtb_own_end().  Throws what the statement throws.
 */
RtbOwnRows *
rtb_own_rows(const char *sql, int nparams, char **params)
{
	return far_route != NULL ? far_route(sql, nparams, params) : rows_here(sql, nparams, params);
}

/* a value as text, NULL of a null; columns from 1; 21000 without such a value */
char *
rtb_own_row_text(const RtbOwnRows *rows, int row, int column)
{
	require_value(row, column, rows->n, rows->columns);
	return rows->values[row * rows->columns + column - 1];
}

/* a boolean; a null is false */
bool
rtb_own_row_bool(const RtbOwnRows *rows, int row, int column)
{
	const char *value = rtb_own_row_text(rows, row, column);

	return value != NULL && value[0] == 't';
}

/* a bigint; a null is 0 */
int64
rtb_own_row_int64(const RtbOwnRows *rows, int row, int column)
{
	const char *value = rtb_own_row_text(rows, row, column);

	return value != NULL ? pg_strtoint64(value) : 0;
}

/*
 * rtb_prepared_statements
 *		Names of the statements that SQL's PREPARE made in this process, as
 *		String nodes in the current context.  In a transaction.
 */
List *
rtb_prepared_statements(void)
{
	MemoryContext cxt = CurrentMemoryContext;
	List	   *names = NIL;
	int			nest;
	uint64		n;

	SPI_connect();
	nest = rtb_own_begin();
	n = rtb_own_query("SELECT name FROM pg_catalog.pg_prepared_statement()", 0, NULL, NULL, NULL);
	for (uint64 i = 0; i < n; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(cxt);

		names = lappend(names, makeString(pstrdup(rtb_own_text(i, 1))));
		MemoryContextSwitchTo(old);
	}
	rtb_own_end(nest);
	SPI_finish();
	MemoryContextSwitchTo(cxt);
	return names;
}

/*
 * rtb_toplevel
 *		Run one statement through a portal, with transactions of its own.
 *
 * VACUUM and whatever else commits inside cannot run under SPI.  Must be
 * called outside any transaction; throws what the statement throws, which
 * leaves an open transaction for the caller to abort.
 */
void
rtb_toplevel(const char *sql)
{
	static MemoryContext statement_cxt = NULL;
	MemoryContext old = CurrentMemoryContext;
	RawStmt    *raw;
	List	   *queries;
	List	   *plans;
	Portal		portal;
	QueryCompletion qc;

	/* the parse tree must outlive the transactions that the statement ends */
	if (statement_cxt == NULL)
		statement_cxt = AllocSetContextCreate(TopMemoryContext, "rtbench top-level statement",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(statement_cxt);

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	(void) NewGUCNestLevel();	/* undone when the transaction ends */
	if (GetConfigOption("pg_stat_statements.track", true, false) != NULL)
		(void) set_config_option("pg_stat_statements.track", "none", PGC_SUSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);

	MemoryContextSwitchTo(statement_cxt);
	raw = linitial_node(RawStmt, raw_parser(sql, RAW_PARSE_DEFAULT));
	PushActiveSnapshot(GetTransactionSnapshot());
	queries = pg_analyze_and_rewrite_fixedparams(raw, sql, NULL, 0, NULL);
	plans = pg_plan_queries(queries, sql, CURSOR_OPT_PARALLEL_OK, NULL);
	PopActiveSnapshot();

	portal = CreatePortal("", true, true);
	portal->visible = false;
	PortalDefineQuery(portal, NULL, sql, CreateCommandTag(raw->stmt), plans, NULL);
	PortalStart(portal, NULL, 0, InvalidSnapshot);
	(void) rtb_portal_run(portal, true, None_Receiver, &qc);
	PortalDrop(portal, false);
	CommitTransactionCommand();
	MemoryContextSwitchTo(old);
}
