/*
 * step_timer.h
 *	  Times of single executions of one step, in flat memory.
 *
 * Used in one untimed pass only: two clock reads a statement would cost the
 * timed ones about 3 %.
 */
#ifndef RTB_STEP_TIMER_H
#define RTB_STEP_TIMER_H

#include "postgres.h"

/* at most this many execution times are kept of a step, evenly spread */
#define RTB_STEP_SAMPLE	2048

/* so many executions are kept one by one */
#define RTB_STEP_EARLY	3

typedef struct RtbTimeSample
{
	int64		seen;
	int64		stride;			/* every stride-th is kept */
	int			kept;
	int64		ns[RTB_STEP_SAMPLE];
} RtbTimeSample;

typedef struct RtbStepTimer
{
	int64		calls;
	int64		early_ns[RTB_STEP_EARLY];	/* the first executions, one by one */
	bool		has_plan;		/* one statement with a plan of its own */
	int64		custom_plans;
	int64		generic_plans;
	int64		first_generic;	/* the execution that first ran the generic plan, 0 if none */
	RtbTimeSample later;		/* all but the first */
	RtbTimeSample prepare;		/* parsing and analysing, of executions that did it */
	RtbTimeSample custom;		/* under custom plans, but the first */
	RtbTimeSample generic;		/* under the generic plan, but its first */
} RtbStepTimer;

/* what plan an execution ran under */
typedef enum RtbPlanKind
{
	RTB_PLAN_UNKNOWN,			/* none of the step's own: several statements, generated texts */
	RTB_PLAN_CUSTOM,
	RTB_PLAN_GENERIC
} RtbPlanKind;

extern RtbStepTimer *rtb_step_timers_create(int nsteps);
extern void rtb_step_timer_add(RtbStepTimer *timer, int64 ns, RtbPlanKind plan);
extern void rtb_step_timer_prepared(RtbStepTimer *timer, int64 ns);
extern int64 rtb_step_timer_early(const RtbStepTimer *timer, int n);
extern int64 rtb_time_sample_median(RtbTimeSample *sample);

#endif							/* RTB_STEP_TIMER_H */
