/*
 * schedule.c
 *	  Arithmetic of the schedule: order, looks, what fits in the time.
 *
 * Pure: no clock, no catalogs.  The numbers are the method's.
 */
#include "postgres.h"

#include "schedule.h"

#include <math.h>

/* then the time is spent on pairs up to this, then on more sessions */
#define PAIRS_MOST		4
/* rounds at one point before the next point's turn */
#define VISIT_MOST		8
/* start and end of a worker beside its passes */
#define SESSION_START_NS	INT64CONST(10000000)
/* cost grows with the point's value by this power at most, as far as is foreseen */
#define GROWTH_MOST		3.0

/*
 * rtb_schedule_order
 *		Odd rounds: a random permutation (Fisher and Yates; Knuth's algorithm
 *		P); even rounds: the reverse of the round before.
 */
void
rtb_schedule_order(pg_prng_state *prng, int round, int norder, int *order)
{
	if (round % 2 == 0)
	{
		for (int i = 0; i < norder / 2; i++)
		{
			int			swap = order[i];

			order[i] = order[norder - 1 - i];
			order[norder - 1 - i] = swap;
		}
		return;
	}
	for (int i = norder - 1; i > 0; i--)
	{
		int			j = (int) pg_prng_uint64_range(prng, 0, i);
		int			swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
}

static const int session_looks[] = {12, 16, 20, 24, 32, 48};
static const int rounds_looks[] = {20, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256};

/*
 * rtb_schedule_is_look
 *		Is the width looked at after so many sessions?  needed is the smallest
 *		number that gives an interval.
 */
bool
rtb_schedule_is_look(int sessions, int needed)
{
	if (sessions == needed)
		return true;
	for (int i = 0; i < lengthof(session_looks); i++)
	{
		if (sessions == session_looks[i] && sessions > needed)
			return true;
	}
	return false;
}

/*
 * rtb_schedule_is_rounds_look
 *		The same where the rounds of one session are the units.
 */
bool
rtb_schedule_is_rounds_look(int rounds)
{
	for (int i = 0; i < lengthof(rounds_looks); i++)
	{
		if (rounds == rounds_looks[i])
			return true;
	}
	return false;
}

/*
 * rtb_schedule_visit
 *		How many rounds more a point gets at a visit, where points are visited
 *		in turn and so many at each of them fit in the time: whole mirror pairs,
 *		up to the next look and not many at once.  What is needed for an interval
 *		it gets at once, and whether it fits or not.  0: no more.
 */
int
rtb_schedule_visit(int done, int needed, int fit)
{
	if (done < needed)
		return (needed - done + 1) / 2 * 2;
	for (int i = 0; i < lengthof(rounds_looks); i++)
	{
		if (rounds_looks[i] > done)
			return Min(Min(fit, VISIT_MOST), rounds_looks[i] - done) / 2 * 2;
	}
	return 0;
}

/*
 * rtb_schedule_forecast
 *		What a point of this value will cost, from the points before it: the
 *		last one's cost, grown by the power that the last two show.  0 if
 *		nothing is known yet.
 */
int64
rtb_schedule_forecast(const RtbPointCost *costs, int ncosts, int64 value, bool of_round)
{
	double		last;
	double		before;
	double		growth = 1;

	if (ncosts == 0)
		return 0;
	last = of_round ? costs[ncosts - 1].round_ns : costs[ncosts - 1].pilot_ns;
	if (costs[ncosts - 1].value <= 0 || value <= 0)
		return (int64) last;
	if (ncosts > 1 && costs[ncosts - 2].value > 0 &&
		costs[ncosts - 2].value != costs[ncosts - 1].value)
	{
		before = of_round ? costs[ncosts - 2].round_ns : costs[ncosts - 2].pilot_ns;
		if (before > 0 && last > 0)
			growth = log(last / before) /
				log((double) costs[ncosts - 1].value / costs[ncosts - 2].value);
	}
	growth = Min(Max(growth, 0), GROWTH_MOST);
	return (int64) (last * pow((double) value / costs[ncosts - 1].value, growth));
}

/*
 * rtb_schedule_pace
 *		What sessions will cost, as far as the pilot tells.
 */
RtbPace
rtb_schedule_pace(const RtbPointCost *costs, int ncosts)
{
	RtbPace		pace = {SESSION_START_NS, 0};

	for (int i = 0; i < ncosts; i++)
		pace.round_ns += costs[i].round_ns;
	pace.start_ns += pace.round_ns;
	return pace;
}

/*
 * rtb_schedule_session_ns
 *		Cost of a session of so many timed rounds.
 */
int64
rtb_schedule_session_ns(const RtbPace *pace, int rounds)
{
	return pace->start_ns + rounds * pace->round_ns;
}

/*
 * rtb_schedule_rounds
 *		Timed rounds that each of so many sessions can have in this time: one to
 *		four mirror pairs.
 */
int
rtb_schedule_rounds(int64 ns, int sessions, const RtbPace *pace)
{
	int64		pairs;

	if (sessions <= 0 || pace->round_ns <= 0)
		return 2 * PAIRS_MOST;
	pairs = (ns / sessions - pace->start_ns) / pace->round_ns / 2;
	return 2 * (int) Min(Max(pairs, 1), PAIRS_MOST);
}

/*
 * rtb_schedule_one_session
 *		Rounds of one session at every point: those needed for an interval in any
 *		case, and as many more whole pairs as fit after the pilot.
 */
int
rtb_schedule_one_session(const RtbPointCost *costs, int ncosts, int64 left_ns, int needed)
{
	int64		round_ns = rtb_schedule_pace(costs, ncosts).round_ns;
	int64		rounds = RTB_PILOT_ROUNDS + Max(left_ns, 0) / Max(round_ns, 1) / 2 * 2;

	return (int) Min(Max(rounds, (needed + 1) / 2 * 2), RTB_ROUNDS_MOST);
}

/*
 * rtb_schedule_plan
 *		How to spend the time that is left after the pilot.
 *
 * needed_corrected and needed_plain are the numbers of sessions that give an
 * interval at the corrected and at the plain level.  Where not even the
 * latter fits, the rounds of one session are the units: sessions = 1.
 */
RtbPlan
rtb_schedule_plan(const RtbPointCost *costs, int ncosts, int64 left_ns, int needed_corrected,
				  int needed_plain)
{
	RtbPlan		plan = {1, RTB_PILOT_ROUNDS, true};
	RtbPace		pace = rtb_schedule_pace(costs, ncosts);
	int64		first = Max(needed_corrected, RTB_SESSIONS_FIRST);
	int64		fit = 1 + Max(left_ns, 0) / rtb_schedule_session_ns(&pace, plan.rounds);

	if (fit < needed_plain)
	{
		plan.rounds = rtb_schedule_one_session(costs, ncosts, left_ns, needed_plain);
		plan.corrected = plan.rounds >= needed_corrected;
		return plan;
	}
	plan.corrected = fit >= needed_corrected;
	plan.sessions = (int) Min(fit, first);
	if (fit <= first)
		return plan;
	plan.rounds = rtb_schedule_rounds(left_ns, first - 1, &pace);
	fit = 1 + left_ns / rtb_schedule_session_ns(&pace, plan.rounds);
	plan.sessions = (int) Min(fit, RTB_SESSIONS_MOST);
	return plan;
}
