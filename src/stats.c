/*
 * stats.c
 *	  Pure arithmetic on arrays of doubles: no SPI, no hooks, no catalogs.
 *
 * Values must be finite; the callers see to it.  What cannot be computed from
 * the values given is NaN.
 *
 * Selections among pairs (Walsh averages, slopes) never form the n^2 pairs of
 * a long array: the k-th smallest is found by halving the range of doubles
 * and counting the pairs below, at most 64 times.  So Hodges-Lehmann and its
 * interval take O(n log n) time and one copy of the array; a Theil-Sen slope
 * and Kendall's tau O(n log n) per count and four copies.  Those loops check
 * for interrupts once per count.
 *
 * Memory: copies are palloc'd in the current context and freed before return.
 */
#include "postgres.h"

#include "stats.h"

#include <float.h>
#include <math.h>

#include "miscadmin.h"
#include "utils/float.h"

/* above this many values a slope is found by counting, not by forming pairs */
#define FORM_PAIRS_UP_TO	512

/* R's cor.test() uses the exact distribution below this many values */
#define EXACT_KENDALL_BELOW	50

typedef struct Point
{
	double		x;
	double		y;
} Point;

/* size of an array of doubles; long arrays are allowed beyond 1 GB in total */
static double *
alloc_doubles(int64 n)
{
	return palloc_extended(Max(n, 1) * sizeof(double), MCXT_ALLOC_HUGE);
}

