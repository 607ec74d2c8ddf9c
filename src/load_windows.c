/*
 * load_windows.c
 *	  What the sessions of a load counted in a window, put together by group.
 *
 * Memory: windows lie in the current context.
 */
#include "postgres.h"

#include "load_windows.h"

#include <math.h>

#include "port/atomics.h"

#include "pass.h"

/* add what a session was counted for; it writes there no more */
static void
add_tally(RtbLoadWindow *w, const RtbLoadTally *tally)
{
	w->sessions++;
	w->elapsed_ms += tally->elapsed_ns / 1e6;
	if (tally->elapsed_ns > 0)
		w->tps += tally->latency.n / (tally->elapsed_ns / 1e9);
	w->retries += tally->retries;
	w->xids += tally->xids;
	w->overflowed |= tally->overflowed;
	w->lag_ms += tally->lag_ns / 1e6;
	w->lag_max_ms = Max(w->lag_max_ms, tally->lag_max_ns / 1e6);
	rtb_histogram_merge(w->latency, &tally->latency);
	for (int i = 0; i < tally->nerrors; i++)
	{
		const RtbLoadError *error = &tally->errors[i];
		RtbLoadCount *count = NULL;
		ListCell   *lc;

		foreach(lc, w->errors)
			if (strcmp(((RtbLoadCount *) lfirst(lc))->name, error->sqlstate) == 0)
				count = lfirst(lc);
		if (count == NULL)
		{
			count = palloc0(sizeof(RtbLoadCount));
			count->name = pstrdup(error->sqlstate);
			count->text = pstrdup(error->message);
			w->errors = lappend(w->errors, count);
		}
		count->n += error->n;
	}
}

static int64
errors_of(const RtbLoadWindow *w)
{
	int64		n = 0;
	ListCell   *lc;

	foreach(lc, w->errors)
		n += ((RtbLoadCount *) lfirst(lc))->n;
	return n;
}

/*
 * rtb_load_collect
 *		The window that has just been left by every session: a row for each group,
 *		added to load->windows.
 *
 * waits: of each group; NULL where nobody could see what sessions waited for.
 */
void
rtb_load_collect(RtbLoad *load, const RtbLoadShared *shared, int nseats, const RtbWaits *waits,
				 const RtbLoadWindow *window, int number)
{
	for (int group = 0; group < list_length(load->groups); group++)
	{
		RtbLoadGroup *g = list_nth(load->groups, group);
		RtbLoadWindow *w = palloc(sizeof(RtbLoadWindow));
		int64		begun;

		*w = *window;
		w->number = number;
		w->group = group;
		w->latency = palloc0(sizeof(RtbHistogram));
		pg_read_barrier();
		for (int seat = 0; seat < nseats; seat++)
			if (shared->seats[seat].group == group)
				add_tally(w, &shared->seats[seat].tally);
		w->elapsed_ms /= Max(w->sessions, 1);
		begun = w->latency->n + errors_of(w);
		w->lag_ms = g->rate > 0 && begun > 0 ? w->lag_ms / begun : NAN;
		if (g->rate <= 0)
			w->lag_max_ms = NAN;
		w->waits_seen = waits != NULL;
		w->waits = waits != NULL ? rtb_waits_counts(&waits[group]) : NIL;
		/* what a connection's far end uses up nobody counts */
		if (load->wire != NULL)
			w->xids = RTB_UNKNOWN;
		load->windows = lappend(load->windows, w);
	}
}
