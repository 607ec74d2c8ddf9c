/*
 * schedule.h
 *	  Arithmetic of the schedule: order, looks, what fits in the time.
 */
#ifndef RTB_SCHEDULE_H
#define RTB_SCHEDULE_H

#include "postgres.h"

#include "common/pg_prng.h"

/* so many sessions are wanted before sessions get more than one pair */
#define RTB_SESSIONS_FIRST	12
/* no more sessions than this, unless they are asked for */
#define RTB_SESSIONS_MOST	48
/* timed rounds of the pilot at each point: one mirror pair */
#define RTB_PILOT_ROUNDS	2
/* rounds of one session at a point, unless more are asked for */
#define RTB_ROUNDS_MOST	256

/* what the pilot learned about a point, in nanoseconds of the whole process */
typedef struct RtbPointCost
{
	int64		value;			/* the point */
	int64		pilot_ns;		/* fixture and untimed passes */
	int64		round_ns;		/* one round, cleaning and control included */
} RtbPointCost;

/* what a session costs: its start and untimed passes, and each timed round at all points */
typedef struct RtbPace
{
	int64		start_ns;
	int64		round_ns;
} RtbPace;

/* how the time after the pilot is spent */
typedef struct RtbPlan
{
	int			sessions;		/* in all, the pilot's included; 1: rounds of one session */
	int			rounds;			/* in each session at each point */
	bool		corrected;		/* enough sessions for the corrected level */
} RtbPlan;

extern void rtb_schedule_order(pg_prng_state *prng, int round, int norder, int *order);
extern bool rtb_schedule_is_look(int sessions, int needed);
extern bool rtb_schedule_is_rounds_look(int rounds);
extern int	rtb_schedule_visit(int done, int needed, int fit);
extern int64 rtb_schedule_forecast(const RtbPointCost *costs, int ncosts, int64 value,
								   bool of_round);
extern RtbPace rtb_schedule_pace(const RtbPointCost *costs, int ncosts);
extern int64 rtb_schedule_session_ns(const RtbPace *pace, int rounds);
extern int	rtb_schedule_rounds(int64 ns, int sessions, const RtbPace *pace);
extern int	rtb_schedule_one_session(const RtbPointCost *costs, int ncosts, int64 left_ns,
									 int needed);
extern RtbPlan rtb_schedule_plan(const RtbPointCost *costs, int ncosts, int64 left_ns,
								 int needed_corrected, int needed_plain);

#endif							/* RTB_SCHEDULE_H */
