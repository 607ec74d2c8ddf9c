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
#define GROUPS_APART	1.25
#define FEWEST_OF_GROUP	2		/* sessions: a single one may be slow for any reason */

/* without an exponent, however long it took */
static char *
in_digits(double median)
{
	return median < 999.5 ? psprintf("%.3g", median) : psprintf("%.0f", median);
}

/*
 * rtb_notes_groups
 *		The note that sessions with both ends on one core (element 1) stand apart
 *		from those on two (element 0), by the medians of their times; NULL if they
 *		don't, or there are not two of each kind.  In the current context.
 */
char *
rtb_notes_groups(const int *sessions, const double *medians, const char *unit)
{
	if (sessions[0] < FEWEST_OF_GROUP || sessions[1] < FEWEST_OF_GROUP ||
		Max(medians[0], medians[1]) < GROUPS_APART * Min(medians[0], medians[1]))
		return NULL;
	return psprintf("sessions fall into two groups: %d with both ends on one core (median %s %s) and %d on two (median %s %s), which is placement and no property of the arm",
					sessions[1], in_digits(medians[1]), unit,
					sessions[0], in_digits(medians[0]), unit);
}

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
	return rtb_notes_groups(sessions, medians, "ms");
}
