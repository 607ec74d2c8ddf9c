/*
 * call.h
 *	  Procedures that commit, then wait without a snapshot.
 */
#ifndef RTB_CALL_H
#define RTB_CALL_H

#include "postgres.h"

#include "fmgr.h"

extern void rtb_call_require(FunctionCallInfo fcinfo, const char *procedure);
extern void rtb_call_own_memory(void);
extern void rtb_call_commit(void);

#endif							/* RTB_CALL_H */
