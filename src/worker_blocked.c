/*
 * worker_blocked.c
 *	  Does the caller block the worker that it waits for?
 *
 * The caller waits on a latch, which the deadlock detector knows nothing of,
 * so such a wait would never end.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "worker_wire.h"

#define BLOCKED_MESSAGE	"this transaction blocks the rtbench "

/* processes looked at along the chain of those who wait for one another */
#define MAX_CHAIN	32

/*
 * Is pid waiting for this process, or for the one that waits for this one,
 * directly or through others?
 */
static bool
waits_for_us(int pid)
{
	int			chain[MAX_CHAIN];
	int			n = 0;

	chain[n++] = pid;
	for (int i = 0; i < n; i++)
	{
		ArrayType  *blockers;
		int			nblockers;
		int32	   *pids;

		blockers = DatumGetArrayTypeP(DirectFunctionCall1(pg_blocking_pids,
														  Int32GetDatum(chain[i])));
		nblockers = ArrayGetNItems(ARR_NDIM(blockers), ARR_DIMS(blockers));
		pids = (int32 *) ARR_DATA_PTR(blockers);
		for (int j = 0; j < nblockers; j++)
		{
			bool		known = false;

			if (pids[j] == MyProcPid || pids[j] == rtb_worker_caller_pid())
				return true;
			for (int k = 0; k < n; k++)
				known |= (chain[k] == pids[j]);
			if (!known && n < MAX_CHAIN)
				chain[n++] = pids[j];
		}
	}
	return false;
}

static char *
relation_name(Oid relation)
{
	char	   *name = get_rel_name(relation);

	if (name == NULL)
		return psprintf("relation with OID %u", relation);
	return psprintf("relation \"%s.%s\"",
					get_namespace_name(get_rel_namespace(relation)), name);
}

/*
 * The table that both processes write, for a worker that waits for our
 * transaction to end without having locked a row, as it does when both insert
 * one key.  InvalidOid when there is none or more than one.
 */
static Oid
table_written_by_both(LockData *data, int pid)
{
	const LOCKMASK writes = LOCKBIT_ON(RowExclusiveLock);
	Oid			table = InvalidOid;

	for (int i = 0; i < data->nelements; i++)
	{
		LockInstanceData *theirs = &data->locks[i];
		Oid			relation = (Oid) theirs->locktag.locktag_field2;

		if (theirs->pid != pid || theirs->locktag.locktag_type != LOCKTAG_RELATION ||
			(theirs->holdMask & writes) == 0 || get_rel_relkind(relation) != RELKIND_RELATION)
			continue;
		for (int j = 0; j < data->nelements; j++)
		{
			LockInstanceData *ours = &data->locks[j];

			if (ours->pid != MyProcPid || (ours->holdMask & writes) == 0 ||
				memcmp(&ours->locktag, &theirs->locktag, sizeof(LOCKTAG)) != 0)
				continue;
			if (OidIsValid(table))
				return InvalidOid;
			table = relation;
			break;
		}
	}
	return table;
}

/*
 * What the worker waits for, in words; NULL if for nothing (any more).
 */
static char *
awaited_lock(int pid)
{
	LockData   *data = GetLockStatusData();
	LockInstanceData *awaited = NULL;
	Oid			table = InvalidOid;
	StringInfoData buf;

	for (int i = 0; i < data->nelements; i++)
	{
		LockInstanceData *lock = &data->locks[i];

		if (lock->pid != pid)
			continue;
		if (lock->waitLockMode != NoLock)
			awaited = lock;
		else if (lock->locktag.locktag_type == LOCKTAG_TUPLE)
			table = (Oid) lock->locktag.locktag_field2;
	}

	if (awaited == NULL)
		return NULL;
	switch ((LockTagType) awaited->locktag.locktag_type)
	{
		case LOCKTAG_RELATION:
			return relation_name((Oid) awaited->locktag.locktag_field2);
		case LOCKTAG_RELATION_EXTEND:
		case LOCKTAG_PAGE:
		case LOCKTAG_TUPLE:
			return psprintf("a part of %s", relation_name((Oid) awaited->locktag.locktag_field2));
		case LOCKTAG_TRANSACTION:
			/* whoever waits for a row's last writer holds the row's own lock */
			if (!OidIsValid(table))
				table = table_written_by_both(data, pid);
			if (OidIsValid(table))
				return psprintf("a row of %s", relation_name(table));
			return pstrdup("the end of a transaction");
		default:
			initStringInfo(&buf);
			DescribeLockTag(&buf, &awaited->locktag);
			return buf.data;
	}
}

/*
 * The same, from wherever this process waits: names are looked up in a
 * transaction, which a VACUUM that is sent has not, and none can be had in one
 * that has failed.
 */
static char *
awaited_in_words(int pid)
{
	MemoryContext old = CurrentMemoryContext;
	char	   *lock;

	if (IsTransactionState())
		return awaited_lock(pid);
	if (IsTransactionOrTransactionBlock())
		return pstrdup("a lock");
	StartTransactionCommand();
	MemoryContextSwitchTo(old);
	lock = awaited_lock(pid);
	CommitTransactionCommand();
	MemoryContextSwitchTo(old);
	return lock;
}

/*
 * Throw if the worker with this pid waits for a lock that is given up only when
 * the caller goes on.  Allocates in the current memory context, and next to
 * nothing when the worker waits for no lock.
 */
void
rtb_worker_check_blocked(int pid)
{
	rtb_check_blocked(pid, "worker");
}

/*
 * The same of any backend that this one waits for in a way of its own; what
 * says in one word what that is.
 */
void
rtb_check_blocked(int pid, const char *what)
{
	PGPROC	   *proc = BackendPidGetProc(pid);
	char	   *lock;

	/* read without the lock manager's locks: at worst we look a second later */
	if (proc == NULL || proc->waitStatus != PROC_WAIT_STATUS_WAITING)
		return;
	if (!waits_for_us(pid))
		return;
	lock = awaited_in_words(pid);
	if (lock == NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg(BLOCKED_MESSAGE "%s that it waits for", what),
			 errdetail("The %s waits for %s.", what, lock),
			 errhint("Commit first, or use transport => 'caller'.")));
}

/*
 * rtb_is_blocked_error
 *		Has rtb_check_blocked() thrown this?  It would come again and again.
 */
bool
rtb_is_blocked_error(const ErrorData *edata)
{
	return edata->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE && edata->message != NULL &&
		strncmp(edata->message, BLOCKED_MESSAGE, strlen(BLOCKED_MESSAGE)) == 0;
}
