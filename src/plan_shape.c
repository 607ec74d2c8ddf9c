/*
 * plan_shape.c
 *	  A plan tree as one line, and its fingerprint.
 *
 * The fingerprint is cheap enough to be taken of every statement executed; the
 * text is for people and made once per fingerprint.  Equal fingerprints have
 * equal texts: whatever the text shows is in object_of(), label_of() and
 * variant_of(), and the fingerprint takes in all three.  The reverse does not
 * hold, as a temporary table made anew has another OID and the same name.
 *
 * What is described is the plan, so partitions that are only pruned when it
 * runs are in it.
 *
 * Memory: fingerprints allocate nothing; a text is built in the current
 * context, with its scraps.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "plan_shape.h"

/* a plan over a thousand partitions must stay readable: show so many children */
#define CHILDREN_SHOWN	8

/* and no text grows beyond this many bytes */
#define LONGEST_SHAPE	2000

/*
 * The multiplier of Fibonacci hashing (Knuth, The Art of Computer Programming,
 * volume 3, section 6.4): 2^64 over the golden ratio.
 */
static inline uint64
mix(uint64 hash, uint64 value)
{
	hash = (hash ^ value) * UINT64CONST(0x9E3779B97F4A7C15);
	return hash ^ (hash >> 32);
}

static uint64
mix_string(uint64 hash, const char *string)
{
	for (; *string != '\0'; string++)
		hash = mix(hash, (unsigned char) *string);
	return hash;
}

/*
 * The relation, index or function that a node works on, or InvalidOid.
 */
static Oid
object_of(const Plan *plan, const PlannedStmt *stmt)
{
	Index		relation;

	switch (nodeTag(plan))
	{
		case T_IndexScan:
			return ((const IndexScan *) plan)->indexid;
		case T_IndexOnlyScan:
			return ((const IndexOnlyScan *) plan)->indexid;
		case T_BitmapIndexScan:
			return ((const BitmapIndexScan *) plan)->indexid;
		case T_ModifyTable:
			relation = ((const ModifyTable *) plan)->nominalRelation;
			break;
		case T_SeqScan:
		case T_SampleScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
		case T_ForeignScan:
		case T_CustomScan:
			relation = ((const Scan *) plan)->scanrelid;
			break;
		case T_FunctionScan:
			{
				List	   *functions = ((const FunctionScan *) plan)->functions;
				Node	   *call;

				/* the optimizer may have put something else in its place */
				if (list_length(functions) != 1)
					return InvalidOid;
				call = ((RangeTblFunction *) linitial(functions))->funcexpr;
				return IsA(call, FuncExpr) ? ((FuncExpr *) call)->funcid : InvalidOid;
			}
		default:
			return InvalidOid;
	}

	/* a join pushed down to a foreign server is of no single relation */
	if (relation == 0 || rt_fetch(relation, stmt->rtable)->rtekind != RTE_RELATION)
		return InvalidOid;
	return rt_fetch(relation, stmt->rtable)->relid;
}

/*
 * The name that the query itself gives to what a node works on, or NULL.
 */
static const char *
label_of(const Plan *plan, const PlannedStmt *stmt)
{
	switch (nodeTag(plan))
	{
		case T_CteScan:
		case T_WorkTableScan:
			return rt_fetch(((const Scan *) plan)->scanrelid, stmt->rtable)->ctename;
		case T_NamedTuplestoreScan:
			return rt_fetch(((const Scan *) plan)->scanrelid, stmt->rtable)->enrname;
		case T_SubqueryScan:
			return rt_fetch(((const Scan *) plan)->scanrelid, stmt->rtable)->eref->aliasname;
		case T_CustomScan:
			return ((const CustomScan *) plan)->methods->CustomName;
		default:
			return NULL;
	}
}

/*
 * What else tells nodes of one kind apart in EXPLAIN, as a small number.
 */
