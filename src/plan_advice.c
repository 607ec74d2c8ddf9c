/*
 * plan_advice.c
 *	  Why a plan scans a table whole although an index would do.
 *
 * Three reasons that neither the number of statements nor their text shows: the
 * referencing side of a foreign key has no index, so that each deleted row
 * of the other side reads all of it; a column is compared with a value of a
 * type that it must be cast to, so that its index does not fit; a column is
 * compared with a volatile function, which has to be called for each row.
 * Each is said only where the filter of a sequential scan shows it.
 *
 * Memory: texts are palloc'd in the current context, and scraps left there.
 */
#include "postgres.h"

#include "advice.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_index.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

typedef struct Scanned
{
	const PlannedStmt *stmt;
	bool		fired;			/* by a trigger */
	Oid			relid;			/* the table that is scanned */
	Index		varno;
	Bitmapset  *compared;		/* its columns that the filter compares with a value */
	List	   *advice;			/* of char * */
} Scanned;

static void walk_plan(Scanned *scanned, const Plan *plan);

static void
say(Scanned *scanned, char *text)
{
	ListCell   *lc;

	foreach(lc, scanned->advice)
	{
		if (strcmp(lfirst(lc), text) == 0)
			return;
	}
	scanned->advice = lappend(scanned->advice, text);
}

/* ---- names ---- */

static const char *
table_name(Oid relid)
{
	const char *name = get_rel_name(relid);

	if (name == NULL)
		return "?";
	if (RelationIsVisible(relid))
		return quote_identifier(name);
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), name);
}

static const char *
column_name(Oid relid, AttrNumber column)
{
	return quote_identifier(get_attname(relid, column, false));
}

/* ---- indexes ---- */

/* has the table an index for all rows whose first column is one of these? */
static bool
has_index(Relation rel, const Bitmapset *columns)
{
	List	   *indexes = RelationGetIndexList(rel);
	bool		found = false;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(lc)));
		Form_pg_index index;

		if (!HeapTupleIsValid(tuple))
			continue;
		index = (Form_pg_index) GETSTRUCT(tuple);
		found |= index->indisvalid && index->indkey.values[0] > 0 &&
			bms_is_member(index->indkey.values[0], columns) &&
			heap_attisnull(tuple, Anum_pg_index_indpred, NULL);
		ReleaseSysCache(tuple);
	}
	list_free(indexes);
	return found;
}

/* the table is locked: its scan is about to start */
static bool
column_has_index(const Scanned *scanned, AttrNumber column)
{
	Relation	rel = table_open(scanned->relid, NoLock);
	bool		has = has_index(rel, bms_make_singleton(column));

	table_close(rel, NoLock);
	return has;
}

/* ---- foreign keys ---- */

static char *
key_columns(Oid relid, const AttrNumber *columns, int n)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < n; i++)
		appendStringInfo(&buf, "%s%s", i > 0 ? ", " : "", column_name(relid, columns[i]));
	return buf.data;
}

/* foreign keys of the scanned table whose columns are looked up without an index */
static void
advise_foreign_keys(Scanned *scanned)
{
	Relation	rel = table_open(scanned->relid, NoLock);
	ListCell   *lc;

	foreach(lc, RelationGetFKeyList(rel))
	{
		const ForeignKeyCacheInfo *key = lfirst(lc);
		Bitmapset  *columns = NULL;
		char	   *names;

		for (int i = 0; i < key->nkeys; i++)
			columns = bms_add_member(columns, key->conkey[i]);
		if (!bms_is_subset(columns, scanned->compared) || has_index(rel, columns))
			continue;
		names = key_columns(scanned->relid, key->conkey, key->nkeys);
		say(scanned, psprintf(RTB_INDEX_MISSING "foreign key %s(%s) -> %s has no index on %s (%s)",
							  table_name(scanned->relid), names, table_name(key->confrelid),
							  table_name(scanned->relid), names));
	}
	table_close(rel, NoLock);
}

/* ---- filters ---- */

/* may an index serve such an operator? those that B-trees serve are estimated so */
static bool
is_indexable(Oid opno)
{
	switch (get_oprrest(opno))
	{
		case F_EQSEL:
		case F_SCALARLTSEL:
		case F_SCALARLESEL:
		case F_SCALARGTSEL:
		case F_SCALARGESEL:
			return true;
		default:
			return false;
	}
}

/* a column of the scanned table, as it is or under another type of the same form */
static const Var *
column_of(const Scanned *scanned, const Node *node)
{
	while (node && IsA(node, RelabelType))
		node = (const Node *) ((const RelabelType *) node)->arg;
	if (node && IsA(node, Var) && ((const Var *) node)->varno == scanned->varno &&
		((const Var *) node)->varattno > 0)
		return (const Var *) node;
	return NULL;
}

/* the column that is cast to another form, or NULL */
static const Var *
cast_column(const Scanned *scanned, const Node *node)
{
	while (node && IsA(node, RelabelType))
		node = (const Node *) ((const RelabelType *) node)->arg;
	if (node && IsA(node, CoerceViaIO))
		return column_of(scanned, (const Node *) ((const CoerceViaIO *) node)->arg);
	if (node && IsA(node, FuncExpr))
	{
		const FuncExpr *call = (const FuncExpr *) node;

		if (call->args != NIL && (call->funcformat == COERCE_IMPLICIT_CAST ||
								  call->funcformat == COERCE_EXPLICIT_CAST))
			return column_of(scanned, linitial(call->args));
	}
	return NULL;
}

