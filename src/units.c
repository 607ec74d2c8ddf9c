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
 * T(baseline) of a round with a control pass is that of its first pass A alone,
 * not the mean of A and A'.  Of the two the mean has the smaller variance (1.5 v
 * instead of 2 v for passes of variance v), but where the arm does what the
 * baseline does, A and the arm's pass B can change places, so that d has a
 * symmetric distribution whatever the noise of a pass is like, and that is all
 * that the signed-rank interval asks for.  The mean of two passes against one
 * is not symmetric: with passes of which 5 % take up to three times as long it
 * gave 2.6 % false alarms at 99 % in 48 sessions of one mirror pair, and 8.6 %
 * in 48 of four pairs, where A alone gave 1.1 and 1.2 %.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "units.h"

#include <math.h>

#include "judge.h"
#include "stats.h"

/* one round of two arms: nanoseconds and places */
typedef struct Round
{
	int			session;
	int			round;
	double		base;
	double		arm;
	int			base_place;
	int			arm_place;
} Round;

static bool
before(const RtbPass *p, const RtbPass *q)
{
	return p->session != q->session ? p->session < q->session : p->round < q->round;
}

/*
 * The rounds that both lists of passes have one in, in their order; returns how
 * many.  -1 if a time in one of them is not known or is 0.
 */
static int
rounds_of(const List *base_passes, const List *arm_passes, bool cpu, Round **rounds)
{
	int			n = 0;
	int			i = 0;
	int			k = 0;

	*rounds = palloc(Max(list_length(base_passes), 1) * sizeof(Round));
	while (i < list_length(base_passes) && k < list_length(arm_passes))
	{
		const RtbPass *base = list_nth(base_passes, i);
		const RtbPass *arm = list_nth(arm_passes, k);
		Round	   *round = &(*rounds)[n];

		if (before(base, arm))
			i++;
		else if (before(arm, base))
			k++;
		else
		{
			*round = (Round) {base->session, base->round,
							  cpu ? base->cpu_ns : base->elapsed_ns,
							  cpu ? arm->cpu_ns : arm->elapsed_ns,
							  base->position, arm->position};
			if (round->base <= 0 || round->arm <= 0)
				return -1;
			n++;
			i++;
			k++;
		}
	}
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

/* logarithms of ratios in the rounds that both have, and their sessions; how many */
static int
logs_of(const List *base_passes, const List *arm_passes, bool cpu, int **sessions, double **values)
{
	Round	   *rounds;
	int			n = Max(rounds_of(base_passes, arm_passes, cpu, &rounds), 0);

	*sessions = palloc(Max(n, 1) * sizeof(int));
	*values = palloc(Max(n, 1) * sizeof(double));
	for (int i = 0; i < n; i++)
	{
		(*sessions)[i] = rounds[i].session;
		(*values)[i] = log(rounds[i].base) - log(rounds[i].arm);
	}
	return n;
}

static RtbUnits
units_of_lists(const List *base_passes, const List *arm_passes, bool cpu)
{
	int		   *sessions;
	double	   *values;
	int			n = logs_of(base_passes, arm_passes, cpu, &sessions, &values);

	return rtb_units_of(sessions, values, n);
}

/*
 * Units of two arms that no backend has in common, of elapsed time: sessions
 * of the same number are pairs.  Rounds of one session are no units here,
 * because the bias of a backend is in one side only.
 */
RtbUnits
rtb_units_pairs(const RtbCell *one, const RtbCell *other)
{
	int		   *sessions;
	double	   *values;
	int			n = logs_of(one->timed, other->timed, false, &sessions, &values);

	return units_of_sessions(sessions, values, n);
}

/*
 * Units of an arm's speedup over the baseline, of elapsed or of CPU time.
 * There are none if a time in a round of both is not known or is 0.
 */
RtbUnits
rtb_units_speedup(const RtbCell *baseline, const RtbCell *arm, bool cpu)
{
	return units_of_lists(baseline->timed, arm->timed, cpu);
}

/* Units of the baseline beside itself: its first passes of a round over its second. */
RtbUnits
rtb_units_control(const RtbCell *baseline)
{
	return units_of_lists(baseline->timed, baseline->control, false);
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
	int			n = rounds_of(baseline->timed, arm->timed, false, &rounds);
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
	int			n = rounds_of(baseline->timed, arm->timed, false, &rounds);
	double		mine = 0;
	double		other = 0;

	for (int i = 0; i < n; i++)
	{
		mine += rounds[i].base;
		other += rounds[i].arm;
	}
	return other > 0 ? mine / other : NAN;
}
