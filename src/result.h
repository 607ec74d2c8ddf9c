/*
 * result.h
 *	  Results as rows: rtbench.verdict, and what rtbench.result() returns.
 */
#ifndef RTB_RESULT_H
#define RTB_RESULT_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/execnodes.h"

#include "judge.h"
#include "ledger.h"
#include "result_row.h"

/*
 * Put one row of rtbench.verdict for each point and arm of a run, from memory,
 * into a result set that InitMaterializedSRF() prepared.
 */
extern void rtb_result_put_verdicts(ReturnSetInfo *rsinfo, const RtbRun *run);

/* A ratio as columns of a row: its estimate alone, or with low and high. */
extern void rtb_result_add_estimate(RtbRow *row, const RtbRatio *ratio, double margin);
extern void rtb_result_add_ratio(RtbRow *row, const RtbRatio *ratio, double margin);

/* A run of the caller's; the one that an SQL function's argument means, of NULL his last. */
extern RtbRun *rtb_run_of_id(int64 id);
extern RtbRun *rtb_run_of_call(FunctionCallInfo fcinfo, int argument);

#endif							/* RTB_RESULT_H */
