/*
 * advice.h
 *	  What keeps an arm's statements from using an index.
 *
 * Seen in the plans of a discovery pass as they start, when tables and indexes
 * are there as the arm has them; told as findings afterwards.
 */
#ifndef RTB_ADVICE_H
#define RTB_ADVICE_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "nodes/plannodes.h"

/* advice begins with one of these, so that it is known again among other notes */
#define RTB_INDEX_MISSING	"index missing: "
#define RTB_INDEX_UNUSED	"index not used: "

/* advice.c: what a pass's plans say, collected */
extern void rtb_advice_begin(void);
extern void rtb_advice_starts(const PlannedStmt *stmt);
extern void rtb_advice_receive(const char *lines);
extern List *rtb_advice_found(void);
extern bool rtb_is_advice(const char *finding);

/* plan_advice.c: what one plan says, appended to a list of char * */
extern List *rtb_plan_advice(const PlannedStmt *stmt, bool fired, List *advice);

#endif							/* RTB_ADVICE_H */
