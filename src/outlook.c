/*
 * outlook.c
 *	  What is still to come of a run, for those who look on.
 *
 * Nothing here decides anything: the schedule does, and goes its way if this
 * is wrong.
 *
 * Memory: nothing is kept.
 */
#include "postgres.h"

#include "outlook.h"

/* untimed passes of each arm at a point: the pilot's, and one to warm up */
#define PILOT_PASSES	3
#define WARM_UPS		1

static bool
has_points(const RtbOutlook *o)
{
	return o->e->run->points != NIL;
}

static int64
expected(const RtbOutlook *o, int64 point, int untimed, int rounds)
{
	/* a site's failed arms are few, or the others' too */
	return list_length(o->e->sites) *
		rtb_collector_expected(o->collector, has_points(o), point, untimed, rounds, o->e->control);
}

/*
 * rtb_outlook_sessions
 *		After so many sessions: as many as fit in the limit, each of so many
 *		rounds and at this price.  Returns how many there will be in all.
 */
int
rtb_outlook_sessions(RtbOutlook *o, const RtbPointCost *costs, int ncosts, int done, int most,
					 int rounds, int64 session_ns, int64 limit_ns)
{
	int			sessions = Min(most - done, Max(limit_ns / Max(session_ns, 1), 1));
	int64		passes = 0;

	for (int i = 0; i < ncosts; i++)
		passes += expected(o, costs[i].value, WARM_UPS, rounds);
	rtb_progress_sessions(o->e->progress, done + sessions);
	rtb_progress_expect(o->e->progress, sessions * passes, sessions * session_ns);
	return done + sessions;
}

/*
 * rtb_outlook_asked
 *		At the points after this one, by their indexes in the run's list, there
 *		will be the rounds that were asked for, or nobody knows how many.
 */
void
rtb_outlook_asked(RtbOutlook *o, const int *later, int nlater)
{
	o->later_passes = 0;
	for (int i = 0; i < nlater; i++)
	{
		int64		point = *(int64 *) list_nth(o->e->run->points, later[i]);

		if (o->e->rounds == 0)
		{
			o->later_passes = RTB_UNKNOWN;
			return;
		}
		o->later_passes += expected(o, point, PILOT_PASSES + WARM_UPS, o->e->rounds);
	}
}

/*
 * rtb_outlook_turns
 *		At every point there will be so many more rounds, unless the interval is
 *		narrow enough before.
 */
void
rtb_outlook_turns(const RtbOutlook *o, const RtbPointCost *costs, int ncosts, int rounds)
{
	int64		passes = 0;
	int64		ns = 0;

	for (int i = 0; i < ncosts; i++)
	{
		passes += expected(o, costs[i].value, 0, rounds);
		ns += rounds * costs[i].round_ns;
	}
	rtb_progress_expect(o->e->progress, passes, ns);
}

/*
 * rtb_outlook_rounds
 *		At the running point there will be rounds, at most so many and as many
 *		as fit before its deadline, but never less than a pair.  round_ns is 0
 *		before the first one.  What follows at later points is taken to cost the
 *		same; left_ns is what is left of max_time.
 */
void
rtb_outlook_rounds(RtbOutlook *o, int64 point, int rounds, int64 round_ns,
				   int64 until_deadline_ns, int64 left_ns)
{
	int64		passes_of_round = Max(expected(o, point, 0, 1), 1);
	int64		passes = RTB_UNKNOWN;
	int64		ns = RTB_UNKNOWN;

	if (round_ns > 0)
		rounds = Min(rounds, Max(until_deadline_ns / round_ns, 2));
	if (o->later_passes != RTB_UNKNOWN && (round_ns > 0 || o->e->rounds > 0))
	{
		passes = rounds * passes_of_round + o->later_passes;
		if (round_ns > 0)
			ns = passes * round_ns / passes_of_round;
	}
	/* point by point all the time is spent that there is, and no more */
	if (o->e->max_time_ms > 0)
		ns = Max(ns == RTB_UNKNOWN ? left_ns : Min(ns, left_ns), 0);
	rtb_progress_expect(o->e->progress, passes, ns);
}

/*
 * rtb_outlook_tell_pilot, rtb_outlook_tell_point, rtb_outlook_tell_session
 *		The pilot at a point is done, or all of a point, after so long; so many
 *		sessions are done.  Told if there was no news for a while.
 */
void
rtb_outlook_tell_pilot(const RtbOutlook *o, int64 point, int64 ns)
{
	if (has_points(o))
		rtb_progress_tell(o->e->progress, "pilot at point " INT64_FORMAT " done after %.1f s",
						  point, ns / 1e9);
	else
		rtb_progress_tell(o->e->progress, "pilot done after %.1f s", ns / 1e9);
}

void
rtb_outlook_tell_point(const RtbOutlook *o, int64 point, int64 ns)
{
	rtb_progress_tell(o->e->progress, "point " INT64_FORMAT " done after %.1f s",
					  point, ns / 1e9);
}

void
rtb_outlook_tell_session(const RtbOutlook *o, int done, int in_all)
{
	rtb_progress_tell(o->e->progress, "session %d of %s%d done", done,
					  o->e->sessions > 0 ? "" : "about ", in_all);
}
