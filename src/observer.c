/*
 * observer.c
 *	  What is seen of an arm while it runs in this process: hooks, ends of
 *	  transactions, and the server's own counters.
 *
 * Memory: nothing is kept.
 */
#include "postgres.h"

#include "observer.h"

#include "access/xact.h"

/*
 * rtb_observe_before
 *		In a transaction before the arm's: what is there already.
 */
void
rtb_observe_before(RtbObserver *o)
{
	rtb_effects_read(o->written, &o->before);
}

/*
 * rtb_observe_begin
 *		In the arm's transaction, right before the clock starts.
 */
void
rtb_observe_begin(RtbObserver *o)
{
	rtb_hooks_begin(o->discovery);
	if (o->starts != NULL)
		rtb_hooks_watch(o->starts);
	if (o->committing)
		rtb_commits_begin(o->watch);
}

/*
 * rtb_observe_end
 *		Right after the clock has stopped.
 */
void
rtb_observe_end(RtbObserver *o)
{
	rtb_hooks_end(&o->counts);
	if (o->committing)
	{
		rtb_commits_end(&o->commits);
		o->counts.xids += o->commits.xids;
		o->wrote = o->counts.xids > 0;
	}
	else
	{
		o->commits.overflowed = rtb_commits_overflowed();
		o->wrote = TransactionIdIsValid(GetCurrentTransactionIdIfAny());
	}
}

/*
 * rtb_observe_after
 *		In a transaction, the arm's own if it is rolled back: what is there now.
 */
void
rtb_observe_after(RtbObserver *o)
{
	rtb_effects_read(o->written, &o->after);
}

/*
 * rtb_observe_counts
 *		Fill in what was counted; texts in the current memory context.
 */
void
rtb_observe_counts(const RtbObserver *o, const RtbProbe *probe, RtbPass *pass)
{
	const RtbCounts *counts = &o->counts;

	pass->statements = counts->statements;
	pass->fired = counts->fired;
	pass->loop_queries = counts->loop_queries;
	pass->rows = counts->rows;
	pass->plannings = counts->plannings;
	pass->xids = counts->xids;
	pass->buffers_hit = probe->buffers.shared_blks_hit + probe->buffers.local_blks_hit;
	pass->buffers_read = probe->buffers.shared_blks_read + probe->buffers.local_blks_read;
	pass->wal_records = probe->wal.wal_records;
	pass->wal_fpi = probe->wal.wal_fpi;
	pass->wal_bytes = (int64) probe->wal.wal_bytes;
	pass->subxact_overflowed = o->commits.overflowed;
	if (o->committing)
	{
		pass->transactions = o->commits.transactions;
		pass->commit_ns = o->commits.commit_ns;
	}
	pass->updates = o->after.updates - o->before.updates;
	pass->hot_updates = o->after.hot_updates - o->before.hot_updates;
	pass->catalog_reads = o->after.catalog_reads - o->before.catalog_reads;
	pass->plan_shape = rtb_hooks_shapes(false);
	pass->fired_shape = rtb_hooks_shapes(true);
}

/*
 * rtb_observe_abandon
 *		After an error, at any time.
 */
void
rtb_observe_abandon(void)
{
	rtb_hooks_abandon();
	rtb_commits_abandon();
}