static uint32
variant_of(const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_ModifyTable:
			return ((const ModifyTable *) plan)->operation;
		case T_ForeignScan:
			return ((const ForeignScan *) plan)->operation;
		case T_IndexScan:
			return ((const IndexScan *) plan)->indexorderdir == BackwardScanDirection;
		case T_IndexOnlyScan:
			return ((const IndexOnlyScan *) plan)->indexorderdir == BackwardScanDirection;
		case T_NestLoop:
		case T_MergeJoin:
		case T_HashJoin:
			return ((const Join *) plan)->jointype;
		case T_Agg:
			return ((const Agg *) plan)->aggstrategy | ((const Agg *) plan)->aggsplit << 8;
		case T_SetOp:
			return ((const SetOp *) plan)->strategy | ((const SetOp *) plan)->cmd << 8;
		default:
			return 0;
	}
}

/*
 * The children that a node keeps in a list, or NIL.
 */
static List *
branches_of(const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_Append:
			return ((const Append *) plan)->appendplans;
		case T_MergeAppend:
			return ((const MergeAppend *) plan)->mergeplans;
		case T_BitmapAnd:
			return ((const BitmapAnd *) plan)->bitmapplans;
		case T_BitmapOr:
			return ((const BitmapOr *) plan)->bitmapplans;
		case T_CustomScan:
			return ((const CustomScan *) plan)->custom_plans;
		default:
			return NIL;
	}
}

static uint64
mix_node(uint64 hash, const Plan *plan, const PlannedStmt *stmt)
{
	const char *label;
	ListCell   *lc;

	check_stack_depth();

	hash = mix(hash, (uint64) nodeTag(plan) << 32 | variant_of(plan) << 2 |
			   (plan->parallel_aware ? 2 : 0) | (plan->async_capable ? 1 : 0));
	hash = mix(hash, object_of(plan, stmt));
	label = label_of(plan, stmt);
	if (label != NULL)
		hash = mix_string(hash, label);
	foreach(lc, plan->initPlan)
		hash = mix(hash, ((SubPlan *) lfirst(lc))->plan_id);

	/* children; the numbers tell an outer one from an inner one */
	if (outerPlan(plan) != NULL)
		hash = mix_node(mix(hash, 1), outerPlan(plan), stmt);
	if (innerPlan(plan) != NULL)
		hash = mix_node(mix(hash, 2), innerPlan(plan), stmt);
	if (IsA(plan, SubqueryScan))
		hash = mix_node(mix(hash, 3), ((const SubqueryScan *) plan)->subplan, stmt);
	foreach(lc, branches_of(plan))
		hash = mix_node(mix(hash, 4), (Plan *) lfirst(lc), stmt);
	return mix(hash, 5);
}

/*
 * A hash of all that a plan's text shows: equal plans have equal fingerprints
 * as long as the relations in them keep their OIDs.
 */
uint64
rtb_plan_fingerprint(const PlannedStmt *stmt)
{
	uint64		hash = mix_node(0, stmt->planTree, stmt);
	ListCell   *lc;

	foreach(lc, stmt->subplans)
	{
		/* a subplan that turned out to be unused is NULL */
		if (lfirst(lc) != NULL)
			hash = mix_node(mix(hash, foreach_current_index(lc) + 6), (Plan *) lfirst(lc), stmt);
	}
	return hash;
}

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
static const char *
plain_name(NodeTag tag)
{
	switch (tag)
	{
		case T_Result:
			return "Result";
		case T_ProjectSet:
			return "ProjectSet";
		case T_Append:
			return "Append";
		case T_MergeAppend:
			return "Merge Append";
		case T_RecursiveUnion:
			return "Recursive Union";
		case T_BitmapAnd:
			return "BitmapAnd";
		case T_BitmapOr:
			return "BitmapOr";
		case T_SeqScan:
			return "Seq Scan";
		case T_SampleScan:
			return "Sample Scan";
		case T_Gather:
			return "Gather";
		case T_GatherMerge:
			return "Gather Merge";
		case T_IndexScan:
			return "Index Scan";
		case T_IndexOnlyScan:
			return "Index Only Scan";
		case T_BitmapIndexScan:
			return "Bitmap Index Scan";
		case T_BitmapHeapScan:
			return "Bitmap Heap Scan";
		case T_TidScan:
			return "Tid Scan";
		case T_TidRangeScan:
			return "Tid Range Scan";
		case T_SubqueryScan:
			return "Subquery Scan";
		case T_FunctionScan:
			return "Function Scan";
		case T_TableFuncScan:
			return "Table Function Scan";
		case T_ValuesScan:
			return "Values Scan";
		case T_CteScan:
			return "CTE Scan";
		case T_NamedTuplestoreScan:
			return "Named Tuplestore Scan";
		case T_WorkTableScan:
			return "WorkTable Scan";
		case T_CustomScan:
			return "Custom Scan";
		case T_Material:
			return "Materialize";
		case T_Memoize:
			return "Memoize";
		case T_Sort:
			return "Sort";
		case T_IncrementalSort:
			return "Incremental Sort";
		case T_Group:
			return "Group";
		case T_WindowAgg:
			return "WindowAgg";
		case T_Unique:
			return "Unique";
		case T_LockRows:
			return "LockRows";
		case T_Limit:
			return "Limit";
		case T_Hash:
			return "Hash";
		default:
			return "???";
	}
}

