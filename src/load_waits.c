/*
 * load_waits.c
 *	  What the sessions of a load wait for, sampled from outside.
 *
 * A process shows what it waits for in its PGPROC, a word that can be read
 * without a lock.
 *
 * Memory: results are palloc'd in the current context.
 */
#include "postgres.h"

#include "load_waits.h"

#include "load.h"
#include "utils/wait_event.h"

/*
 * rtb_waits_sample
 *		Look once at a session.  proc: of the process that does its work; NULL, or
 *		that of somebody else, when it has just ended.
 */
void
rtb_waits_sample(RtbWaits *waits, const PGPROC *proc, bool busy)
{
	uint32		event;
	int			i = 0;

	if (!busy)
	{
		waits->idle++;
		return;
	}
	if (proc == NULL)
		return;
	event = *(const volatile uint32 *) &proc->wait_event_info;
	while (i < waits->n && waits->events[i] != event)
		i++;
	if (i == RTB_WAIT_KINDS)
		return;
	waits->n = Max(waits->n, i + 1);
	waits->events[i] = event;
	waits->samples[i]++;
}

static RtbLoadCount *
make_count(char *name, int64 n)
{
	RtbLoadCount *count = palloc0(sizeof(RtbLoadCount));

	count->name = name;
	count->n = n;
	return count;
}

/*
 * rtb_waits_counts
 *		Samples by name: list of RtbLoadCount *.  "CPU" is a session that did not
 *		wait, "schedule" one that waited for its next transaction to be due.
 */
List *
rtb_waits_counts(const RtbWaits *waits)
{
	List	   *counts = NIL;

	for (int i = 0; i < waits->n; i++)
	{
		uint32		event = waits->events[i];

		counts = lappend(counts, make_count(event == 0 ? "CPU" :
											psprintf("%s:%s", pgstat_get_wait_event_type(event),
													 pgstat_get_wait_event(event)),
											waits->samples[i]));
	}
	if (waits->idle > 0)
		counts = lappend(counts, make_count("schedule", waits->idle));
	return counts;
}
