/*
 * load_waits.h
 *	  What the sessions of a load wait for, sampled from outside.
 */
#ifndef RTB_LOAD_WAITS_H
#define RTB_LOAD_WAITS_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "storage/proc.h"

#define RTB_WAIT_KINDS	64

/* samples of one group */
typedef struct RtbWaits
{
	int			n;
	uint32		events[RTB_WAIT_KINDS];	/* as in PGPROC; 0: it ran */
	int64		samples[RTB_WAIT_KINDS];
	int64		idle;			/* it waited for its schedule */
} RtbWaits;

extern void rtb_waits_sample(RtbWaits *waits, const PGPROC *proc, bool busy);
extern List *rtb_waits_counts(const RtbWaits *waits);

#endif							/* RTB_LOAD_WAITS_H */
