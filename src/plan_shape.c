/*
 * plan_shape.c
 *	  A plan tree as one line.
 *
 * The text is for people and made once per fingerprint (plan_fingerprint.c).
 * Both are made from the same facts about a node, so equal fingerprints have
 * equal texts.  The reverse does not hold, as a temporary table made anew has
 * another OID and the same name.
 *
 * What is described is the plan, so partitions that are only pruned when it
 * runs are in it.
 *
 * Memory: a text is built in the current context, and leaves scraps there.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "plan_node.h"
#include "plan_shape.h"

/* a plan over a thousand partitions must stay readable: show so many children */
#define CHILDREN_SHOWN	8

/* and no text grows beyond this many bytes */
#define LONGEST_SHAPE	2000

static const char *
operation_name(CmdType operation)
{
	switch (operation)
	{
		case CMD_INSERT:
			return "Insert";
		case CMD_UPDATE:
			return "Update";
		case CMD_DELETE:
			return "Delete";
		case CMD_MERGE:
			return "Merge";
		default:
			return "???";
	}
}

static const char *
join_name(JoinType type)
{
	switch (type)
	{
		case JOIN_LEFT:
			return "Left";
		case JOIN_FULL:
			return "Full";
		case JOIN_RIGHT:
			return "Right";
		case JOIN_SEMI:
			return "Semi";
		case JOIN_ANTI:
			return "Anti";
			RTB_NEWER_JOIN_TYPES
		default:
			return "???";
	}
}

/*
 * "Merge Join", "Merge Left Join"; but "Nested Loop", "Nested Loop Left Join".
 */
static void
append_join_name(StringInfo out, const Plan *plan)
{
	JoinType	type = ((const Join *) plan)->jointype;

	appendStringInfoString(out, IsA(plan, NestLoop) ? "Nested Loop" :
						   IsA(plan, MergeJoin) ? "Merge" : "Hash");
	if (type != JOIN_INNER)
		appendStringInfo(out, " %s Join", join_name(type));
	else if (!IsA(plan, NestLoop))
		appendStringInfoString(out, " Join");
}

static void
append_aggregate_name(StringInfo out, const Agg *agg)
{
	if (DO_AGGSPLIT_SKIPFINAL(agg->aggsplit))
		appendStringInfoString(out, "Partial ");
	else if (DO_AGGSPLIT_COMBINE(agg->aggsplit))
		appendStringInfoString(out, "Finalize ");
	appendStringInfoString(out, agg->aggstrategy == AGG_SORTED ? "GroupAggregate" :
						   agg->aggstrategy == AGG_HASHED ? "HashAggregate" :
						   agg->aggstrategy == AGG_MIXED ? "MixedAggregate" : "Aggregate");
}

static void
append_setop_name(StringInfo out, const SetOp *setop)
{
	appendStringInfoString(out, setop->strategy == SETOP_HASHED ? "HashSetOp " : "SetOp ");
	appendStringInfoString(out, setop->cmd == SETOPCMD_INTERSECT ? "Intersect" :
						   setop->cmd == SETOPCMD_INTERSECT_ALL ? "Intersect All" :
						   setop->cmd == SETOPCMD_EXCEPT ? "Except" : "Except All");
}

/*
 * The names of nodes that have but one.
 */
static const struct
{
	NodeTag		tag;
	const char *name;
}			plain_names[] =
{
	{T_Result, "Result"},
	{T_ProjectSet, "ProjectSet"},
	{T_Append, "Append"},
	{T_MergeAppend, "Merge Append"},
	{T_RecursiveUnion, "Recursive Union"},
	{T_BitmapAnd, "BitmapAnd"},
	{T_BitmapOr, "BitmapOr"},
	{T_SeqScan, "Seq Scan"},
	{T_SampleScan, "Sample Scan"},
	{T_Gather, "Gather"},
	{T_GatherMerge, "Gather Merge"},
	{T_IndexScan, "Index Scan"},
	{T_IndexOnlyScan, "Index Only Scan"},
	{T_BitmapIndexScan, "Bitmap Index Scan"},
	{T_BitmapHeapScan, "Bitmap Heap Scan"},
	{T_TidScan, "Tid Scan"},
	{T_TidRangeScan, "Tid Range Scan"},
	{T_SubqueryScan, "Subquery Scan"},
	{T_FunctionScan, "Function Scan"},
	{T_TableFuncScan, "Table Function Scan"},
	{T_ValuesScan, "Values Scan"},
	{T_CteScan, "CTE Scan"},
	{T_NamedTuplestoreScan, "Named Tuplestore Scan"},
	{T_WorkTableScan, "WorkTable Scan"},
	{T_CustomScan, "Custom Scan"},
	{T_Material, "Materialize"},
	{T_Memoize, "Memoize"},
	{T_Sort, "Sort"},
	{T_IncrementalSort, "Incremental Sort"},
	{T_Group, "Group"},
	{T_WindowAgg, "WindowAgg"},
	{T_Unique, "Unique"},
	{T_LockRows, "LockRows"},
	{T_Limit, "Limit"},
	{T_Hash, "Hash"}
};

static const char *
plain_name(NodeTag tag)
{
	for (int i = 0; i < lengthof(plain_names); i++)
	{
		if (plain_names[i].tag == tag)
			return plain_names[i].name;
	}
	return "???";
}

