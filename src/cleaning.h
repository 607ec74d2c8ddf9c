/*
 * cleaning.h
 *	  Which written tables are vacuumed between passes, and how they grow.
 */
#ifndef RTB_CLEANING_H
#define RTB_CLEANING_H

#include "postgres.h"

#include "nodes/plannodes.h"

#include "session.h"

extern void rtb_cleaning_watch(RtbSession *s);
extern void rtb_cleaning_starts(const PlannedStmt *stmt);
extern void rtb_cleaning_sizes(RtbSession *s);
extern void rtb_cleaning_choose(RtbSession *s, bool tell);
extern void rtb_cleaning_announce(RtbSession *s);
extern void rtb_cleaning_finish(RtbSession *s);

#endif							/* RTB_CLEANING_H */
