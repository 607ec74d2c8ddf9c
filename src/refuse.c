/*
 * refuse.c
 *	  What cannot be part of a scenario or arm, by name, with the way out.
 *
 * Told by the raw parse tree.  What only the catalogs know (REINDEX of a
 * partitioned table) or a body does (COMMIT in a procedure) fails when it runs.
 */
#include "postgres.h"

#include <ctype.h>

#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/value.h"

#include "compat.h"
#include "script.h"

#define HINT_ONE_TRANSACTION \
	"A pass is one transaction, which rtbench begins and rolls back: leave it out."
#define HINT_COMMIT \
	"Leave it out: rtbench begins and ends transactions. An arm commits by ending => 'commit', a loop by commit_every => n."
#define HINT_SAVEPOINT \
	"It may only be a statement of an arm's own step, not be generated, nor stand in a setup or \"before\"."
#define HINT_CONCURRENTLY \
	"Leave out CONCURRENTLY: the fixture is used by nobody else."
#define HINT_CLUSTER_WIDE \
	"It cannot be rolled back: do it once, outside rtbench."

typedef struct Refusal
{
	const char *what;			/* NULL: not refused */
	const char *hint;
} Refusal;

static Refusal
transaction_refusal(const TransactionStmt *stmt)
{
	switch (stmt->kind)
	{
		case TRANS_STMT_BEGIN:
			return (Refusal) {"BEGIN", HINT_COMMIT};
		case TRANS_STMT_START:
			return (Refusal) {"START TRANSACTION", HINT_COMMIT};
		case TRANS_STMT_COMMIT:
			return (Refusal) {"COMMIT", HINT_COMMIT};
		case TRANS_STMT_ROLLBACK:
			return (Refusal) {"ROLLBACK", HINT_ONE_TRANSACTION};
		case TRANS_STMT_SAVEPOINT:
			return (Refusal) {"SAVEPOINT", HINT_SAVEPOINT};
		case TRANS_STMT_RELEASE:
			return (Refusal) {"RELEASE SAVEPOINT", HINT_SAVEPOINT};
		case TRANS_STMT_ROLLBACK_TO:
			return (Refusal) {"ROLLBACK TO SAVEPOINT", HINT_SAVEPOINT};
		case TRANS_STMT_PREPARE:
			return (Refusal) {"PREPARE TRANSACTION", HINT_ONE_TRANSACTION};
		case TRANS_STMT_COMMIT_PREPARED:
			return (Refusal) {"COMMIT PREPARED", HINT_ONE_TRANSACTION};
		case TRANS_STMT_ROLLBACK_PREPARED:
			return (Refusal) {"ROLLBACK PREPARED", HINT_ONE_TRANSACTION};
	}
	return (Refusal) {"transaction control", HINT_ONE_TRANSACTION};
}

static bool
has_true_option(List *options, const char *name)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *option = lfirst_node(DefElem, lc);

		/* its argument, if any, is read when it runs: named is enough */
		if (strcmp(option->defname, name) == 0)
			return true;
	}
	return false;
}

static Refusal
reindex_refusal(const ReindexStmt *stmt)
{
	static const char *const hint = "Name the tables or indexes, each in a REINDEX of its own.";

	if (has_true_option(stmt->params, "concurrently"))
		return (Refusal) {"REINDEX CONCURRENTLY", HINT_CONCURRENTLY};
	switch (stmt->kind)
	{
		case REINDEX_OBJECT_SCHEMA:
			return (Refusal) {"REINDEX SCHEMA", hint};
		case REINDEX_OBJECT_SYSTEM:
			return (Refusal) {"REINDEX SYSTEM", hint};
		case REINDEX_OBJECT_DATABASE:
			return (Refusal) {"REINDEX DATABASE", hint};
		default:
			return (Refusal) {NULL, NULL};
	}
}

static Refusal
cluster_refusal(const RtbClusterStmt *stmt)
{
	if (has_true_option(RTB_CLUSTER_PARAMS(stmt), "concurrently"))
		return (Refusal) {"REPACK (CONCURRENTLY)", HINT_CONCURRENTLY};
	if (stmt->relation != NULL)
		return (Refusal) {NULL, NULL};
	return (Refusal) {RTB_CLUSTER_IS_REPACK(stmt) ? "REPACK without a table" : "CLUSTER without a table", "Name the table."};
}

static Refusal
copy_refusal(const CopyStmt *stmt)
{
	if (stmt->filename != NULL)
		return (Refusal) {NULL, NULL};
	if (stmt->is_from)
		return (Refusal) {"COPY FROM STDIN",
		"rtbench.copy_rows(query, 'COPY ... FROM STDIN') sends a query's rows; COPY from a file on the server can be a statement."};
	return (Refusal) {"COPY TO STDOUT",
	"Use the query itself, whose rows are read and counted, or COPY to a file on the server."};
}

