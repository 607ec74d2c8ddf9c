/*
 * plan_fingerprint.c
 *	  A hash of a plan tree, cheap enough to be taken of every statement executed.
 *
 * Allocates nothing.
 */
#include "postgres.h"

#include "nodes/extensible.h"
#include "parser/parsetree.h"

#include "compat.h"
#include "plan_node.h"
#include "plan_shape.h"

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

/*
 * The facts about a node, for its text.
 */
NodeFacts
rtb_plan_node_facts(const Plan *plan, const PlannedStmt *stmt)
{
	return facts_of(plan, stmt);
}
