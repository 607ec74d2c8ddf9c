/*
 * step_timer.c
 *	  Times of single executions of one step, in flat memory.
 *
 * A sample keeps every stride-th value; when it is full, every second value
 * is dropped and the stride doubles.  So it stays spread over all executions
 * and needs no random numbers.
 */
#include "postgres.h"

#include "step_timer.h"

#include "pass.h"

/*
 * rtb_step_timers_create
 *		Zeroed timers for an arm's steps, in the current memory context.
 */
RtbStepTimer *
rtb_step_timers_create(int nsteps)
{
	RtbStepTimer *timers = palloc0(sizeof(RtbStepTimer) * Max(nsteps, 1));

	for (int i = 0; i < nsteps; i++)
	{
		timers[i].later.stride = 1;
		timers[i].prepare.stride = 1;
		timers[i].custom.stride = 1;
		timers[i].generic.stride = 1;
	}
	return timers;
}

static void
sample_add(RtbTimeSample *sample, int64 ns)
{
	if (sample->seen++ % sample->stride != 0)
		return;
	if (sample->kept == RTB_STEP_SAMPLE)
	{
		for (int i = 0; i < RTB_STEP_SAMPLE / 2; i++)
			sample->ns[i] = sample->ns[2 * i];
		sample->kept = RTB_STEP_SAMPLE / 2;
		sample->stride *= 2;
		if ((sample->seen - 1) % sample->stride != 0)
			return;
	}
	sample->ns[sample->kept++] = ns;
}

/*
 * rtb_step_timer_add
 *		Note one execution of ns nanoseconds, and what plan it ran under.
 */
void
rtb_step_timer_add(RtbStepTimer *timer, int64 ns, RtbPlanKind plan)
{
	if (timer->calls < RTB_STEP_EARLY)
		timer->early_ns[timer->calls] = ns;
	if (++timer->calls > 1)
		sample_add(&timer->later, ns);

	timer->has_plan = plan != RTB_PLAN_UNKNOWN;
	if (plan == RTB_PLAN_GENERIC)
	{
		/* the first one builds the plan: not typical */
		if (timer->generic_plans++ == 0)
			timer->first_generic = timer->calls;
		else
			sample_add(&timer->generic, ns);
	}
	else if (plan == RTB_PLAN_CUSTOM)
	{
		timer->custom_plans++;
		if (timer->calls > 1)
			sample_add(&timer->custom, ns);
	}
}

/*
 * rtb_step_timer_prepared
 *		An execution began with ns nanoseconds of parsing and analysing.
 */
void
rtb_step_timer_prepared(RtbStepTimer *timer, int64 ns)
{
	sample_add(&timer->prepare, ns);
}

/*
 * rtb_step_timer_early
 *		Nanoseconds of the n-th execution, from 1; RTB_UNKNOWN if there were fewer.
 */
int64
rtb_step_timer_early(const RtbStepTimer *timer, int n)
{
	return timer->calls < n ? RTB_UNKNOWN : timer->early_ns[n - 1];
}

static int
compare_ns(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/*
 * rtb_time_sample_median
 *		Median in nanoseconds, RTB_UNKNOWN of an empty sample.  Sorts in place.
 */
int64
rtb_time_sample_median(RtbTimeSample *sample)
{
	int			n = sample->kept;

	if (n == 0)
		return RTB_UNKNOWN;
	qsort(sample->ns, n, sizeof(int64), compare_ns);
	if (n % 2 == 1)
		return sample->ns[n / 2];
	return (sample->ns[n / 2 - 1] + sample->ns[n / 2]) / 2;
}
