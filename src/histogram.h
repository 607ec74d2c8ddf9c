/*
 * histogram.h
 *	  Latencies in bounded memory: their quantiles to within 1 %.
 */
#ifndef RTB_HISTOGRAM_H
#define RTB_HISTOGRAM_H

#include "postgres.h"

#include "port/pg_bitutils.h"

/*
 * Values below 2^RTB_HISTOGRAM_BITS have a bucket each; every octave above has
 * half as many buckets of equal width, so that a value differs from the middle
 * of its bucket by at most 1/2^RTB_HISTOGRAM_BITS of itself.
 */
#define RTB_HISTOGRAM_BITS		8
#define RTB_HISTOGRAM_HALF		(1 << (RTB_HISTOGRAM_BITS - 1))
/* the largest value told apart: 2^44 ns are almost five hours */
#define RTB_HISTOGRAM_OCTAVES	44
#define RTB_HISTOGRAM_BUCKETS \
	((RTB_HISTOGRAM_OCTAVES - RTB_HISTOGRAM_BITS + 2) * RTB_HISTOGRAM_HALF)

/* flat: may lie in shared memory; all zeroes is an empty one */
typedef struct RtbHistogram
{
	int64		n;
	int64		max;			/* exact */
	double		sum;
	double		sum_of_squares;
	uint32		counts[RTB_HISTOGRAM_BUCKETS];
} RtbHistogram;

/* the bucket of a value of at least 0 */
static inline int
rtb_histogram_bucket(int64 value)
{
	int			shift;

	if (value < 2 * RTB_HISTOGRAM_HALF)
		return (int) value;
	if (value >= INT64CONST(1) << RTB_HISTOGRAM_OCTAVES)
		return RTB_HISTOGRAM_BUCKETS - 1;
	shift = pg_leftmost_one_pos64((uint64) value) - RTB_HISTOGRAM_BITS + 1;
	return shift * RTB_HISTOGRAM_HALF + (int) (value >> shift);
}

/* add a value; what is below 0 counts as 0 */
static inline void
rtb_histogram_add(RtbHistogram *h, int64 value)
{
	value = Max(value, 0);
	h->n++;
	h->max = Max(h->max, value);
	h->sum += (double) value;
	h->sum_of_squares += (double) value * (double) value;
	h->counts[rtb_histogram_bucket(value)]++;
}

extern void rtb_histogram_merge(RtbHistogram *into, const RtbHistogram *other);
extern double rtb_histogram_middle(int bucket);
extern double rtb_histogram_quantile(const RtbHistogram *h, double fraction);
extern double rtb_histogram_mean(const RtbHistogram *h);
extern double rtb_histogram_stddev(const RtbHistogram *h);

#endif							/* RTB_HISTOGRAM_H */
