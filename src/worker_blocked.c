/*
 * worker_blocked.c
 *	  Does the caller block the worker that it waits for?
 *
 * The caller waits on a latch, which the deadlock detector knows nothing of,
 * so such a wait would never end.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
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

/* processes looked at along the chain of those who wait for one another */
#define MAX_CHAIN	32

/*
 * Is pid waiting for this process, directly or through others?
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

			if (pids[j] == MyProcPid)
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
relation_name(const LOCKTAG *tag)
{
	Oid			relation = (Oid) tag->locktag_field2;
	char	   *name = get_rel_name(relation);

	if (name == NULL)
		return psprintf("relation with OID %u", relation);
	return psprintf("relation \"%s\"",
					quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
											   name));
}

/*
 * What the worker waits for, in words.
 */
static char *
awaited_lock(int pid)
{
	LockData   *data = GetLockStatusData();
	LockInstanceData *awaited = NULL;
	LockInstanceData *row = NULL;
	StringInfoData buf;

	for (int i = 0; i < data->nelements; i++)
	{
		LockInstanceData *lock = &data->locks[i];

		if (lock->pid != pid)
			continue;
		if (lock->waitLockMode != NoLock)
			awaited = lock;
		else if (lock->locktag.locktag_type == LOCKTAG_TUPLE)
			row = lock;
	}

	if (awaited == NULL)
		return NULL;			/* it waits no more */
	switch ((LockTagType) awaited->locktag.locktag_type)
	{
		case LOCKTAG_RELATION:
			return relation_name(&awaited->locktag);
		case LOCKTAG_RELATION_EXTEND:
		case LOCKTAG_PAGE:
		case LOCKTAG_TUPLE:
			return psprintf("a row or page of %s", relation_name(&awaited->locktag));
		case LOCKTAG_TRANSACTION:
			/* whoever waits for a row's last writer holds the row's own lock */
			if (row != NULL)
				return psprintf("a row of %s", relation_name(&row->locktag));
			return pstrdup("the end of a transaction");
		default:
			initStringInfo(&buf);
			DescribeLockTag(&buf, &awaited->locktag);
			return buf.data;
	}
}

/*
 * Throw if the worker with this pid waits for a lock that is given up only when
 * the caller goes on.  Allocates in the current memory context, and next to
 * nothing when the worker waits for no lock.
 */
void
rtb_worker_check_blocked(int pid)
{
	PGPROC	   *proc = BackendPidGetProc(pid);
	char	   *lock;

	/* read without the lock manager's locks: at worst we look a second later */
	if (proc == NULL || proc->waitStatus != PROC_WAIT_STATUS_WAITING)
		return;
	if (!waits_for_us(pid))
		return;
	lock = awaited_lock(pid);
	if (lock == NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("rtbench worker waits for %s, which this transaction has locked", lock),
			 errdetail("The worker has transactions of its own, and this one cannot end before the worker does."),
			 errhint("Commit first, or use transport => 'caller'.")));
}