static bool
find_volatile(Node *node, Oid *function)
{
	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) && func_volatile(((FuncExpr *) node)->funcid) == PROVOLATILE_VOLATILE)
	{
		*function = ((FuncExpr *) node)->funcid;
		return true;
	}
	return expression_tree_walker(node, find_volatile, function);
}

static void
advise_type(Scanned *scanned, const Var *column, const Node *as, const Node *value)
{
	if (!column_has_index(scanned, column->varattno))
		return;
	say(scanned, psprintf(RTB_INDEX_UNUSED "%s.%s is %s and has an index, but is cast to %s to be compared with a value of type %s: give it as %s",
						  table_name(scanned->relid), column_name(scanned->relid, column->varattno),
						  format_type_be(column->vartype), format_type_be(exprType(as)),
						  format_type_be(exprType(value)),
						  format_type_be(type_is_array(exprType(value)) ?
										 get_array_type(column->vartype) : column->vartype)));
}

static void
advise_volatile(Scanned *scanned, const Var *column, Oid function)
{
	const char *name = quote_identifier(get_func_name(function));

	if (!column_has_index(scanned, column->varattno))
		return;
	say(scanned, psprintf(RTB_INDEX_UNUSED "%s.%s has an index, but function %s is volatile, and so is called for each row: %s",
						  table_name(scanned->relid), column_name(scanned->relid, column->varattno),
						  name, function >= FirstNormalObjectId ?
						  "mark it STABLE or IMMUTABLE if it is" :
						  psprintf("to call it once, write (SELECT %s(...))", name)));
}

/* what one side of a comparison says about the other */
static void
look_at_side(Scanned *scanned, const Node *side, const Node *value)
{
	const Var  *column = column_of(scanned, side);
	Oid			function = InvalidOid;

	if (contain_var_clause((Node *) value))
		return;
	if (column == NULL)
	{
		column = cast_column(scanned, side);
		if (column)
			advise_type(scanned, column, side, value);
	}
	else if (find_volatile((Node *) value, &function))
		advise_volatile(scanned, column, function);
	else
		scanned->compared = bms_add_member(scanned->compared, column->varattno);
}

static void
look_at_clause(Scanned *scanned, const Node *clause)
{
	const List *args = NIL;

	if (IsA(clause, OpExpr) && is_indexable(((const OpExpr *) clause)->opno))
		args = ((const OpExpr *) clause)->args;
	else if (IsA(clause, ScalarArrayOpExpr) && ((const ScalarArrayOpExpr *) clause)->useOr &&
			 is_indexable(((const ScalarArrayOpExpr *) clause)->opno))
		args = ((const ScalarArrayOpExpr *) clause)->args;
	if (list_length(args) != 2)
		return;
	look_at_side(scanned, linitial(args), lsecond(args));
	if (IsA(clause, OpExpr))
		look_at_side(scanned, lsecond(args), linitial(args));
}

static void
look_at_scan(Scanned *scanned, const Scan *scan)
{
	const RangeTblEntry *rte = rt_fetch(scan->scanrelid, scanned->stmt->rtable);
	ListCell   *lc;

	if (rte->rtekind != RTE_RELATION || rte->relid < FirstNormalObjectId)
		return;
	scanned->relid = rte->relid;
	scanned->varno = scan->scanrelid;
	scanned->compared = NULL;
	foreach(lc, scan->plan.qual)
		look_at_clause(scanned, lfirst(lc));
	if (scanned->fired && scanned->compared)
		advise_foreign_keys(scanned);
}

/* ---- the tree ---- */

static void
walk_plans(Scanned *scanned, const List *plans)
{
	const ListCell *lc;

	foreach(lc, plans)
		walk_plan(scanned, lfirst(lc));
}

static void
walk_plan(Scanned *scanned, const Plan *plan)
{
	if (plan == NULL)
		return;
	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_SeqScan:
			look_at_scan(scanned, (const Scan *) plan);
			break;
		case T_Append:
			walk_plans(scanned, ((const Append *) plan)->appendplans);
			break;
		case T_MergeAppend:
			walk_plans(scanned, ((const MergeAppend *) plan)->mergeplans);
			break;
		case T_SubqueryScan:
			walk_plan(scanned, ((const SubqueryScan *) plan)->subplan);
			break;
		case T_CustomScan:
			walk_plans(scanned, ((const CustomScan *) plan)->custom_plans);
			break;
		default:
			break;
	}
	walk_plan(scanned, plan->lefttree);
	walk_plan(scanned, plan->righttree);
}

/*
 * Append what a plan says to a list of texts, each of which is there once.
 * fired: the statement runs on a trigger's behalf.  Relations of the plan are
 * locked.  Throws nothing but lack of memory and of stack.
 */
List *
rtb_plan_advice(const PlannedStmt *stmt, bool fired, List *advice)
{
	Scanned		scanned = {stmt, fired, InvalidOid, 0, NULL, advice};

	walk_plan(&scanned, stmt->planTree);
	walk_plans(&scanned, stmt->subplans);
	return scanned.advice;
}