static double *
copy_doubles(const double *x, int n)
{
	double	   *copy = alloc_doubles(n);

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

static int
compare_points(const void *a, const void *b)
{
	const Point *p = a;
	const Point *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->y > q->y) - (p->y < q->y);
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
 * counted; all members lie in [low, high].
 */
typedef int64 (*CountUpTo) (double limit, void *set);

static double
select_by_counting(CountUpTo count, void *set, double low, double high, int64 k)
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

/* the mean of the middle two, or the middle one, of a countable set of m */
static double
median_by_counting(CountUpTo count, void *set, double low, double high, int64 m)
{
	double		upper;
	double		lower;

	lower = select_by_counting(count, set, low, high, (m + 1) / 2);
	if (m % 2 != 0)
		return lower;
	upper = select_by_counting(count, set, lower, high, m / 2 + 1);
	return lower / 2 + upper / 2;
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
	estimate = median_by_counting(count_walsh, &walsh, sorted[0], sorted[n - 1],
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
	p = alloc_doubles(m + 1);
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
	*low = select_by_counting(count_walsh, &walsh, sorted[0], sorted[n - 1], c + 1);
	*high = select_by_counting(count_walsh, &walsh, *low, sorted[n - 1], m - c);
	pfree(sorted);
	return true;
}

/* ---- pairs of points ---- */

/*
 * Sort values and count the pairs that stood in descending order (merge sort,
 * bottom up).  work has the same size.
 */
static int64
sort_counting_inversions(double *values, double *work, int n)
{
	int64		inversions = 0;

	for (int64 width = 1; width < n; width *= 2)
	{
		for (int64 start = 0; start < n; start += 2 * width)
		{
			int64		middle = Min(start + width, n);
			int64		end = Min(start + 2 * width, n);
			int64		left = start;
			int64		right = middle;

			for (int64 to = start; to < end; to++)
			{
				if (right >= end || (left < middle && values[left] <= values[right]))
					work[to] = values[left++];
				else
				{
					inversions += middle - left;
					work[to] = values[right++];
				}
			}
		}
		memcpy(values, work, n * sizeof(double));
	}
	return inversions;
}

static Point *
sorted_points(const double *x, const double *y, int n)
{
	Point	   *points = palloc_extended(Max(n, 1) * sizeof(Point), MCXT_ALLOC_HUGE);

	for (int i = 0; i < n; i++)
	{
		points[i].x = x[i];
		points[i].y = y[i];
	}
	qsort(points, n, sizeof(Point), compare_points);
	return points;
}

static int64
pairs_of(int64 n)
{
	return n * (n - 1) / 2;
}

/*
 * Sums over the groups of equal values that Kendall's variance needs: pairs
 * (t(t-1)/2), t(t-1)(2t+5) and t(t-1)(t-2).
 */
typedef struct Ties
{
	int64		pairs;
	double		variance;
	double		triples;
} Ties;

static void
add_group(Ties *ties, int64 size)
{
	double		t = size;

	ties->pairs += pairs_of(size);
	ties->variance += t * (t - 1) * (2 * t + 5);
	ties->triples += t * (t - 1) * (t - 2);
}

static Ties
ties_of_sorted(const double *sorted, int n)
{
	Ties		ties = {0};

	for (int start = 0, i = 1; i <= n; i++)
	{
		if (i == n || sorted[i] != sorted[start])
		{
			add_group(&ties, i - start);
			start = i;
		}
	}
	return ties;
}

/* P(at most k inversions) in a random order of n values: one value at a time */
static double
kendall_cumulative(int64 k, int n)
{
	int			m = n * (n - 1) / 2;
	double	   *p = alloc_doubles(m + 1);
	double	   *q = alloc_doubles(m + 1);
	double		sum = 0;

	memset(p, 0, (m + 1) * sizeof(double));
	p[0] = 1;
	for (int r = 2; r <= n; r++)
	{
		for (int s = 0; s <= m; s++)
		{
			q[s] = 0;
			for (int i = 0; i < r && i <= s; i++)
				q[s] += p[s - i] / r;
		}
		memcpy(p, q, (m + 1) * sizeof(double));
	}
	for (int s = 0; s <= Min(k, m); s++)
		sum += p[s];
	pfree(p);
	pfree(q);
	return Min(sum, 1);
}

/*
 * Two-sided p-value of Kendall's S = concordant - discordant pairs, as R's
 * cor.test(method = "kendall") has it: exact below 50 values without ties,
 * else normal with the variance corrected for ties.
 */
static double
kendall_p_value(int64 s, int n, const Ties *tx, const Ties *ty)
{
	double		size = n;
	double		variance;

	if (n < EXACT_KENDALL_BELOW && tx->pairs == 0 && ty->pairs == 0)
	{
		int64		fewer = (pairs_of(n) - Abs(s)) / 2;

		return Min(1, 2 * kendall_cumulative(fewer, n));
	}
	variance = (size * (size - 1) * (2 * size + 5) - tx->variance - ty->variance) / 18
		+ (2.0 * tx->pairs) * (2.0 * ty->pairs) / (2 * size * (size - 1));
	if (n > 2)
		variance += tx->triples * ty->triples / (9 * size * (size - 1) * (size - 2));
	return erfc(fabs(s / sqrt(variance)) / M_SQRT2);
}

/*
 * Kendall's tau-b of y against x, and its two-sided p-value unless p_value is
 * NULL.  Pairs by Knight's method (1966): sorted by x, the discordant pairs
 * are the inversions of y.  NaN of fewer than two values, and if all of x or
 * all of y are the same.
 */
double
rtb_kendall(const double *x, const double *y, int n, double *p_value)
{
	Point	   *points = sorted_points(x, y, n);
	double	   *values = alloc_doubles(n);
	double	   *work = alloc_doubles(n);
	int64		both = 0;
	int64		discordant;
	int64		s;
	Ties		tx;
	Ties		ty;
	double		tau = get_float8_nan();

	for (int start = 0, i = 1; i <= n; i++)
	{
		if (i == n || compare_points(&points[i], &points[start]) != 0)
		{
			both += pairs_of(i - start);
			start = i;
		}
	}
	for (int i = 0; i < n; i++)
		values[i] = points[i].x;
	tx = ties_of_sorted(values, n);
	for (int i = 0; i < n; i++)
		values[i] = points[i].y;
	discordant = sort_counting_inversions(values, work, n);
	ty = ties_of_sorted(values, n);

	s = pairs_of(n) - tx.pairs - ty.pairs + both - 2 * discordant;
	if (tx.pairs < pairs_of(n) && ty.pairs < pairs_of(n))
	{
		tau = s / sqrt((double) (pairs_of(n) - tx.pairs)) /
			sqrt((double) (pairs_of(n) - ty.pairs));
		tau = Max(-1, Min(1, tau));
	}
	if (p_value)
		*p_value = isnan(tau) ? tau : kendall_p_value(s, n, &tx, &ty);
	pfree(points);
	pfree(values);
	pfree(work);
	return tau;
}

typedef struct Slopes
{
	const Point *points;		/* x and -y, sorted by both */
	int			n;
	int64		total;			/* pairs with different x */
	double	   *values;
	double	   *work;
} Slopes;

/*
 * How many slopes of pairs with different x are at most limit.  The points
 * carry -y: a slope is at most limit unless limit * x - y descends from the
 * one point to the other.  Points of equal x are sorted by -y, so they never
 * descend.
 */
static int64
count_slopes(double limit, void *set)
{
	Slopes	   *slopes = set;
	const Point *p = slopes->points;

	for (int i = 0; i < slopes->n; i++)
		slopes->values[i] = limit * p[i].x + p[i].y;
	return slopes->total - sort_counting_inversions(slopes->values, slopes->work, slopes->n);
}

/* the median slope of a long array, by counting */
static double
theil_sen_by_counting(const double *x, const double *y, int n)
{
	double	   *negated = alloc_doubles(n);
	Point	   *points;
	Slopes		slopes;
	double		slope = get_float8_nan();

	for (int i = 0; i < n; i++)
		negated[i] = -y[i];
	points = sorted_points(x, negated, n);
	slopes.points = points;
	slopes.n = n;
	slopes.total = pairs_of(n);
	for (int start = 0, i = 1; i <= n; i++)
	{
		if (i == n || points[i].x != points[start].x)
		{
			slopes.total -= pairs_of(i - start);
			start = i;
		}
	}
	slopes.values = alloc_doubles(n);
	slopes.work = negated;
	if (slopes.total > 0)
		slope = median_by_counting(count_slopes, &slopes, -DBL_MAX, DBL_MAX, slopes.total);
	pfree(points);
	pfree(slopes.values);
	pfree(negated);
	return slope;
}

/* the median slope of a short array: every slope is formed */
static double
theil_sen_of_pairs(const double *x, const double *y, int n)
{
	double	   *slopes = alloc_doubles(pairs_of(n));
	int			count = 0;
	double		slope;

	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++)
			if (x[j] != x[i])
				slopes[count++] = (y[j] - y[i]) / (x[j] - x[i]);
	slope = rtb_median(slopes, count);
	pfree(slopes);
	return slope;
}

/*
 * Theil-Sen slope of y on x: the median of the slopes of all pairs with
 * different x (Theil 1950, Sen 1968).  NaN when there is no such pair.  Above
 * 512 values the slope is found by counting and is right up to the rounding
 * of slope * x - y.
 */
double
rtb_theil_sen(const double *x, const double *y, int n)
{
	return n <= FORM_PAIRS_UP_TO ? theil_sen_of_pairs(x, y, n) :
		theil_sen_by_counting(x, y, n);
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
