/*
 * classify.c
 *	  What a statement that starts is: a statement, a loop's query, a caller.
 *
 * Nothing here keeps or changes anything.  Where a statement starts under another,
 * that one is given by the depth of triggers it runs at (-1 if there is none) and,
 * of a utility, by its node tag.
 *
 * Memory: nothing is allocated.
 */
#include "postgres.h"

#include "nodes/plannodes.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"
#include "utils/portal.h"

#include "classify.h"

/*
 * Is this the query of a portal that is just being started?  Of the queries that
 * a portal can hold, PortalStart() starts only a plain SELECT, to no receiver yet.
 */
bool
rtb_is_portal_start(const QueryDesc *query)
{
	return query->dest->mydest == DestNone &&
		ActivePortal != NULL && ActivePortal->status == PORTAL_DEFINED &&
		linitial(ActivePortal->stmts) == query->plannedstmt;
}

/*
 * A query that only feeds a loop: one that a procedural language opened as a
 * cursor.  One that changes data does work.  Portals are also started for what
 * the client sends (nothing is under way then), and by DECLARE CURSOR and EXECUTE.
 */
bool
rtb_is_loop_query(const QueryDesc *query, int depth, int under_depth, NodeTag under_utility)
{
	if (query->operation != CMD_SELECT || query->plannedstmt->hasModifyingCTE ||
		!rtb_is_portal_start(query))
		return false;
	if (depth > under_depth)
		return depth > 0;		/* in a trigger, or nothing is under way */
	return under_utility != T_DeclareCursorStmt &&
		under_utility != T_ExecuteStmt &&
		under_utility != T_CreateTableAsStmt;
}

/*
 * A statement of an SQL function: functions.c sends its result to a receiver of
 * its own and all else to none.  Nobody else sends a statement that was written
 * (and not added by a rule) to none but EXPLAIN and the start of a portal.
 */
bool
rtb_is_sql_function(const QueryDesc *query, int depth, int under_depth, NodeTag under_utility)
{
	if (query->dest->mydest != DestNone)
		return query->dest->mydest == DestSQLFunction;
	return query->plannedstmt->canSetTag && !rtb_is_portal_start(query) &&
		depth == under_depth &&
		(under_utility == T_Invalid || under_utility == T_CallStmt);
}

/*
 * A SELECT without FROM, which does nothing but call.  A subquery that reads a
 * table puts that table in the range table, so such a SELECT is none.
 */
bool
rtb_reads_nothing(const PlannedStmt *stmt)
{
	ListCell   *lc;

	if (stmt->commandType != CMD_SELECT)
		return false;
	foreach(lc, stmt->rtable)
	{
		if (lfirst_node(RangeTblEntry, lc)->rtekind != RTE_RESULT)
			return false;
	}
	return true;
}

/*
 * Note what a utility statement tells beside being counted.
 */
void
rtb_note_utility(Node *statement, RtbCounts *noted)
{
	switch (nodeTag(statement))
	{
		case T_NotifyStmt:
			noted->notifies = true;
			break;
		case T_TruncateStmt:
			noted->truncates = true;
			break;
		case T_VacuumStmt:
		case T_ReindexStmt:
			noted->ddl = true;
			break;
		default:
			if (GetCommandLogLevel(statement) == LOGSTMT_DDL)
				noted->ddl = true;
			break;
	}
}
