/*
 * schedule.c
 *	  Arithmetic of the schedule: order, looks, what fits in the time.
 *
 * Pure: no clock, no catalogs.  The numbers are the method's.
 */
#include "postgres.h"

#include "schedule.h"

#include <math.h>

/* then the time is spent on pairs up to this, then on sessions up to that */
#define PAIRS_MOST		4
#define SESSIONS_MOST	48
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

/*
 * rtb_schedule_is_look
 *		Is the width looked at after so many sessions?  needed is the smallest
 *		number that gives an interval.
 */
bool
rtb_schedule_is_look(int sessions, int needed)
{
	static const int looks[] = {12, 16, 20, 24, 32, 48};

	if (sessions == needed)
		return true;
	for (int i = 0; i < lengthof(looks); i++)
	{
		if (sessions == looks[i] && sessions > needed)
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
	static const int looks[] = {20, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256};

	for (int i = 0; i < lengthof(looks); i++)
	{
		if (rounds == looks[i])
			return true;
	}
	return false;
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
 * rtb_schedule_session_ns
 *		What a session costs: one untimed round and the pairs at each point.
 */
int64
rtb_schedule_session_ns(const RtbPointCost *costs, int ncosts, int pairs)
{
	int64		ns = SESSION_START_NS;

	for (int i = 0; i < ncosts; i++)
		ns += costs[i].round_ns * (1 + 2 * pairs);
	return ns;
}

/*
 * rtb_schedule_pairs
 *		Mirror pairs that each of the sessions still wanted can have, from 1 to
 *		the most; round_ns: one round at every point.
 */
int
rtb_schedule_pairs(int64 left_ns, int sessions_left, int64 round_ns)
{
	int64		rounds;

	if (sessions_left <= 0 || round_ns <= 0)
		return PAIRS_MOST;
	rounds = left_ns / sessions_left / round_ns;
	return (int) Min(Max((rounds - 1) / 2, 1), PAIRS_MOST);
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
	RtbPlan		plan = {1, 1, true};
	int64		first = Max(needed_corrected, RTB_SESSIONS_FIRST);
	int64		fit = 1 + left_ns / rtb_schedule_session_ns(costs, ncosts, 1);

	if (fit < needed_plain)
	{
		plan.corrected = false;
		return plan;
	}
	plan.corrected = fit >= needed_corrected;
	plan.sessions = (int) Min(fit, first);
	if (fit <= first)
		return plan;
	while (plan.pairs < PAIRS_MOST &&
		   1 + left_ns / rtb_schedule_session_ns(costs, ncosts, plan.pairs + 1) >= first)
		plan.pairs++;
	fit = 1 + left_ns / rtb_schedule_session_ns(costs, ncosts, plan.pairs);
	plan.sessions = (int) Min(fit, SESSIONS_MOST);
	return plan;
}