static Refusal
alter_table_refusal(const AlterTableStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

		if (cmd->subtype == AT_DetachPartition && ((PartitionCmd *) cmd->def)->concurrent)
			return (Refusal) {"ALTER TABLE ... DETACH PARTITION CONCURRENTLY", HINT_CONCURRENTLY};
	}
	return (Refusal) {NULL, NULL};
}

static Refusal
refusal(const Node *stmt)
{
	switch (nodeTag(stmt))
	{
		case T_TransactionStmt:
			return transaction_refusal((const TransactionStmt *) stmt);
		case T_VacuumStmt:
			if (((const VacuumStmt *) stmt)->is_vacuumcmd)
				return (Refusal) {"VACUUM",
				"Leave it out: rtbench vacuums and analyzes the fixture itself. ANALYZE is allowed."};
			break;
		case T_IndexStmt:
			if (((const IndexStmt *) stmt)->concurrent)
				return (Refusal) {"CREATE INDEX CONCURRENTLY", HINT_CONCURRENTLY};
			break;
		case T_DropStmt:
			if (((const DropStmt *) stmt)->concurrent)
				return (Refusal) {"DROP INDEX CONCURRENTLY", HINT_CONCURRENTLY};
			break;
		case T_ReindexStmt:
			return reindex_refusal((const ReindexStmt *) stmt);
		case RTB_CLUSTER_TAG:
			return cluster_refusal((const RtbClusterStmt *) stmt);
		case T_CopyStmt:
			return copy_refusal((const CopyStmt *) stmt);
		case T_AlterTableStmt:
			return alter_table_refusal((const AlterTableStmt *) stmt);
		case T_CreatedbStmt:
			return (Refusal) {"CREATE DATABASE", HINT_CLUSTER_WIDE};
		case T_DropdbStmt:
			return (Refusal) {"DROP DATABASE", HINT_CLUSTER_WIDE};
		case T_AlterDatabaseStmt:
		case T_AlterDatabaseSetStmt:
			return (Refusal) {"ALTER DATABASE", "Use SET for a setting of the pass."};
		case T_CreateTableSpaceStmt:
			return (Refusal) {"CREATE TABLESPACE", HINT_CLUSTER_WIDE};
		case T_DropTableSpaceStmt:
			return (Refusal) {"DROP TABLESPACE", HINT_CLUSTER_WIDE};
		case T_AlterSystemStmt:
			return (Refusal) {"ALTER SYSTEM", "Use SET for a setting of the pass."};
		case T_CreateSubscriptionStmt:
			return (Refusal) {"CREATE SUBSCRIPTION", HINT_CLUSTER_WIDE};
		case T_AlterSubscriptionStmt:
			return (Refusal) {"ALTER SUBSCRIPTION", HINT_CLUSTER_WIDE};
		case T_DropSubscriptionStmt:
			return (Refusal) {"DROP SUBSCRIPTION", HINT_CLUSTER_WIDE};
		case T_DiscardStmt:
			if (((const DiscardStmt *) stmt)->target == DISCARD_ALL)
				return (Refusal) {"DISCARD ALL",
				"Leave it out: settings, prepared statements and advisory locks do not survive a pass."};
			break;
		case T_DeallocateStmt:
			if (((const DeallocateStmt *) stmt)->name == NULL)
				return (Refusal) {"DEALLOCATE ALL",
				"Leave it out: prepared statements do not survive a pass."};
			break;
		case T_ListenStmt:
			return (Refusal) {"LISTEN", "Notifications are delivered to client sessions only."};
		default:
			break;
	}
	return (Refusal) {NULL, NULL};
}

static bool
is_savepoint(const Node *stmt)
{
	if (!IsA(stmt, TransactionStmt))
		return false;
	switch (((const TransactionStmt *) stmt)->kind)
	{
		case TRANS_STMT_SAVEPOINT:
		case TRANS_STMT_RELEASE:
		case TRANS_STMT_ROLLBACK_TO:
			return true;
		default:
			return false;
	}
}

/*
 * Is a SAVEPOINT, RELEASE or ROLLBACK TO among the statements of a text?
 * Throws syntax errors.
 */
bool
rtb_script_has_savepoint(const char *text)
{
	ListCell   *lc;

	foreach(lc, rtb_script_parse(text))
	{
		if (is_savepoint(lfirst_node(RawStmt, lc)->stmt))
			return true;
	}
	return false;
}

/*
 * Error, with the way out, if a parsed statement cannot run in a transaction
 * which rtbench begins and ends.
 */
void
rtb_script_refuse_parsed(const Node *stmt)
{
	Refusal		found = refusal(stmt);

	if (found.what != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s cannot be part of a scenario or arm", found.what),
				 errhint("%s", found.hint)));
}

