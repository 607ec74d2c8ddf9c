/*
 * stats_pairs.c
 *	  Pure arithmetic on pairs of values: Theil-Sen slope, Kendall's tau.
 *
 * As stats.c: finite values in, NaN for what they do not determine.  Long
 * arrays take O(n log n) time for each count of pairs, and five copies.
 *
 * Memory: copies are palloc'd in the current context and freed before return.
 */
#include "postgres.h"

#include "stats.h"
#include "stats_select.h"

#include <float.h>
#include <math.h>

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
	double	   *p = rtb_alloc_doubles(m + 1);
	double	   *q = rtb_alloc_doubles(m + 1);
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
		int64		fewer = (pairs_of(n) - (s < 0 ? -s : s)) / 2;

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
	double	   *values = rtb_alloc_doubles(n);
	double	   *work = rtb_alloc_doubles(n);
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
	double	   *negated = rtb_alloc_doubles(n);
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
	slopes.values = rtb_alloc_doubles(n);
	slopes.work = negated;
	if (slopes.total > 0)
		slope = rtb_median_by_counting(count_slopes, &slopes, -DBL_MAX, DBL_MAX, slopes.total);
	pfree(points);
	pfree(slopes.values);
	pfree(negated);
	return slope;
}

/* the median slope of a short array: every slope is formed */
static double
theil_sen_of_pairs(const double *x, const double *y, int n)
{
	double	   *slopes = rtb_alloc_doubles(pairs_of(n));
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
