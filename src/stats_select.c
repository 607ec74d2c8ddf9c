/*
 * stats_select.c
 *	  Selection from sets too large to form, by counting.
 *
 * The n^2 averages or slopes of the pairs of a long array are never formed:
 * the k-th smallest is found by halving the range of doubles and counting the
 * members below, so a selection takes at most 64 counts and no memory.  It
 * checks for interrupts once per count.
 *
 * Memory: rtb_alloc_doubles() pallocs in the current context.
 */
#include "postgres.h"

#include "stats_select.h"

#include "miscadmin.h"

/* An array of n doubles, also beyond 1 GB; palloc'd, throws if memory runs out. */
double *
rtb_alloc_doubles(int64 n)
{
	return palloc_extended(Max(n, 1) * sizeof(double), MCXT_ALLOC_HUGE);
}

/*
 * Doubles in their order as unsigned integers, so that halving a range of
 * integers halves a range of doubles and ends at one of them.
 */
static uint64
double_to_ordinal(double x)
{
	uint64		bits;

	x += 0.0;					/* -0 and 0 are one value */
	memcpy(&bits, &x, sizeof(bits));
	return (bits >> 63) ? ~bits : bits | (UINT64CONST(1) << 63);
}

static double
ordinal_to_double(uint64 ordinal)
{
	uint64		bits = (ordinal >> 63) ? ordinal & ~(UINT64CONST(1) << 63) : ~ordinal;
	double		x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/*
 * The k-th smallest (from 1) of a set whose members up to a limit can be
 * counted; all members lie in [low, high].  At most 64 counts.
 */
double
rtb_select_by_counting(RtbCountUpTo count, void *set, double low, double high, int64 k)
{
	uint64		lo = double_to_ordinal(low);
	uint64		hi = double_to_ordinal(high);

	while (lo < hi)
	{
		uint64		middle = lo + (hi - lo) / 2;

		CHECK_FOR_INTERRUPTS();
		if (count(ordinal_to_double(middle), set) >= k)
			hi = middle;
		else
			lo = middle + 1;
	}
	return ordinal_to_double(lo) + 0.0; /* never -0 */
}

/* The mean of the middle two, or the middle one, of such a set of m. */
double
rtb_median_by_counting(RtbCountUpTo count, void *set, double low, double high, int64 m)
{
	double		upper;
	double		lower;

	lower = rtb_select_by_counting(count, set, low, high, (m + 1) / 2);
	if (m % 2 != 0)
		return lower;
	upper = rtb_select_by_counting(count, set, lower, high, m / 2 + 1);
	return lower / 2 + upper / 2;
}
