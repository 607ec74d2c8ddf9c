/*
 * observer.h
 *	  What is seen of an arm while it runs, wherever that is.
 */
#ifndef RTB_OBSERVER_H
#define RTB_OBSERVER_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "commits.h"
#include "effects.h"
#include "hooks.h"
#include "pass.h"
#include "probe.h"

typedef struct RtbObserver
{
	/* asked for */
	bool		discovery;		/* the arm's very first pass: note what stands beside the counts */
	bool		committing;		/* the arm's own transactions are committed */
	bool		timed;			/* nothing may be done that costs its statements anything */
	List	   *written;		/* of RtbRelation *: known so far */
	RtbCommitWatch *watch;		/* NULL, or what a discovery that commits has written */
	void		(*starts) (const PlannedStmt *stmt);	/* NULL, or shown every plan */

	/* seen */
	RtbCounts	counts;
	RtbCommits	commits;
	RtbEffects	before;
	RtbEffects	after;
	bool		had_xid;		/* the transaction had an id before the arm */
	bool		wrote;			/* it has one now, or those committed had */
	/* of arms over a connection */
	const struct RtbArmRun *run;
	bool		counted;		/* by the far end */
	char	   *plan_shape;
	char	   *fired_shape;
	RtbProbe	probe;			/* the far end's buffers and WAL */
} RtbObserver;

/* the observer of arms that run in this process */
extern void rtb_observe_before(RtbObserver *o);
extern void rtb_observe_begin(RtbObserver *o);
extern void rtb_observe_end(RtbObserver *o);
extern void rtb_observe_after(RtbObserver *o);
extern void rtb_observe_counts(const RtbObserver *o, const RtbProbe *probe, RtbPass *pass);
extern void rtb_observe_abandon(void);

#endif							/* RTB_OBSERVER_H */
