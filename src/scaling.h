/*
 * scaling.h
 *	  How an arm's time grows over the points of a run.
 */
#ifndef RTB_SCALING_H
#define RTB_SCALING_H

#include "postgres.h"

#include "estimate.h"
#include "ledger.h"

/* figures that are not known are NaN, texts NULL */
typedef struct RtbScaling
{
	int			arm;			/* index into the run's arms */
	int			points;			/* that it rests on */
	bool		per_statement;	/* the price is a statement's; else a unit's of the point */
	RtbEstimate price_ns;		/* of one more of them */
	RtbEstimate fixed_ns;		/* what is left of none of them */
	double		flatness;		/* price each at the largest point over that at the smallest */
	double		span;			/* the largest point over the smallest */
	double		doubling;		/* T(2n) / T(n) */
	RtbEstimate exponent;		/* of the time over the point */
	RtbEstimate speedup_growth; /* exponent of the speedup over the point */
	bool		sessions;		/* are the units; else rounds of one */
	char	   *word;
	List	   *notes;			/* of char * */
} RtbScaling;

/* scaling.c */
extern List *rtb_scaling(const RtbRun *run);

/* whole_reads.c: list of char *: relations that a shape text's statements read whole */
extern List *rtb_whole_reads(const char *shapes, bool fired);

#endif							/* RTB_SCALING_H */
