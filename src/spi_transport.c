/*
 * spi_transport.c
 *	  The transports that are SPI in this process: with transactions of its own
 *	  (in the background worker) or in subtransactions of the caller's.
 *
 * What stands around an arm's statements: begin, settle, digest, rollback.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "commits.h"
#include "own_sql.h"
#include "spi_arm.h"
#include "spi_transaction.h"
#include "written.h"

/* the caller's state around its subtransaction */
static MemoryContext outer_cxt;
static ResourceOwner outer_owner;
static int	outer_level;

static void
check_result(int rc, const char *statement)
{
	if (rc < 0)
		rtb_spi_refuse(rc, statement);
}

static void
spi_sql(const char *statement)
{
	SPIExecuteOptions options = {0};

	options.dest = None_Receiver;
	check_result(SPI_execute_extended(statement, &options), statement);
	CommandCounterIncrement();
}

/* deferred triggers fire before the clock stops: a rollback would drop them unfired */
static void
spi_settle(void)
{
	ConstraintsSetStmt *stmt = makeNode(ConstraintsSetStmt);

	CommandCounterIncrement();
	AfterTriggerSetState(stmt);
	pfree(stmt);
}

static void
spi_digest(const char *query, RtbDigest *digest, Tuplestorestate *row_hashes)
{
	SPIExecuteOptions options = {0};

	options.dest = rtb_digest_receiver(digest, row_hashes);
	options.must_return_tuples = true;
	check_result(SPI_execute_extended(query, &options), query);
	options.dest->rDestroy(options.dest);
}

static void
spi_locked(List **oids, List **modes)
{
	*oids = rtb_written_locked();
	*modes = rtb_written_modes(*oids);
}

static void
worker_begin(const RtbArm *arm)
{
	rtb_spi_limit_messages(true);
	rtb_spi_begin(arm);
}

static void
worker_rollback(void)
{
	SPI_finish();
	AbortOutOfAnyTransaction();
	rtb_spi_forget();
}

static void
worker_after_error(void)
{
	rtb_spi_limit_messages(true);
	AbortOutOfAnyTransaction();
	rtb_spi_forget();
}

static void
caller_begin(const RtbArm *arm)
{
	rtb_spi_limit_messages(false);
	outer_cxt = CurrentMemoryContext;
	outer_owner = CurrentResourceOwner;
	outer_level = GetCurrentTransactionNestLevel();
	BeginInternalSubTransaction(NULL);
	SPI_connect();
}

static void
caller_after_error(void)
{
	/* a statement's own subtransaction may be open too */
	while (GetCurrentTransactionNestLevel() > outer_level)
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(outer_cxt);
	CurrentResourceOwner = outer_owner;
}

static void
caller_rollback(void)
{
	SPI_finish();
	caller_after_error();
}

const RtbTransport rtb_spi_worker_transport = {
	.name = "worker",
	.own_transactions = true,
	.open_arm = rtb_spi_open_arm,
	.close_arm = rtb_spi_close_arm,
	.release_arm = rtb_spi_release_arm,
	.begin = worker_begin,
	.sql = spi_sql,
	.run = rtb_spi_run,
	.settle = spi_settle,
	.digest = spi_digest,
	.observe_before = rtb_observe_before,
	.observe_begin = rtb_observe_begin,
	.observe_end = rtb_observe_end,
	.observe_after = rtb_observe_after,
	.observe_counts = rtb_observe_counts,
	.locked = spi_locked,
	.made = rtb_written_made,
	.rollback = worker_rollback,
	.commit = rtb_spi_finish,
	.guard_begin = rtb_commits_begin,
	.guard_end = rtb_commits_abandon,
	.toplevel = rtb_toplevel,
	.after_error = worker_after_error,
};

const RtbTransport rtb_spi_caller_transport = {
	.name = "caller",
	.own_transactions = false,
	.open_arm = rtb_spi_open_arm,
	.close_arm = rtb_spi_close_arm,
	.release_arm = rtb_spi_release_arm,
	.begin = caller_begin,
	.sql = spi_sql,
	.run = rtb_spi_run,
	.settle = spi_settle,
	.digest = spi_digest,
	.observe_before = rtb_observe_before,
	.observe_begin = rtb_observe_begin,
	.observe_end = rtb_observe_end,
	.observe_after = rtb_observe_after,
	.observe_counts = rtb_observe_counts,
	.locked = spi_locked,
	.made = rtb_written_made,
	.rollback = caller_rollback,
	.after_error = caller_after_error,
};
