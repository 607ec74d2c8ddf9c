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
#include "stats.h"

/* less of a difference than this is not worth a note */
#define RTB_GROUPS_APART	1.25

typedef struct CoreGroup
{
	int			sessions;
	double	   *ms;				/* of the timed passes of its sessions */
	int			npasses;
} CoreGroup;

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
	CoreGroup	groups[2] = {0};
	double		medians[2];
	ListCell   *lc;

	foreach(lc, cell->timed)
	{
		const RtbPass *pass = lfirst(lc);

		if (pass->core == RTB_UNKNOWN || pass->far_core == RTB_UNKNOWN)
			return NULL;
	}
	for (int g = 0; g < 2; g++)
		groups[g].ms = palloc(sizeof(double) * Max(n, 1));
	for (int i = 0; i < n;)
	{
		bool		same_core;
		int			passes = session_from(cell->timed, i, &same_core);
		CoreGroup  *group = &groups[same_core ? 0 : 1];

		group->sessions++;
		for (int k = 0; k < passes; k++)
			group->ms[group->npasses++] = ((RtbPass *) list_nth(cell->timed, i + k))->elapsed_ns / 1e6;
		i += passes;
	}
	if (groups[0].sessions == 0 || groups[1].sessions == 0)
		return NULL;
	for (int g = 0; g < 2; g++)
		medians[g] = rtb_median(groups[g].ms, groups[g].npasses);
	if (Max(medians[0], medians[1]) < RTB_GROUPS_APART * Min(medians[0], medians[1]))
		return NULL;
	return psprintf("sessions fall into two groups: %d with both ends on one core (median %.3g ms) and %d on two (median %.3g ms), which is placement and no property of the arm",
					groups[0].sessions, medians[0], groups[1].sessions, medians[1]);
}
