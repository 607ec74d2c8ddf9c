/*
 * forecast.h
 *	  The budget, said before it is spent.
 */
#ifndef RTB_FORECAST_H
#define RTB_FORECAST_H

#include "postgres.h"

#include "ledger.h"
#include "schedule.h"

extern void rtb_forecast_warn_left_out(List *points, int first);
extern void rtb_forecast_announce(const RtbRun *run, const RtbPlan *plan,
								  const RtbPointCost *costs, int ncosts, int needed_corrected,
								  int64 max_time_ms, int64 left_ns, bool asked_for);

#endif							/* RTB_FORECAST_H */
