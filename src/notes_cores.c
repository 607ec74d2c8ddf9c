/*
 * notes_cores.c
 *	  Do an arm's sessions fall into groups by where their two ends ran?
 *
 * A session keeps its cores for most of its life.  Whether both ends share one
 * decides more about a round trip than any protocol does, and is no property
 * of the arm.
 *
 * Memory: the current context.
 */
#include "postgres.h"

#include "notes.h"
#include "placement.h"
#include "stats.h"

/* the passes of one session, from the i-th on: which group, and how many there are */
static int
session_from(const List *timed, int i, bool *same_core)
{
	const RtbPass *first = list_nth(timed, i);
	int			n = 0;
	int			same = 0;

	for (; i + n < list_length(timed); n++)
	{
		const RtbPass *pass = list_nth(timed, i + n);

		if (pass->session != first->session)
			break;
		same += pass->core == pass->far_core;
	}
	*same_core = 2 * same > n;
	return n;
}

/*
 * rtb_notes_cores
 *		A note where sessions with both ends on one core stand apart from those
 *		on two; NULL if they don't, or nothing is known of their cores.
 */
char *
rtb_notes_cores(const RtbCell *cell)
{
	int			n = list_length(cell->timed);
	double	   *ms[2];			/* of the timed passes on two cores, on one */
	int			npasses[2] = {0};
	int			sessions[2] = {0};
	double		medians[2];
	ListCell   *lc;

	foreach(lc, cell->timed)
	{
		const RtbPass *pass = lfirst(lc);

		if (pass->core == RTB_UNKNOWN || pass->far_core == RTB_UNKNOWN)
			return NULL;
	}
	for (int g = 0; g < 2; g++)
		ms[g] = palloc(sizeof(double) * Max(n, 1));
	for (int i = 0; i < n;)
	{
		bool		same_core;
		int			passes = session_from(cell->timed, i, &same_core);

		sessions[same_core]++;
		for (int k = 0; k < passes; k++)
			ms[same_core][npasses[same_core]++] = ((RtbPass *) list_nth(cell->timed, i + k))->elapsed_ns / 1e6;
		i += passes;
	}
	for (int g = 0; g < 2; g++)
		medians[g] = rtb_median(ms[g], npasses[g]);
	return rtb_placement_groups(sessions, medians, "ms");
}
