/*
 * stats.h
 *	  Pure arithmetic on arrays of doubles.
 */
#ifndef RTB_STATS_H
#define RTB_STATS_H

#include "postgres.h"

/* no critical value exists: too few units for that alpha */
#define RTB_NO_CRITICAL	(INT64CONST(-1))

/* up to this many units the signed-rank distribution is exact */
#define RTB_EXACT_SIGNED_RANK	60

extern void rtb_sort(double *x, int n);
extern double rtb_quantile_sorted(const double *sorted, int n, double fraction);
extern double rtb_median(const double *x, int n);
extern double rtb_mad(const double *x, int n);
extern int	rtb_outliers(const double *x, int n);
extern double rtb_autocorrelation(const double *x, int n);

extern double rtb_normal_quantile(double upper_tail);
extern double rtb_hodges_lehmann(const double *x, int n);
extern int64 rtb_signed_rank_critical(int n, double alpha);
extern bool rtb_signed_rank_interval(const double *x, int n, double alpha,
									 double *low, double *high);

extern double rtb_theil_sen(const double *x, const double *y, int n);
extern double rtb_kendall(const double *x, const double *y, int n, double *p_value);

extern int	rtb_magnitude(double x);
extern char *rtb_format_significant(double x, int digits);

#endif							/* RTB_STATS_H */