static void
append_node_name(StringInfo out, const Plan *plan)
{
	if (plan->parallel_aware)
		appendStringInfoString(out, "Parallel ");
	if (plan->async_capable)
		appendStringInfoString(out, "Async ");

	switch (nodeTag(plan))
	{
		case T_ModifyTable:
			appendStringInfoString(out, operation_name(variant_of(plan)));
			break;
		case T_ForeignScan:
			appendStringInfo(out, "Foreign %s",
							 variant_of(plan) == CMD_SELECT ? "Scan" :
							 operation_name(variant_of(plan)));
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
							 variant_of(plan) ? " Backward" : "");
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
append_object(StringInfo out, const Plan *plan, const PlannedStmt *stmt)
{
	Oid			object = object_of(plan, stmt);
	const char *label = label_of(plan, stmt);

	if (OidIsValid(object))
	{
		char	   *name = IsA(plan, FunctionScan) ? get_func_name(object) : get_rel_name(object);

		appendStringInfo(out, "(%s)", name != NULL ? quote_identifier(name) : "?");
	}
	else if (label != NULL)
		appendStringInfo(out, "(%s)", quote_identifier(label));
}

static void
append_node(StringInfo out, const Plan *plan, const PlannedStmt *stmt)
{
	List	   *children = NIL;
	ListCell   *lc;

	check_stack_depth();

	append_node_name(out, plan);
	append_object(out, plan, stmt);

	if (outerPlan(plan) != NULL)
		children = lappend(children, outerPlan(plan));
	if (innerPlan(plan) != NULL)
		children = lappend(children, innerPlan(plan));
	if (IsA(plan, SubqueryScan))
		children = lappend(children, ((const SubqueryScan *) plan)->subplan);
	children = list_concat(children, branches_of(plan));

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
	list_free(children);
}

/*
 * Note the names of the subplans that are run by this node and those beneath
 * it once or on demand: init plans and CTEs.  What no node lists is called
 * from an expression.
 */
static void
name_subplans(const Plan *plan, const char **names)
{
	ListCell   *lc;

	check_stack_depth();

	foreach(lc, plan->initPlan)
	{
		SubPlan    *subplan = lfirst(lc);

		names[subplan->plan_id - 1] = subplan->subLinkType == CTE_SUBLINK ?
			subplan->plan_name : "InitPlan";
	}
	if (outerPlan(plan) != NULL)
		name_subplans(outerPlan(plan), names);
	if (innerPlan(plan) != NULL)
		name_subplans(innerPlan(plan), names);
	if (IsA(plan, SubqueryScan))
		name_subplans(((const SubqueryScan *) plan)->subplan, names);
	foreach(lc, branches_of(plan))
		name_subplans(lfirst(lc), names);
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

	name_subplans(stmt->planTree, names);
	foreach(lc, stmt->subplans)
	{
		if (lfirst(lc) != NULL)
			name_subplans(lfirst(lc), names);
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
	pfree(names);

	if (out.len > LONGEST_SHAPE)
	{
		out.len = pg_mbcliplen(out.data, out.len, LONGEST_SHAPE);
		out.data[out.len] = '\0';
		appendStringInfoString(&out, " ...");
	}
	return out.data;
}
