/*
 * plan_shape.h
 *	  A plan tree as one line, and its fingerprint.
 */
#ifndef RTB_PLAN_SHAPE_H
#define RTB_PLAN_SHAPE_H

#include "postgres.h"

#include "nodes/plannodes.h"

extern uint64 rtb_plan_fingerprint(const PlannedStmt *stmt);
extern char *rtb_plan_shape(const PlannedStmt *stmt);

#endif							/* RTB_PLAN_SHAPE_H */
