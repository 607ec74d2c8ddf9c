/*
 * probe.c
 *	  What is read around a pass: clock, CPU, buffers, WAL.
 *
 * The reads are ordered so that the wall clock's span holds nothing but the
 * work: the process CPU clock (a system call, some 600 ns) and the counters
 * are read before it starts and after it has ended.
 *
 * Memory: nothing is allocated.
 */
#include "postgres.h"

#include <time.h>

#include "probe.h"

/* enough reads to see every step of a clock that ticks in nanoseconds */
#define CLOCK_READS		1000
#define CLOCK_BATCHES	20

/* a coarse clock may stand still for long: wait this long for one step */
#define LONGEST_STEP_NS	INT64CONST(100000000)

static inline int64
read_clock(clockid_t which)
{
	struct timespec now;

	if (unlikely(clock_gettime(which, &now) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("could not read the clock: %m")));
	return (int64) now.tv_sec * INT64CONST(1000000000) + now.tv_nsec;
}

/*
 * The wall clock (CLOCK_MONOTONIC), in nanoseconds since an arbitrary moment.
 */
int64
rtb_clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/*
 * The smallest step that the wall clock was seen to take, in nanoseconds,
 * measured by this call; never 0.  Throws an error if the clock ran backwards.
 */
int64
rtb_clock_step_ns(void)
{
	int64		smallest = LONGEST_STEP_NS;

	for (int batch = 0; batch < CLOCK_BATCHES; batch++)
	{
		int64		began = rtb_clock_ns();
		int64		previous = began;

		for (int i = 0; i < CLOCK_READS; i++)
		{
			int64		now = rtb_clock_ns();

			/* stop where the clock can't be trusted, as pg_test_timing does */
			if (now < previous)
				ereport(ERROR,
						(errcode(ERRCODE_SYSTEM_ERROR),
						 errmsg("the system's clock ran backwards by %lld ns",
								(long long) (previous - now))));
			if (now > previous && now - previous < smallest)
				smallest = now - previous;
			previous = now;
		}

		/* a clock coarser than a whole batch: stay until it has moved */
		while (smallest == LONGEST_STEP_NS && previous == began)
			previous = rtb_clock_ns();
		if (previous > began && previous - began < smallest)
			smallest = previous - began;
	}
	return smallest;
}

/*
 * What one read of the wall clock costs, in nanoseconds, measured by this
 * call: the cheapest of several batches, since everything else that happens
 * to a batch only makes it dearer.  At least 1.
 */
int64
rtb_clock_cost_ns(void)
{
	static int64 readings[CLOCK_READS];
	int64		cheapest = PG_INT64_MAX;

	/* touch the memory before timing, as pg_test_timing does */
	memset(readings, 1, sizeof(readings));

	for (int batch = 0; batch < CLOCK_BATCHES; batch++)
	{
		int64		began = rtb_clock_ns();

		for (int i = 0; i < CLOCK_READS; i++)
			readings[i] = rtb_clock_ns();
		cheapest = Min(cheapest, readings[CLOCK_READS - 1] - began);
	}
	return Max(cheapest / CLOCK_READS, 1);
}

/*
 * Forget all spans.
 */
void
rtb_probe_reset(RtbProbe *probe)
{
	memset(probe, 0, sizeof(*probe));
}

/*
 * Start a span; spans don't nest.
 */
void
rtb_probe_start(RtbProbe *probe)
{
	probe->buffers_started = pgBufferUsage;
	probe->wal_started = pgWalUsage;
	probe->cpu_started = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	probe->wall_started = rtb_clock_ns();
}

/*
 * End the span and add it to the sums.
 */
void
rtb_probe_stop(RtbProbe *probe)
{
	int64		wall = rtb_clock_ns();
	int64		cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);

	probe->elapsed_ns += wall - probe->wall_started;
	probe->cpu_ns += cpu - probe->cpu_started;
	BufferUsageAccumDiff(&probe->buffers, &pgBufferUsage, &probe->buffers_started);
	WalUsageAccumDiff(&probe->wal, &pgWalUsage, &probe->wal_started);
}