static void
append_node_name(StringInfo out, const Plan *plan, uint32 variant)
{
	if (plan->parallel_aware)
		appendStringInfoString(out, "Parallel ");
	if (plan->async_capable)
		appendStringInfoString(out, "Async ");

	switch (nodeTag(plan))
	{
		case T_ModifyTable:
			appendStringInfoString(out, operation_name(variant));
			break;
		case T_ForeignScan:
			appendStringInfo(out, "Foreign %s",
							 variant == CMD_SELECT ? "Scan" : operation_name(variant));
			break;
		case T_NestLoop:
		case T_MergeJoin:
		case T_HashJoin:
			append_join_name(out, plan);
			break;
		case T_Agg:
			append_aggregate_name(out, (const Agg *) plan);
			break;
		case T_SetOp:
			append_setop_name(out, (const SetOp *) plan);
			break;
		case T_IndexScan:
		case T_IndexOnlyScan:
			appendStringInfo(out, "%s%s", plain_name(nodeTag(plan)),
							 variant ? " Backward" : "");
			break;
		default:
			appendStringInfoString(out, plain_name(nodeTag(plan)));
			break;
	}
}

/*
 * "(name)" of what the node works on.  A relation can vanish between planning
 * and the look at it only for somebody who holds no lock on it, but a name that
 * can't be found must not end a statement that could run.
 */
static void
append_object(StringInfo out, const Plan *plan, const NodeFacts *facts)
{
	if (OidIsValid(facts->object))
	{
		char	   *name = IsA(plan, FunctionScan) ? get_func_name(facts->object) :
			get_rel_name(facts->object);

		appendStringInfo(out, "(%s)", name != NULL ? quote_identifier(name) : "?");
	}
	else if (facts->label != NULL)
		appendStringInfo(out, "(%s)", quote_identifier(facts->label));
}

/*
 * All children of a node in EXPLAIN's order.
 */
static List *
children_of(const Plan *plan, const NodeFacts *facts)
{
	List	   *children = NIL;

	if (outerPlan(plan) != NULL)
		children = lappend(children, outerPlan(plan));
	if (innerPlan(plan) != NULL)
		children = lappend(children, innerPlan(plan));
	if (facts->child != NULL)
		children = lappend(children, facts->child);
	return list_concat(children, facts->branches);
}

static void
append_node(StringInfo out, const Plan *plan, const PlannedStmt *stmt)
{
	NodeFacts	facts = rtb_plan_node_facts(plan, stmt);
	List	   *children = children_of(plan, &facts);
	ListCell   *lc;

	check_stack_depth();

	append_node_name(out, plan, facts.variant);
	append_object(out, plan, &facts);

	if (list_length(children) == 1)
	{
		appendStringInfoString(out, " -> ");
		append_node(out, linitial(children), stmt);
	}
	else if (children != NIL)
	{
		appendStringInfoString(out, " [");
		foreach(lc, children)
		{
			int			i = foreach_current_index(lc);

			if (i > 0)
				appendStringInfoString(out, ", ");
			if (i == CHILDREN_SHOWN)
			{
				appendStringInfo(out, "%d more", list_length(children) - CHILDREN_SHOWN);
				break;
			}
			append_node(out, lfirst(lc), stmt);
		}
		appendStringInfoChar(out, ']');
	}
}

/*
 * Note the names of the subplans that are run by this node and those beneath
 * it once or on demand: init plans and CTEs.  What no node lists is called
 * from an expression.
 */
static void
name_subplans(const Plan *plan, const PlannedStmt *stmt, const char **names)
{
	NodeFacts	facts = rtb_plan_node_facts(plan, stmt);
	ListCell   *lc;

	check_stack_depth();

	foreach(lc, plan->initPlan)
	{
		SubPlan    *subplan = lfirst_node(SubPlan, lc);

		names[subplan->plan_id - 1] = subplan->subLinkType == CTE_SUBLINK ?
			RTB_CTE_NAME(subplan) : "InitPlan";
	}
	foreach(lc, children_of(plan, &facts))
		name_subplans(lfirst(lc), stmt, names);
}

/*
 * A plan as one line (the notation is described in plan_shape.h), palloc'd in
 * the current context.  Reads the system catalogs: call it in a transaction.
 */
char *
rtb_plan_shape(const PlannedStmt *stmt)
{
	const char **names = palloc0(sizeof(char *) * (list_length(stmt->subplans) + 1));
	StringInfoData out;
	ListCell   *lc;

	initStringInfo(&out);
	append_node(&out, stmt->planTree, stmt);

	name_subplans(stmt->planTree, stmt, names);
	foreach(lc, stmt->subplans)
	{
		if (lfirst(lc) != NULL)
			name_subplans(lfirst(lc), stmt, names);
	}
	foreach(lc, stmt->subplans)
	{
		int			i = foreach_current_index(lc);
		const char *name = names[i] != NULL ? names[i] : "SubPlan";

		if (lfirst(lc) == NULL)
			continue;
		appendStringInfo(&out, "; %s", name);
		if (strncmp(name, "CTE ", 4) != 0)
			appendStringInfo(&out, " %d", i + 1);
		appendStringInfoString(&out, " -> ");
		append_node(&out, lfirst(lc), stmt);
	}

	if (out.len > LONGEST_SHAPE)
	{
		out.len = pg_mbcliplen(out.data, out.len, LONGEST_SHAPE);
		out.data[out.len] = '\0';
		appendStringInfoString(&out, " ...");
	}
	return out.data;
}
