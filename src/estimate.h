/*
 * estimate.h
 *	  An estimate with its interval, from units that stand for one run each.
 */
#ifndef RTB_ESTIMATE_H
#define RTB_ESTIMATE_H

#include "postgres.h"

/* on the scale of the units; NaN where it is not known */
typedef struct RtbEstimate
{
	int			units;			/* given */
	double		value;
	double		low;
	double		high;
	double		level;			/* of the interval; NaN without one */
	bool		corrected;		/* the level is the one asked for */
	double		autocorrelation;	/* at lag 1, where it was made up for; else NaN */
	bool		averaged;		/* by averaging neighbouring pairs; else by widening */
} RtbEstimate;

extern RtbEstimate rtb_estimate(const double *units, int n, double alpha);

#endif							/* RTB_ESTIMATE_H */
