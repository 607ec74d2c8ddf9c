/*
 * stats_select.h
 *	  Selection from sets too large to form, by counting.
 */
#ifndef RTB_STATS_SELECT_H
#define RTB_STATS_SELECT_H

#include "postgres.h"

/* how many members of a set are at most limit */
typedef int64 (*RtbCountUpTo) (double limit, void *set);

extern double *rtb_alloc_doubles(int64 n);
extern double rtb_select_by_counting(RtbCountUpTo count, void *set,
									 double low, double high, int64 k);
extern double rtb_median_by_counting(RtbCountUpTo count, void *set,
									 double low, double high, int64 m);

#endif							/* RTB_STATS_SELECT_H */
