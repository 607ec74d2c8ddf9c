/*
 * plan_node.h
 *	  What a plan's fingerprint and its text are both made from.
 *
 * For plan_fingerprint.c and plan_shape.c only.
 */
#ifndef RTB_PLAN_NODE_H
#define RTB_PLAN_NODE_H

#include "postgres.h"

#include "nodes/plannodes.h"

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

#pragma GCC visibility push(hidden)

extern NodeFacts rtb_plan_node_facts(const Plan *plan, const PlannedStmt *stmt);

#pragma GCC visibility pop

#endif							/* RTB_PLAN_NODE_H */
