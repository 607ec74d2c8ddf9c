/*
 * plan_shape.h
 *	  A plan tree as one line, and its fingerprint.
 *
 * The notation: nodes are named and ordered as EXPLAIN does; parentheses hold
 * the name of what a node works on (the index of an index scan, else the
 * relation, function or CTE); an arrow leads to an only child; square brackets
 * hold several children, outer before inner; subplans follow after semicolons.
 *
 *		Delete(attributes) -> Index Scan(attributes_pkey)
 *		Hash Join [Seq Scan(blocks), Hash -> Seq Scan(documents)]
 *		Result; InitPlan 1 -> Aggregate -> Seq Scan(blocks)
 */
#ifndef RTB_PLAN_SHAPE_H
#define RTB_PLAN_SHAPE_H

#include "postgres.h"

#include "nodes/plannodes.h"

/* calls between the rooms need no detour by the linker's tables */
#pragma GCC visibility push(hidden)

extern uint64 rtb_plan_fingerprint(const PlannedStmt *stmt);
extern char *rtb_plan_shape(const PlannedStmt *stmt);

#pragma GCC visibility pop

#endif							/* RTB_PLAN_SHAPE_H */
