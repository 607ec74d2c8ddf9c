/*
 * result.h
 *	  Results as rows: rtbench.verdict, and what rtbench.result() returns.
 */
#ifndef RTB_RESULT_H
#define RTB_RESULT_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/execnodes.h"

#include "ledger.h"

/*
 * Put one row of rtbench.verdict for each point and arm of a run, from memory,
 * into a result set that InitMaterializedSRF() prepared.
 */
extern void rtb_result_put_verdicts(ReturnSetInfo *rsinfo, const RtbRun *run);

/* The run that an SQL function's argument means; of NULL the caller's last. */
extern RtbRun *rtb_run_of_call(FunctionCallInfo fcinfo, int argument);

#endif							/* RTB_RESULT_H */
