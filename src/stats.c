/*
 * stats.c
 *	  Pure arithmetic on arrays of doubles: no SPI, no hooks, no catalogs.
 *
 * Values must be finite; the callers see to it.  What cannot be computed from
 * the values given is NaN.
 *
 * Walsh averages are selected, never formed: Hodges-Lehmann and its interval
 * take O(n log n) time and one copy of the array.
 *
 * Memory: copies are palloc'd in the current context and freed before return.
 */
#include "postgres.h"

#include "stats.h"
#include "stats_select.h"

#include <math.h>

#include "utils/float.h"

static double *
copy_doubles(const double *x, int n)
{
	double	   *copy = rtb_alloc_doubles(n);

	if (n > 0)
		memcpy(copy, x, n * sizeof(double));
	return copy;
}

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* Sort in place, ascending. */
void
rtb_sort(double *x, int n)
{
	qsort(x, n, sizeof(double), compare_doubles);
}

/*
 * Quantile of sorted values, type 7 of Hyndman and Fan (1996), which R and
 * percentile_cont() use: linear between the order statistics.  fraction is
 * within [0, 1].  NaN of no values.
 */
double
rtb_quantile_sorted(const double *sorted, int n, double fraction)
{
	double		h;
	int			i;

	if (n == 0)
		return get_float8_nan();
	h = (n - 1) * fraction;
	i = (int) floor(h);
	if (i >= n - 1)
		return sorted[n - 1];
	h -= i;
	/* weights rather than a difference: a difference may overflow */
	return h == 0 ? sorted[i] : (1 - h) * sorted[i] + h * sorted[i + 1];
}

/* Median; NaN of no values. */
double
rtb_median(const double *x, int n)
{
	double	   *copy = copy_doubles(x, n);
	double		median;

	rtb_sort(copy, n);
	median = rtb_quantile_sorted(copy, n, 0.5);
	pfree(copy);
	return median;
}

/*
 * Median of the absolute deviations from the median, as it is: 1.4826 times
 * that estimates the standard deviation of a normal population.
 */
double
rtb_mad(const double *x, int n)
{
	double		median = rtb_median(x, n);
	double	   *deviations = copy_doubles(x, n);
	double		mad;

	for (int i = 0; i < n; i++)
		deviations[i] = fabs(deviations[i] - median);
	mad = rtb_median(deviations, n);
	pfree(deviations);
	return mad;
}

/* How many values lie beyond Q3 + 3 (Q3 - Q1). */
int
rtb_outliers(const double *x, int n)
{
	double	   *copy = copy_doubles(x, n);
	double		q1;
	double		q3;
	int			count = 0;

	rtb_sort(copy, n);
	q1 = rtb_quantile_sorted(copy, n, 0.25);
	q3 = rtb_quantile_sorted(copy, n, 0.75);
	while (count < n && copy[n - 1 - count] > q3 + 3 * (q3 - q1))
		count++;
	pfree(copy);
	return count;
}

/*
 * Autocorrelation at lag 1 (Box and Jenkins; what R's acf() gives).  NaN of
 * fewer than two values, and of values that are all the same.
 */
double
rtb_autocorrelation(const double *x, int n)
{
	double		mean = 0;
	double		products = 0;
	double		squares = 0;

	for (int i = 0; i < n; i++)
		mean += (x[i] - mean) / (i + 1);
	for (int i = 0; i < n; i++)
	{
		squares += (x[i] - mean) * (x[i] - mean);
		if (i > 0)
			products += (x[i] - mean) * (x[i - 1] - mean);
	}
	return n < 2 || squares == 0 ? get_float8_nan() : products / squares;
}

/*
 * The z that a standard normal variable exceeds with probability upper_tail,
 * which is within (0, 0.5]: erfc() inverted by halving, to the last bit that
 * erfc() tells apart.
 */
