/*
 * distance.c
 *	  A simulated round trip: a wait that is accurate to microseconds.
 *
 * Asleep on a timer until shortly before its end, then spinning: the kernel
 * wakes a process tens of microseconds late, and much later if something else
 * runs on its core.  What a wait took too long the next ones make up for, each
 * by a quarter at most: it is their sum that counts.  Where many wait at a time
 * they must not spin, as they would take the processors from what they wait for:
 * then single waits are less accurate, and their sum is not.  Waits are
 * interruptible all the time, and what they really took is recorded.
 *
 * Memory: in the context that is current at rtb_distance_create; the timer and
 * the set of events must be given back by rtb_distance_free, also after an
 * error: the context's end does it.
 */
#include "postgres.h"

#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "distance.h"

#define SPIN_NS		INT64CONST(80000)	/* the end of a wait that is not slept */

struct RtbDistance
{
	MemoryContext context;
	MemoryContextCallback release;
	int64		wait_ns;
	int64		spin_ns;		/* of it, at its end */
	int			timer;			/* -1: none, so short a wait only spins */
	WaitEventSet *set;
	int64		debt_ns;		/* waited too long so far, to be made up for */
	RtbDelivered delivered;
};

static int64
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64) t.tv_sec * INT64CONST(1000000000) + t.tv_nsec;
}

static void
release_timer(void *arg)
{
	RtbDistance *d = arg;

	if (d->set != NULL)
		FreeWaitEventSet(d->set);
	if (d->timer >= 0)
	{
		close(d->timer);
		ReleaseExternalFD();
	}
	d->set = NULL;
	d->timer = -1;
}

/*
 * A set of events for the timer, in a context that outlives it: before 17 the
 * set is freed with its context, and freeing it must come first.
 */
static void
make_timer(RtbDistance *d)
{
	if (!AcquireExternalFD())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not simulate a distance: too many open file descriptors"),
				 errhint("Raise max_files_per_process.")));
	d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (d->timer < 0)
	{
		ReleaseExternalFD();
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create a timer: %m")));
	}
	d->set = rtb_create_wait_event_set(TopMemoryContext, 3);
	AddWaitEventToSet(d->set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(d->set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	AddWaitEventToSet(d->set, WL_SOCKET_READABLE, d->timer, NULL, NULL);
}

/*
 * rtb_distance_create
 *		For waits of so many milliseconds, 0 or more; in the current context.
 *		spinning: the end of each, for single ones to be accurate.
 */
RtbDistance *
rtb_distance_create(double round_trip_ms, bool spinning)
{
	RtbDistance *d = palloc0(sizeof(RtbDistance));

	d->context = CurrentMemoryContext;
	d->wait_ns = (int64) (round_trip_ms * 1e6 + 0.5);
	d->spin_ns = spinning ? SPIN_NS : 0;
	d->timer = -1;
	d->release.func = release_timer;
	d->release.arg = d;
	MemoryContextRegisterResetCallback(d->context, &d->release);
	if (d->wait_ns > 2 * d->spin_ns)
		make_timer(d);
	return d;
}

/*
 * Sleep until so many nanoseconds have gone by since start, or nearly.
 */
static void
sleep_until(RtbDistance *d, int64 end)
{
	struct itimerspec when = {0};
	uint64		expirations;

	when.it_value.tv_sec = end / INT64CONST(1000000000);
	when.it_value.tv_nsec = end % INT64CONST(1000000000);
	if (timerfd_settime(d->timer, TFD_TIMER_ABSTIME, &when, NULL) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not set a timer: %m")));
	for (;;)
	{
		WaitEvent	event;
		int			n = WaitEventSetWait(d->set, -1, &event, 1, PG_WAIT_EXTENSION);

		if (n > 0 && (event.events & WL_LATCH_SET))
			ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (read(d->timer, &expirations, sizeof(expirations)) == sizeof(expirations))
			return;
	}
}

/*
 * rtb_distance_wait
 *		Wait once.
 */
void
rtb_distance_wait(RtbDistance *d)
{
	int64		start;
	int64		now;
	int64		wait_ns;

	if (d->wait_ns <= 0)
		return;
	start = now_ns();
	wait_ns = d->wait_ns - Min(d->debt_ns, d->wait_ns / 4);
	if (d->timer >= 0)
		sleep_until(d, start + wait_ns - d->spin_ns);
	do
	{
		CHECK_FOR_INTERRUPTS();
		now = now_ns();
	} while (now - start < wait_ns);

	d->debt_ns += now - start - d->wait_ns;
	d->delivered.waits++;
	d->delivered.asked_ns += d->wait_ns;
	d->delivered.delivered_ns += now - start;
	d->delivered.longest_ns = Max(d->delivered.longest_ns, now - start);
}

/* what all waits since the last reset came to */
const RtbDelivered *
rtb_distance_delivered(const RtbDistance *d)
{
	return &d->delivered;
}

void
rtb_distance_reset(RtbDistance *d)
{
	memset(&d->delivered, 0, sizeof(d->delivered));
	d->debt_ns = 0;
}

/*
 * rtb_distance_free
 *		Give the timer back.  The memory goes with its context.
 */
void
rtb_distance_free(RtbDistance *d)
{
	release_timer(d);
}
