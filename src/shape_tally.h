/*
 * shape_tally.h
 *	  How often each plan shape ran, in order of first appearance.
 */
#ifndef RTB_SHAPE_TALLY_H
#define RTB_SHAPE_TALLY_H

#include "postgres.h"

#include "nodes/plannodes.h"
#include "tcop/cmdtag.h"

/* what a statement is counted as; a loop's kind follows its statement's */
typedef enum RtbKind
{
	RTB_SENT,					/* trigger depth 0 */
	RTB_SENT_LOOP,				/* a query that only feeds a loop */
	RTB_FIRED,					/* trigger depth > 0 */
	RTB_FIRED_LOOP
} RtbKind;

#define RTB_KINDS	(RTB_FIRED_LOOP + 1)

/* one shape of one kind */
typedef struct RtbShape
{
	const char *text;
	int64		count;
} RtbShape;

/* calls between the rooms need no detour by the linker's tables */
#pragma GCC visibility push(hidden)

extern void rtb_shapes_reset(void);
extern RtbShape *rtb_shape_of_plan(RtbKind kind, const PlannedStmt *stmt);
extern RtbShape *rtb_shape_of_utility(RtbKind kind, CommandTag tag);
extern char *rtb_shapes_text(RtbKind kind);
extern bool rtb_shapes_foreign(void);

#pragma GCC visibility pop

#endif							/* RTB_SHAPE_TALLY_H */
