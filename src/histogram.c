/*
 * histogram.c
 *	  Latencies in bounded memory: their quantiles to within 1 %.
 *
 * Buckets as HdrHistogram has them (G. Tene): linear inside each octave, so
 * that the width of a bucket is in proportion to the values in it.
 *
 * Pure: no catalogs, no memory of its own.
 */
#include "postgres.h"

#include "histogram.h"

#include <math.h>

/*
 * rtb_histogram_merge
 *		Add all values of another one.
 */
void
rtb_histogram_merge(RtbHistogram *into, const RtbHistogram *other)
{
	into->n += other->n;
	into->max = Max(into->max, other->max);
	into->sum += other->sum;
	into->sum_of_squares += other->sum_of_squares;
	for (int i = 0; i < RTB_HISTOGRAM_BUCKETS; i++)
		into->counts[i] += other->counts[i];
}

/*
 * rtb_histogram_middle
 *		The value in the middle of a bucket, from the first integer in it to the
 *		last.
 */
double
rtb_histogram_middle(int bucket)
{
	int			shift = Max(bucket / RTB_HISTOGRAM_HALF - 1, 0);
	int64		first = (int64) (bucket - shift * RTB_HISTOGRAM_HALF) << shift;

	return first + ((INT64CONST(1) << shift) - 1) / 2.0;
}

/*
 * rtb_histogram_quantile
 *		The smallest value that at least this share of all values do not exceed,
 *		to within half a bucket; NaN of none.  Never above the largest value.
 */
double
rtb_histogram_quantile(const RtbHistogram *h, double fraction)
{
	int64		rank = (int64) Max(ceil(fraction * h->n - 1e-9), 1);
	int64		seen = 0;

	if (h->n == 0)
		return NAN;
	if (rank >= h->n)
		return (double) h->max;
	for (int i = 0; i < RTB_HISTOGRAM_BUCKETS; i++)
	{
		seen += h->counts[i];
		if (seen >= rank)
			return Min(rtb_histogram_middle(i), (double) h->max);
	}
	return (double) h->max;
}

/*
 * rtb_histogram_mean
 *		The exact mean; NaN of none.
 */
double
rtb_histogram_mean(const RtbHistogram *h)
{
	return h->n > 0 ? h->sum / h->n : NAN;
}

/*
 * rtb_histogram_stddev
 *		The exact standard deviation of the values; NaN of fewer than two.
 */
double
rtb_histogram_stddev(const RtbHistogram *h)
{
	double		mean = rtb_histogram_mean(h);

	if (h->n < 2)
		return NAN;
	return sqrt(Max(h->sum_of_squares / h->n - mean * mean, 0) * h->n / (h->n - 1));
}
