/*
 * units.c
 *	  From the passes of two arms to the units that a ratio rests on.
 *
 * Ratios are formed inside a round, d = ln T(baseline) - ln T(arm), never
 * between averages of different times.  Where a run has several sessions each
 * of them is one unit, the Hodges-Lehmann estimate of its rounds: a backend
 * carries a bias of its own (memory layout, core), which no number of rounds
 * in it averages out.
 *
 * T(baseline) of a round with a control pass is the geometric mean of both
 * passes of the baseline, A and A':
 * - each is a pass of the same arm at a random place of the round, mirrored in
 *   the next, so their mean has no other bias than one of them;
 * - of independent passes with variance v, d has the variance 1.5 v instead of
 *   2 v: intervals are narrower by 13 % for passes that ran anyway;
 * - ln A' - ln A is uncorrelated with the mean of both.  With A alone the runs
 *   that the control lets through would be those where A happened to lie near
 *   A', and the control would have a say in the verdict's estimate.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "units.h"

#include <math.h>

#include "judge.h"
#include "stats.h"

/* one round: nanoseconds and places of what ran in it, NaN and 0 if it did not */
typedef struct Round
{
	int			session;
	int			round;
	double		base;
	double		control;
	double		arm;
	int			base_place;
	int			arm_place;
} Round;

static int
compare_passes(const ListCell *a, const ListCell *b)
{
	const RtbPass *p = lfirst(a);
	const RtbPass *q = lfirst(b);

	if (p->session != q->session)
		return p->session < q->session ? -1 : 1;
	return (p->round > q->round) - (p->round < q->round);
}

static void
put_pass(Round *round, const RtbPass *pass, bool is_arm, bool cpu)
{
	int64		time = cpu ? pass->cpu_ns : pass->elapsed_ns;

	if (is_arm)
	{
		round->arm = time;
		round->arm_place = pass->position;
	}
	else if (pass->control)
		round->control = time;
	else
	{
		round->base = time;
		round->base_place = pass->position;
	}
}

/*
 * The rounds of two arms, in their order; returns how many.  The arm may be
 * NULL, for the baseline's own.  A time that is not known is negative.
 */
static int
rounds_of(const RtbCell *baseline, const RtbCell *arm, bool cpu, Round **rounds)
{
	List	   *passes = list_copy(baseline->timed);
	int			n = 0;
	ListCell   *lc;

	if (arm)
		passes = list_concat(passes, arm->timed);
	list_sort(passes, compare_passes);
	*rounds = palloc(Max(list_length(passes), 1) * sizeof(Round));
	foreach(lc, passes)
	{
		const RtbPass *pass = lfirst(lc);
		Round	   *round = n > 0 ? &(*rounds)[n - 1] : NULL;

		if (round == NULL || round->session != pass->session || round->round != pass->round)
		{
			round = &(*rounds)[n++];
			*round = (Round) {pass->session, pass->round, NAN, NAN, NAN, 0, 0};
		}
		put_pass(round, pass, arm && pass->arm == arm->arm, cpu);
	}
	list_free(passes);
	return n;
}

/* ---- sessions or rounds ---- */

/* each session's Hodges-Lehmann estimate */
static RtbUnits
units_of_sessions(const int *sessions, const double *values, int n)
{
	RtbUnits	units = {0, palloc(Max(n, 1) * sizeof(double)), true, 0, 0};

	for (int start = 0, i = 1; i <= n; i++)
	{
		if (i == n || sessions[i] != sessions[start])
		{
			units.d[units.n++] = rtb_hodges_lehmann(values + start, i - start);
			start = i;
		}
	}
	units.all_sessions = units.n;
	return units;
}

/* the rounds of the session that has the most, the first of such */
static RtbUnits
units_of_rounds(const int *sessions, const double *values, int n, int all_sessions)
{
	RtbUnits	units = {0, palloc(Max(n, 1) * sizeof(double)), false, 0, all_sessions};
	int			best = 0;

	for (int start = 0, i = 1; i <= n; i++)
	{
		if (i == n || sessions[i] != sessions[start])
		{
			if (i - start > units.n)
			{
				units.n = i - start;
				best = start;
			}
			start = i;
		}
	}
	memcpy(units.d, values + best, units.n * sizeof(double));
	if (all_sessions > 1)
		units.session = sessions[best];
	return units;
}

/*
 * Units from a value of each round, sorted by session, in the order they ran.
 * The sessions are the units if there are several, unless they are too few for
 * an interval and the rounds of one of them are not.
 */
RtbUnits
rtb_units_of(const int *sessions, const double *values, int n)
{
	RtbUnits	by_session;
	RtbUnits	by_round;

	by_session = units_of_sessions(sessions, values, n);
	if (by_session.n > 1 && by_session.n >= rtb_judge_needed(RTB_ALPHA))
		return by_session;
	by_round = units_of_rounds(sessions, values, n, by_session.n);
	if (by_session.n > 1 && by_round.n < rtb_judge_needed(RTB_ALPHA))
		return by_session;
	return by_round;
}

