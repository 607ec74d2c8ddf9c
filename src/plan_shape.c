/*
 * plan_shape.c
 *	  A plan tree as one line, and its fingerprint.
 *
 * The fingerprint is cheap enough to be taken of every statement executed; the
 * text is for people and made once per fingerprint.  Both are made from the same
 * facts about a node, so equal fingerprints have equal texts.  The reverse does
 * not hold, as a temporary table made anew has another OID and the same name.
 *
 * What is described is the plan, so partitions that are only pruned when it
 * runs are in it.
 *
 * Memory: fingerprints allocate nothing; a text is built in the current
 * context, and leaves scraps there.
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
 * The relation that a scan or modification is of, or InvalidOid: a join pushed
 * down to a foreign server is of no single one.
 */
static inline Oid
relation_of(Index relation, const PlannedStmt *stmt)
{
	const RangeTblEntry *rte;

	if (relation == 0)
		return InvalidOid;
	rte = rt_fetch(relation, stmt->rtable);
	return rte->rtekind == RTE_RELATION ? rte->relid : InvalidOid;
}

/*
 * A function scan's function, or InvalidOid: there may be several, and the
 * optimizer may have put something else in its place.
 */
static Oid
function_of(const FunctionScan *scan)
{
	Node	   *call;

	if (list_length(scan->functions) != 1)
		return InvalidOid;
	call = ((RangeTblFunction *) linitial(scan->functions))->funcexpr;
	return IsA(call, FuncExpr) ? ((FuncExpr *) call)->funcid : InvalidOid;
}

/*
 * What a node's text is made from, beside its tag, its two flags and the
 * children on its left and right.
 */
typedef struct NodeFacts
{
	Oid			object;			/* index, relation or function, or InvalidOid */
	uint32		variant;		/* tells nodes of one kind apart, below 2^12 */
	const char *label;			/* the query's own name of what is worked on, or NULL */
	Plan	   *child;			/* a child kept apart, or NULL */
	List	   *branches;		/* the children kept in a list */
} NodeFacts;

static inline NodeFacts
facts_of(const Plan *plan, const PlannedStmt *stmt)
{
	NodeFacts	facts = {InvalidOid, 0, NULL, NULL, NIL};

	switch (nodeTag(plan))
	{
		case T_IndexScan:
			facts.object = ((const IndexScan *) plan)->indexid;
			facts.variant = ((const IndexScan *) plan)->indexorderdir == BackwardScanDirection;
			break;
		case T_IndexOnlyScan:
			facts.object = ((const IndexOnlyScan *) plan)->indexid;
			facts.variant = ((const IndexOnlyScan *) plan)->indexorderdir == BackwardScanDirection;
			break;
		case T_BitmapIndexScan:
			facts.object = ((const BitmapIndexScan *) plan)->indexid;
			break;
		case T_ModifyTable:
			facts.object = relation_of(((const ModifyTable *) plan)->nominalRelation, stmt);
			facts.variant = ((const ModifyTable *) plan)->operation;
			break;
		case T_SeqScan:
		case T_SampleScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
			facts.object = relation_of(((const Scan *) plan)->scanrelid, stmt);
			break;
		case T_ForeignScan:
			facts.object = relation_of(((const Scan *) plan)->scanrelid, stmt);
			facts.variant = ((const ForeignScan *) plan)->operation;
			break;
		case T_CustomScan:
			facts.object = relation_of(((const Scan *) plan)->scanrelid, stmt);
			facts.label = ((const CustomScan *) plan)->methods->CustomName;
			facts.branches = ((const CustomScan *) plan)->custom_plans;
			break;
		case T_FunctionScan:
			facts.object = function_of((const FunctionScan *) plan);
			break;
		case T_CteScan:
		case T_WorkTableScan:
			facts.label = rt_fetch(((const Scan *) plan)->scanrelid, stmt->rtable)->ctename;
			break;
		case T_NamedTuplestoreScan:
			facts.label = rt_fetch(((const Scan *) plan)->scanrelid, stmt->rtable)->enrname;
			break;
		case T_SubqueryScan:
			facts.label = rt_fetch(((const Scan *) plan)->scanrelid, stmt->rtable)->eref->aliasname;
			facts.child = ((const SubqueryScan *) plan)->subplan;
			break;
		case T_NestLoop:
		case T_MergeJoin:
		case T_HashJoin:
			facts.variant = ((const Join *) plan)->jointype;
			break;
		case T_Agg:
			facts.variant = ((const Agg *) plan)->aggstrategy | ((const Agg *) plan)->aggsplit << 4;
			break;
		case T_SetOp:
			facts.variant = ((const SetOp *) plan)->strategy | ((const SetOp *) plan)->cmd << 4;
			break;
		case T_Append:
			facts.branches = ((const Append *) plan)->appendplans;
			break;
		case T_MergeAppend:
			facts.branches = ((const MergeAppend *) plan)->mergeplans;
			break;
		case T_BitmapAnd:
			facts.branches = ((const BitmapAnd *) plan)->bitmapplans;
			break;
		case T_BitmapOr:
			facts.branches = ((const BitmapOr *) plan)->bitmapplans;
			break;
		default:
			break;
	}
	return facts;
}

/*
 * Nodes in the order of the text.  Each says how many children it has, so no two
 * trees give the same sequence.  The stack is deep enough: the executor has just
 * been through the same tree, with more in every frame.
 */
static uint64
mix_node(uint64 hash, const Plan *plan, const PlannedStmt *stmt)
{
	NodeFacts	facts = facts_of(plan, stmt);
	ListCell   *lc;

	hash = mix(hash, (uint64) nodeTag(plan) << 48 | (uint64) facts.variant << 36 |
			   (uint64) plan->parallel_aware << 35 | (uint64) plan->async_capable << 34 |
			   (uint64) (outerPlan(plan) != NULL) << 33 |
			   (uint64) (innerPlan(plan) != NULL) << 32 | facts.object);
	if (facts.label != NULL)
		hash = mix_string(hash, facts.label);
	foreach(lc, plan->initPlan)
		hash = mix(hash, lfirst_node(SubPlan, lc)->plan_id);

	if (outerPlan(plan) != NULL)
		hash = mix_node(hash, outerPlan(plan), stmt);
	if (innerPlan(plan) != NULL)
		hash = mix_node(hash, innerPlan(plan), stmt);
	if (facts.child != NULL)
		hash = mix_node(hash, facts.child, stmt);
	if (facts.branches != NIL)
		hash = mix(hash, list_length(facts.branches));
	foreach(lc, facts.branches)
		hash = mix_node(hash, lfirst(lc), stmt);
	return hash;
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
			hash = mix_node(mix(hash, foreach_current_index(lc)), lfirst(lc), stmt);
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
	NodeFacts	facts = facts_of(plan, stmt);
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
	NodeFacts	facts = facts_of(plan, stmt);
	ListCell   *lc;

	check_stack_depth();

	foreach(lc, plan->initPlan)
	{
		SubPlan    *subplan = lfirst_node(SubPlan, lc);

		names[subplan->plan_id - 1] = subplan->subLinkType == CTE_SUBLINK ?
			subplan->plan_name : "InitPlan";
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