/*
 * Error, with the way out, if the text holds a statement that cannot run in a
 * transaction which rtbench begins and ends; savepoints: SAVEPOINT and what
 * belongs to it may stand there.  Throws syntax errors too.
 */
void
rtb_script_refuse(const char *statement, bool savepoints)
{
	ListCell   *lc;

	foreach(lc, rtb_script_parse(statement))
	{
		const Node *stmt = lfirst_node(RawStmt, lc)->stmt;

		if (!(savepoints && is_savepoint(stmt)))
			rtb_script_refuse_parsed(stmt);
	}
}

static bool
is_word_char(char c)
{
	return c == '_' || isalnum((unsigned char) c) || IS_HIGHBIT_SET(c);
}

/*
 * Has the text one of the words that statements which control transactions
 * begin with?  Cheap enough for inside the clock: most texts have none, and the
 * others are then parsed.
 */
bool
rtb_script_may_control(const char *text)
{
	static const char *const words[] = {"commit", "end", "rollback", "abort", "prepare", "savepoint", "release", "begin", "start"};

	for (const char *c = text; *c != '\0'; c++)
	{
		if (c > text && is_word_char(c[-1]))
			continue;
		for (int i = 0; i < lengthof(words); i++)
		{
			int			n = strlen(words[i]);

			if ((*c | 0x20) == words[i][0] && pg_strncasecmp(c, words[i], n) == 0 && !is_word_char(c[n]))
				return true;
		}
	}
	return false;
}

/* does a query write in its WITH? */
static bool
writes_in_with(const SelectStmt *stmt)
{
	ListCell   *lc;

	if (stmt->withClause == NULL)
		return false;
	foreach(lc, stmt->withClause->ctes)
		if (!IsA(lfirst_node(CommonTableExpr, lc)->ctequery, SelectStmt))
			return true;
	return false;
}

/* does it return rows, and write only where it may? */
static bool
returns_rows(const Node *stmt, bool may_write)
{
	switch (nodeTag(stmt))
	{
		case T_SelectStmt:
			return ((const SelectStmt *) stmt)->intoClause == NULL &&
				(may_write || !writes_in_with((const SelectStmt *) stmt));
		case T_InsertStmt:
			return may_write && RTB_RETURNS_ROWS((const InsertStmt *) stmt);
		case T_UpdateStmt:
			return may_write && RTB_RETURNS_ROWS((const UpdateStmt *) stmt);
		case T_DeleteStmt:
			return may_write && RTB_RETURNS_ROWS((const DeleteStmt *) stmt);
		case T_MergeStmt:
			return may_write && RTB_MERGE_RETURNS_ROWS((const MergeStmt *) stmt);
		default:
			return false;
	}
}

/*
 * Is the text a single query that returns rows and writes none?  Throws syntax
 * errors.
 */
bool
rtb_script_is_query(const char *text)
{
	List	   *trees = rtb_script_parse(text);

	return list_length(trees) == 1 && returns_rows(linitial_node(RawStmt, trees)->stmt, false);
}

/*
 * Error unless the text is a single query that returns rows: SELECT, VALUES,
 * TABLE, and with may_write also DML with RETURNING.  what names the text's
 * role in the message ("a driver").  Throws syntax errors too.
 */
void
rtb_script_require_query(const char *text, const char *what, bool may_write)
{
	List	   *trees = rtb_script_parse(text);

	if (list_length(trees) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is one query, not %d statements", what, list_length(trees))));
	if (!returns_rows(linitial_node(RawStmt, trees)->stmt, may_write))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be a query that returns rows", what),
				 may_write ?
				 errhint("Use SELECT, VALUES, TABLE, or INSERT, UPDATE or DELETE with RETURNING.") :
				 errhint("Use SELECT, VALUES or TABLE, without writing in WITH.")));
}

/*
 * Error unless the text is one COPY ... FROM STDIN that takes rows as they are
 * sent: in text format, with its usual separators.  Throws syntax errors too.
 */
void
rtb_script_require_copy(const char *text)
{
	static const char *const other_format[] = {"format", "delimiter", "null", "header", "quote", "escape", "encoding", "default"};
	List	   *trees = rtb_script_parse(text);
	const CopyStmt *copy = (const CopyStmt *) linitial_node(RawStmt, trees)->stmt;

	if (list_length(trees) != 1 || !IsA(copy, CopyStmt) || !copy->is_from || copy->filename != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows are copied by one COPY ... FROM STDIN"),
				 errhint("Write rtbench.copy_rows('SELECT a, b FROM ...', 'COPY t (a, b) FROM STDIN').")));
	for (int i = 0; i < lengthof(other_format); i++)
	{
		if (has_true_option(copy->options, other_format[i]))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("option \"%s\" of COPY cannot be given here", other_format[i]),
					 errhint("Rows are sent in text format, with its usual separators.")));
	}
}