/* ---- what units are made of ---- */

/* T(baseline) of a round on the log scale; NaN if it did not run */
static double
log_base(const Round *round)
{
	if (isnan(round->base) || isnan(round->control))
		return log(isnan(round->base) ? round->control : round->base);
	return (log(round->base) + log(round->control)) / 2;
}

/* is everything of a round that ran known, and above zero? */
static bool
times_known(const Round *round)
{
	return !(round->base <= 0) && !(round->control <= 0) && !(round->arm <= 0);
}

/*
 * Units of an arm's speedup over the baseline, of elapsed or of CPU time.
 * There are none if a time in a round of both is not known or is 0.
 */
RtbUnits
rtb_units_speedup(const RtbCell *baseline, const RtbCell *arm, bool cpu)
{
	Round	   *rounds;
	int			n = rounds_of(baseline, arm, cpu, &rounds);
	int		   *sessions = palloc(Max(n, 1) * sizeof(int));
	double	   *values = palloc(Max(n, 1) * sizeof(double));
	int			used = 0;

	for (int i = 0; i < n; i++)
	{
		const Round *round = &rounds[i];

		if (isnan(round->arm) || (isnan(round->base) && isnan(round->control)))
			continue;
		if (!times_known(round))
			return (RtbUnits) {0, values, false, 0, 0};
		sessions[used] = round->session;
		values[used++] = log_base(round) - log(round->arm);
	}
	return rtb_units_of(sessions, values, used);
}

/* Units of the baseline beside itself: ln A' - ln A of elapsed times. */
RtbUnits
rtb_units_control(const RtbCell *baseline)
{
	Round	   *rounds;
	int			n = rounds_of(baseline, NULL, false, &rounds);
	int		   *sessions = palloc(Max(n, 1) * sizeof(int));
	double	   *values = palloc(Max(n, 1) * sizeof(double));
	int			used = 0;

	for (int i = 0; i < n; i++)
	{
		if (!(rounds[i].base > 0 && rounds[i].control > 0))
			continue;
		sessions[used] = rounds[i].session;
		values[used++] = log(rounds[i].control) - log(rounds[i].base);
	}
	return rtb_units_of(sessions, values, used);
}

/*
 * Units of the effect of the order inside a round: in each mirror pair, d of
 * the round where the baseline ran before the arm less d of the round where it
 * ran after it.  *base_first and *base_last: Hodges-Lehmann of d in either.
 */
RtbUnits
rtb_units_order(const RtbCell *baseline, const RtbCell *arm, double *base_first, double *base_last)
{
	Round	   *rounds;
	int			n = rounds_of(baseline, arm, false, &rounds);
	int		   *sessions = palloc(Max(n, 1) * sizeof(int));
	double	   *values = palloc(Max(n, 1) * sizeof(double));
	double	   *first = palloc(Max(n, 1) * sizeof(double));
	double	   *last = palloc(Max(n, 1) * sizeof(double));
	int			pairs = 0;

	for (int i = 0; i + 1 < n; i++)
	{
		const Round *odd = &rounds[i];
		const Round *even = &rounds[i + 1];
		bool		odd_first = odd->base_place < odd->arm_place;

		if (odd->round % 2 == 0 || even->session != odd->session ||
			even->round != odd->round + 1 ||
			!(odd->base > 0 && odd->arm > 0 && even->base > 0 && even->arm > 0) ||
			odd_first == (even->base_place < even->arm_place))
			continue;
		first[pairs] = odd_first ? log(odd->base / odd->arm) : log(even->base / even->arm);
		last[pairs] = odd_first ? log(even->base / even->arm) : log(odd->base / odd->arm);
		sessions[pairs] = odd->session;
		values[pairs] = first[pairs] - last[pairs];
		pairs++;
	}
	*base_first = rtb_hodges_lehmann(first, pairs);
	*base_last = rtb_hodges_lehmann(last, pairs);
	return rtb_units_of(sessions, values, pairs);
}

/* Baseline's total time over the arm's, in the rounds that both have; NaN if none. */
double
rtb_units_total_ratio(const RtbCell *baseline, const RtbCell *arm)
{
	Round	   *rounds;
	int			n = rounds_of(baseline, arm, false, &rounds);
	double		mine = 0;
	double		other = 0;

	for (int i = 0; i < n; i++)
	{
		const Round *round = &rounds[i];
		double		base = isnan(round->control) ? round->base :
			isnan(round->base) ? round->control : (round->base + round->control) / 2;

		if (isnan(base) || isnan(round->arm))
			continue;
		mine += base;
		other += round->arm;
	}
	return other > 0 ? mine / other : NAN;
}