double
rtb_normal_quantile(double upper_tail)
{
	double		low = 0;
	double		high = 40;		/* erfc() is 0 from 39 on */

	for (int i = 0; i < 64; i++)
	{
		double		middle = (low + high) / 2;

		if (erfc(middle / M_SQRT2) / 2 > upper_tail)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/* ---- Walsh averages: (x_i + x_j) / 2 for all i <= j ---- */

typedef struct Walsh
{
	const double *sorted;
	int			n;
} Walsh;

static inline double
walsh_average(double a, double b)
{
	double		sum = a + b;

	return isinf(sum) ? a / 2 + b / 2 : sum / 2;
}

/*
 * How many averages are at most limit.  They grow with i and with j, so one
 * walk along the edge counts them all.
 */
static int64
count_walsh(double limit, void *set)
{
	const Walsh *walsh = set;
	const double *x = walsh->sorted;
	int			j = walsh->n - 1;
	int64		count = 0;

	for (int i = 0; i < walsh->n; i++)
	{
		while (j >= i && walsh_average(x[i], x[j]) > limit)
			j--;
		if (j < i)
			break;
		count += j - i + 1;
	}
	return count;
}

static int64
walsh_total(int n)
{
	return (int64) n * ((int64) n + 1) / 2;
}

/*
 * Hodges-Lehmann estimate: the median of all Walsh averages (Hodges and
 * Lehmann 1963).  Zeros and ties are values like any other.  NaN of no values.
 */
double
rtb_hodges_lehmann(const double *x, int n)
{
	double	   *sorted;
	Walsh		walsh;
	double		estimate;

	if (n == 0)
		return get_float8_nan();
	sorted = copy_doubles(x, n);
	rtb_sort(sorted, n);
	walsh.sorted = sorted;
	walsh.n = n;
	estimate = rtb_median_by_counting(count_walsh, &walsh, sorted[0], sorted[n - 1],
								  walsh_total(n));
	pfree(sorted);
	return estimate;
}

/*
 * The largest c with P(V <= c) <= alpha / 2 for the Wilcoxon signed-rank
 * statistic V of n units without ties; RTB_NO_CRITICAL while 2^(1-n) > alpha.
 *
 * Exact up to n = 60 by p_r(s) = (p_{r-1}(s) + p_{r-1}(s-r)) / 2: rank r is
 * in the sum or is not.  Beyond, the normal approximation with continuity
 * correction (Hollander and Wolfe, Nonparametric Statistical Methods, ch. 3).
 */
int64
rtb_signed_rank_critical(int n, double alpha)
{
	int			m;
	double		tail = alpha / 2 * (1 + 1e-12); /* 1 - level is not quite alpha */
	double		sum = 0;
	double	   *p;
	int64		c = 0;

	if (n < 1)
		return RTB_NO_CRITICAL;
	if (n > RTB_EXACT_SIGNED_RANK)
	{
		double		total = (double) n * (n + 1.0);
		double		z = rtb_normal_quantile(Min(alpha / 2, 0.5));

		c = (int64) floor(total / 4 - z * sqrt(total * (2.0 * n + 1) / 24) - 0.5);
		return c < 0 ? RTB_NO_CRITICAL : c;
	}

	m = (int) walsh_total(n);
	p = rtb_alloc_doubles(m + 1);
	memset(p, 0, (m + 1) * sizeof(double));
	p[0] = 1;
	for (int r = 1; r <= n; r++)
		for (int s = r * (r + 1) / 2; s >= 0; s--)
			p[s] = (p[s] + (s >= r ? p[s - r] : 0)) / 2;
	while (c <= m && sum + p[c] <= tail)
		sum += p[c++];
	pfree(p);
	return c - 1;
}

/*
 * Interval that inverts the signed-rank test: [W(c+1), W(M-c)] of the M
 * sorted Walsh averages.  False, and the bounds untouched, if none exists.
 *
 * Zeros and ties are kept, and c is that of the distribution without ties:
 * the closed interval then covers with at least its level (Noether 1967).
 */
bool
rtb_signed_rank_interval(const double *x, int n, double alpha, double *low, double *high)
{
	int64		c = rtb_signed_rank_critical(n, alpha);
	int64		m = walsh_total(n);
	double	   *sorted;
	Walsh		walsh;

	/* beyond half of the averages the bounds would change places */
	if (c == RTB_NO_CRITICAL || c + 1 > m - c)
		return false;
	sorted = copy_doubles(x, n);
	rtb_sort(sorted, n);
	walsh.sorted = sorted;
	walsh.n = n;
	*low = rtb_select_by_counting(count_walsh, &walsh, sorted[0], sorted[n - 1], c + 1);
	*high = rtb_select_by_counting(count_walsh, &walsh, *low, sorted[n - 1], m - c);
	pfree(sorted);
	return true;
}

/* ---- digits ---- */

/* The power of ten of x's first digit: 0 for 1 to 9.99, -1 for 0.1; x is not 0. */
int
rtb_magnitude(double x)
{
	return (int) floor(log10(fabs(x)));
}

/*
 * x rounded to a number of significant digits, as text that numeric takes;
 * palloc'd in the current context.  Its digits are those of the decimal form,
 * so that 15.0 stays 15.0 and 12345 becomes 1.23e+04.
 */
char *
rtb_format_significant(double x, int digits)
{
	return psprintf("%.*e", Max(digits, 1) - 1, x);
}
