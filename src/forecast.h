/*
 * forecast.h
 *	  The budget, said before it is spent, and what did not fit in it.
 */
#ifndef RTB_FORECAST_H
#define RTB_FORECAST_H

#include "postgres.h"

#include "ledger.h"
#include "schedule.h"

/* what is known after the pilot */
typedef struct RtbBudget
{
	const RtbPointCost *costs;
	int			ncosts;
	int64		max_time_ms;	/* 0: no limit */
	int64		left_ns;		/* of it */
	bool		asked_for;		/* the number of sessions was given */
	List	   *runs;			/* of RtbRun *: several if it is spent on several servers */
} RtbBudget;

extern void rtb_forecast_warn_left_out(List *points);
extern void rtb_forecast_warn_given_up(const RtbRun *run, List *points);
extern void rtb_forecast_warn_fewer_rounds(const RtbRun *run, int64 point, int done, int wanted);
extern void rtb_forecast_warn_fewer_sessions(int done, int wanted);
extern void rtb_forecast_announce(const RtbPlan *plan, const RtbBudget *budget);

#endif							/* RTB_FORECAST_H */
