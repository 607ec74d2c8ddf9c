/*
 * commits.c
 *	  What is seen of the transactions that a pass commits.
 *
 * A callback at the ends of transactions sees those that rtbench ends and those
 * that a procedure ends by itself alike.  The time of a commit runs from where
 * deferred triggers have fired until the transaction is committed for everybody:
 * the commit record, its flush, and synchronous replication.
 *
 * In a discovery pass it also stands guard: what an arm commits cannot be rolled
 * back, so a transaction that wrote anything outside the scenario's scratch
 * schema is refused at the last moment when it still can be.
 *
 * Memory: nothing is kept but the lists of a watch, in its own context.
 */
#include "postgres.h"

#include "commits.h"

#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "storage/proc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "counting.h"
#include "outside.h"
#include "probe.h"
#include "written.h"

static RtbCommits seen;
static RtbCommitWatch *watching = NULL;
static bool active = false;
static bool refused = false;
static int64 pre_commit_ns;
static int64 started_before;	/* statements, when the transaction began */
static bool empty;				/* none has started in the one that commits */

/* may it be written by what commits? */
static bool
is_scratch(Oid relid, Oid scratch)
{
	Oid			schema = get_rel_namespace(relid);

	/* gone again, or a part of another one, which is looked at itself */
	if (!OidIsValid(schema) || IsToastNamespace(schema) || get_rel_relkind(relid) == RELKIND_INDEX)
		return true;
	return schema == scratch || isTempOrTempToastNamespace(schema);
}

static void
remember(Oid relid, int mode)
{
	ListCell   *lo;
	ListCell   *lm;

	forboth(lo, watching->locked, lm, watching->modes)
	{
		if (lfirst_oid(lo) == relid)
		{
			lfirst_int(lm) = Max(lfirst_int(lm), mode);
			return;
		}
	}
	watching->locked = lappend_oid(watching->locked, relid);
	watching->modes = lappend_int(watching->modes, mode);
}

static void
refuse(const char *what)
{
	refused = true;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg(RTB_COMMITS_REFUSED),
			 errdetail("It was about to commit changes of %s.", what),
			 errhint("Let the setup create a table of that name, or leave out the arm's ending => 'commit', so that its passes are rolled back.")));
}

/* what the transaction that is about to commit has written */
static void
look_at_locks(Oid scratch)
{
	List	   *locked = rtb_written_locked();
	List	   *modes = rtb_written_modes(locked);
	MemoryContext old;
	ListCell   *lo;
	ListCell   *lm;

	foreach(lo, locked)
	{
		if (is_scratch(lfirst_oid(lo), scratch))
			continue;
		refuse(psprintf("%s.%s", get_namespace_name(get_rel_namespace(lfirst_oid(lo))),
						get_rel_name(lfirst_oid(lo))));
	}
	old = MemoryContextSwitchTo(watching->cxt);
	forboth(lo, locked, lm, modes)
		remember(lfirst_oid(lo), lfirst_int(lm));
	MemoryContextSwitchTo(old);
}

static void
look(void)
{
	Oid			scratch = watching->scratch ? get_namespace_oid(watching->scratch, true) : InvalidOid;
	char	   *outside;

	look_at_locks(scratch);
	outside = rtb_outside_changed(scratch);
	if (outside != NULL)
		refuse(outside);
}

static void
rtb_xact(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			empty = rtb_counting_started() == started_before;
			seen.overflowed |= rtb_commits_overflowed();
			if (watching != NULL)
				look();
			pre_commit_ns = rtb_clock_ns();
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
			if (event == XACT_EVENT_COMMIT)
			{
				seen.commit_ns += rtb_clock_ns() - pre_commit_ns;
				seen.transactions += !empty;
			}
			seen.xids += TransactionIdIsValid(GetTopTransactionIdIfAny());
			started_before = rtb_counting_started();
			if (watching != NULL)
				rtb_outside_forget();
			break;
		default:
			break;
	}
}

/*
 * rtb_commits_begin
 *		Watch transactions from here on, after rtb_hooks_begin().
 */
void
rtb_commits_begin(RtbCommitWatch *watch)
{
	memset(&seen, 0, sizeof(seen));
	watching = watch;
	refused = false;
	if (watch != NULL)
		rtb_outside_begin();
	started_before = rtb_counting_started();
	if (!active)
		RegisterXactCallback(rtb_xact, NULL);
	active = true;
}

/*
 * rtb_commits_abandon
 *		Stop watching; at any time, throws nothing.
 */
void
rtb_commits_abandon(void)
{
	if (active)
		UnregisterXactCallback(rtb_xact, NULL);
	active = false;
	if (watching != NULL)
		rtb_outside_end();
	watching = NULL;
}

/*
 * rtb_commits_end
 *		Stop watching, and hand over what was seen.
 */
void
rtb_commits_end(RtbCommits *commits)
{
	rtb_commits_abandon();
	*commits = seen;
}

/*
 * rtb_commits_is_refusal
 *		Was a commit refused, here since rtb_commits_begin() or, as the error
 *		says, at a far end?
 */
bool
rtb_commits_is_refusal(const ErrorData *edata)
{
	return refused || (edata->message != NULL && strcmp(edata->message, RTB_COMMITS_REFUSED) == 0);
}

/*
 * rtb_commits_overflowed
 *		Does the running transaction have more subtransactions with an id than
 *		other sessions can see in shared memory (64)?
 */
bool
rtb_commits_overflowed(void)
{
	return MyProc->subxidStatus.overflowed;
}
