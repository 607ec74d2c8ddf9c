/*
 * estimate.c
 *	  An estimate with its interval, from units that stand for one run each.
 *
 * Hodges-Lehmann and the signed-rank interval (stats.c) suppose that units
 * are independent.  Rounds that follow one another in a backend often are not.
 *
 * Memory: copies are palloc'd in the current context and freed before return.
 */
#include "postgres.h"

#include "estimate.h"

#include <math.h>

#include "judge.h"
#include "stats.h"

/* beyond this the variance of a mean can no longer be told from so few units */
#define MOST_AUTOCORRELATION	0.9

/*
 * Correlated units tell less than their number.  Where they are correlated
 * beyond what chance gives (the standard error of an autocorrelation is
 * 1 / sqrt(n)), neighbouring pairs are averaged: a pair of mirrored rounds
 * becomes one unit, and what is left of the correlation is small.  Where the
 * pairs would be too few for the level, the interval is widened instead by the
 * factor by which correlation of first order widens that of a mean,
 * sqrt((1 + r) / (1 - r)).
 */
static void
make_up_for_correlation(RtbEstimate *e, const double *units, int n, double alpha)
{
	double		r = rtb_autocorrelation(units, n);
	int			pairs = n / 2;
	double	   *means;
	double		factor;

	if (!(r > 2 / sqrt(n)))
		return;
	e->autocorrelation = r;
	means = palloc(Max(pairs, 1) * sizeof(double));
	for (int i = 0; i < pairs; i++)
		means[i] = (units[2 * i] + units[2 * i + 1]) / 2;
	e->averaged = rtb_signed_rank_interval(means, pairs, alpha, &e->low, &e->high);
	if (e->averaged)
		e->value = rtb_hodges_lehmann(means, pairs);
	else
	{
		r = Min(r, MOST_AUTOCORRELATION);
		factor = sqrt((1 + r) / (1 - r));
		e->low = e->value - factor * (e->value - e->low);
		e->high = e->value + factor * (e->high - e->value);
	}
	pfree(means);
}

/*
 * Hodges-Lehmann estimate of units in the order they ran, and its interval at
 * 1 - alpha if so many units reach that level, else at 1 - RTB_ALPHA, else
 * none.  Units are finite.  Throws nothing but lack of memory.
 */
RtbEstimate
rtb_estimate(const double *units, int n, double alpha)
{
	RtbEstimate e = {n, NAN, NAN, NAN, NAN, true, NAN, false};

	if (n == 0)
		return e;
	e.value = rtb_hodges_lehmann(units, n);
	if (rtb_signed_rank_critical(n, alpha) == RTB_NO_CRITICAL)
	{
		alpha = RTB_ALPHA;
		e.corrected = false;
	}
	if (!rtb_signed_rank_interval(units, n, alpha, &e.low, &e.high))
		return e;
	e.level = 1 - alpha;
	make_up_for_correlation(&e, units, n, alpha);
	return e;
}
