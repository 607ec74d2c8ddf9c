/*
 * call.c
 *	  Procedures that commit, then wait without a snapshot.
 *
 * A statement that waits for workers keeps the rows that they make dead from
 * being pruned for as long as it holds a snapshot.  A procedure can do
 * without: after a commit of its own nothing holds one until it takes one.
 */
#include "postgres.h"

#include "call.h"

#include "executor/spi.h"
#include "nodes/parsenodes.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/*
 * rtb_call_require
 *		Throws unless the running procedure may commit: it was called by CALL
 *		outside a transaction block.
 */
void
rtb_call_require(FunctionCallInfo fcinfo, const char *procedure)
{
	CallContext *context = (CallContext *) fcinfo->context;

	if (context == NULL || !IsA(context, CallContext) || context->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s cannot run inside a transaction block", procedure),
				 errdetail("It commits first, so that it can wait without a snapshot."),
				 errhint("Send CALL %s(...) as a statement of its own.", procedure)));
}

/*
 * rtb_call_own_memory
 *		Make a memory context current that outlives transactions and ends with
 *		the statement.
 */
void
rtb_call_own_memory(void)
{
	MemoryContextSwitchTo(AllocSetContextCreate(PortalContext, "rtbench procedure",
												ALLOCSET_DEFAULT_SIZES));
}

/*
 * rtb_call_commit
 *		Commit and begin a new transaction, which holds no snapshot yet.
 *
 * What was palloc'd in a procedure's own context stays; resource owners,
 * locks and snapshots of before are gone.  Throws what the commit throws.
 */
void
rtb_call_commit(void)
{
	SPI_connect_ext(SPI_OPT_NONATOMIC);
	SPI_commit();
	SPI_finish();
	InvalidateCatalogSnapshot();
}
