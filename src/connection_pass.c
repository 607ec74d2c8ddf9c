/*
 * connection_pass.c
 *	  A pass over a connection: what is counted, and how answers are waited for.
 *
 * Every wait is for the socket and the process's latch together, so that
 * cancel, timeouts and termination act at once.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "connection_private.h"
#include "worker.h"

#define LOOK_INTERVAL	1000	/* ms between looks at whom the far end waits for */

/*
 * A wait with a time limit of its own reads the clock and arms a timer of the
 * kernel's each time, 0.4 us of a statement's 13.  So the limit is a timer that
 * runs while anything is waited for, once a LOOK_INTERVAL; like all of the
 * server's timeouts it is late by as much as the clock is set back.
 */
static TimeoutId tick_id = MAX_TIMEOUTS;
static volatile sig_atomic_t ticks = 0;

static void
tick_handler(void)
{
	ticks = ticks + 1;
}

static void
keep_ticking(void)
{
	if (unlikely(tick_id == MAX_TIMEOUTS))
		tick_id = RegisterTimeout(USER_TIMEOUT, tick_handler);
	/* whoever disables all timeouts, as an error does, disables this one too */
	if (unlikely(!get_timeout_active(tick_id)))
		enable_timeout_after(tick_id, LOOK_INTERVAL);
}

/* nothing has come for a whole LOOK_INTERVAL, since the statement was sent or the last time that this was true */
static bool
quiet_for_long(RtbConnection *c)
{
	if (likely(ticks - c->heard < 2))
		return false;
	c->heard = ticks - 1;
	return true;
}

/*
 * Something has been sent to the far end, or come from it, just now.
 */
void
rtb_connection_heard(RtbConnection *c)
{
	c->heard = ticks;
}

/* what waits, and how many did not: those of a setup, too */
static void
tell_untold(RtbConnection *c)
{
	rtb_connection_tell_notices(c);
	if (c->traffic.notices_untold > 0)
		ereport(c->warning_untold ? WARNING : NOTICE,
				(errmsg_plural("%lld more notice of \"%s\" is not shown",
							   "%lld more notices of \"%s\" are not shown",
							   c->traffic.notices_untold,
							   (long long) c->traffic.notices_untold, c->name)));
	c->traffic.notices_untold = 0;
	c->warning_untold = false;
}

/*
 * rtb_connection_begin_pass
 *		Count from zero; notices are told again.
 */
void
rtb_connection_begin_pass(RtbConnection *c)
{
	tell_untold(c);
	memset(&c->traffic, 0, sizeof(c->traffic));
}

/*
 * rtb_connection_end_pass
 *		What the pass sent and got; says how many notices were not told.
 */
const RtbTraffic *
rtb_connection_end_pass(RtbConnection *c)
{
	tell_untold(c);
	return &c->traffic;
}

/*
 * rtb_connection_hush
 *		From here on notices are counted only, or told again; what it was before.
 */
bool
rtb_connection_hush(RtbConnection *c, bool hushed)
{
	bool		before = c->hushed;

	c->hushed = hushed;
	return before;
}

/* notices since rtb_connection_begin_pass(), told or not */
int64
rtb_connection_notices(const RtbConnection *c)
{
	return c->traffic.notices;
}

/*
 * rtb_connection_aside
 *		A statement of rtbench's own in the middle of a pass, which no client
 *		would send: it is not counted.
 */
void
rtb_connection_aside(RtbConnection *c, const char *text)
{
	RtbTraffic	before = c->traffic;

	(void) rtb_connection_query(c, text, NULL);
	before.notices = c->traffic.notices;
	before.notices_untold = c->traffic.notices_untold;
	c->traffic = before;
}

/*
 * rtb_connection_expect
 *		How to take the results of what is sent from here on: row by row, in no
 *		memory, unless they have been small, as the caller knows (whole) and
 *		*large does not deny: whole is quicker for few rows.
 *
 * *large is set when one of them is large, even before what has been sent is
 * answered: so each statement of the caller's has its own, and one that was
 * large once is never held whole again.  It must last until the answers have
 * been taken; NULL: nobody remembers.
 */
void
rtb_connection_expect(RtbConnection *c, bool whole, bool *large)
{
	c->expected.whole = whole;
	c->expected.large = large;
}

/*
 * rtb_connection_distance
 *		Wait so much longer after each round trip; NULL: no longer.  The caller
 *		frees it, after the connection.
 */
void
rtb_connection_distance(RtbConnection *c, RtbDistance *distance)
{
	c->distance = distance;
}

/*
 * One round trip is over.
 */
void
rtb_connection_trip(RtbConnection *c)
{
	c->traffic.round_trips++;
	if (c->distance != NULL)
		rtb_distance_wait(c->distance);
}

/*
 * Throw unless a statement may be sent.
 */
void
rtb_connection_require_idle(RtbConnection *c)
{
	if (unlikely(c->busy || c->copying))
		elog(ERROR, "connection \"%s\" is busy", c->name);
	if (unlikely(PQstatus(c->pg) != CONNECTION_OK))
		rtb_connection_lost(c);
}

/*
 * Wait until the socket is as asked, or anything else has happened.  Throws
 * when interrupted, and when the far end waits for a lock of this process,
 * which the deadlock detector cannot see.
 */
void
rtb_connection_wait(RtbConnection *c, uint32 events)
{
	WaitEvent	event;

	if (events != c->awaited)
	{
		ModifyWaitEvent(c->wait_set, c->socket_position, events, NULL);
		c->awaited = events;
	}
	keep_ticking();
	(void) WaitEventSetWait(c->wait_set, -1, &event, 1, PG_WAIT_EXTENSION);
	if (event.events & WL_LATCH_SET)
		ResetLatch(MyLatch);
	else
		rtb_connection_heard(c);
	CHECK_FOR_INTERRUPTS();
	/* a far end that goes on sending, too, is given up */
	if (unlikely(c->give_up != 0) && GetCurrentTimestamp() >= c->give_up)
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("connection \"%s\" does not answer", c->name)));
	if (quiet_for_long(c) && c->here)
		rtb_check_blocked(PQbackendPID(c->pg), "connection");
}

/*
 * Send all that libpq holds back, and take in what comes in the meantime: the
 * far end may not read on before that.
 */
void
rtb_connection_flush(RtbConnection *c)
{
	for (;;)
	{
		int			left = PQflush(c->pg);

		if (left == 0)
			return;
		if (left < 0)
			rtb_connection_lost(c);
		rtb_connection_wait(c, WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE);
		if (PQconsumeInput(c->pg) == 0)
			rtb_connection_lost(c);
	}
}
