/*
 * wire_distance.c
 *	  The simulated distance of the connection that arms run over.
 *
 * It is there while an arm runs only: rtbench's own statements wait for
 * nothing.
 *
 * Memory: the distance lies in TopMemoryContext, until another one is set.
 */
#include "postgres.h"

#include "wire.h"

#include "utils/memutils.h"

static RtbDistance *distance = NULL;	/* simulated, or NULL */
static int64 distance_us = 0;

/*
 * rtb_wire_distance
 *		Simulate a round trip of so many microseconds beside each real one while
 *		an arm runs; 0 is none.  spinning: as rtb_distance_create().
 */
void
rtb_wire_distance(int64 round_trip_us, bool spinning)
{
	MemoryContext old;

	if (round_trip_us == distance_us)
		return;
	if (distance != NULL)
		rtb_distance_free(distance);
	distance = NULL;
	distance_us = 0;
	old = MemoryContextSwitchTo(TopMemoryContext);
	if (round_trip_us > 0)
		distance = rtb_distance_create(round_trip_us / 1000.0, spinning);
	MemoryContextSwitchTo(old);
	distance_us = round_trip_us;
}

/*
 * rtb_wire_apart
 *		From here on an arm runs, or no more.
 */
void
rtb_wire_apart(bool apart)
{
	rtb_connection_distance(rtb_wire, apart ? distance : NULL);
}

/*
 * rtb_wire_wait
 *		Wait for one round trip that nobody else waits for.
 */
void
rtb_wire_wait(void)
{
	if (distance != NULL)
		rtb_distance_wait(distance);
}

/*
 * rtb_wire_waited
 *		What was asked for and what it came to, so far.
 */
RtbDelivered
rtb_wire_waited(void)
{
	return distance != NULL ? *rtb_distance_delivered(distance) : (RtbDelivered) {0};
}

/*
 * rtb_wire_delivered_text
 *		The same in words; NULL if nothing was waited.
 */
char *
rtb_wire_delivered_text(const RtbDelivered *d)
{
	if (d->waits == 0)
		return NULL;
	return psprintf("simulated distance: round trips of %g ms asked for, %.4f ms delivered on average of "
					INT64_FORMAT ", %.3f ms at most", d->asked_ns / d->waits / 1e6,
					d->delivered_ns / 1e6 / d->waits, d->waits, d->longest_ns / 1e6);
}
