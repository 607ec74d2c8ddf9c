/*
 * spi_transaction.c
 *	  The transactions in which an arm's statements run by SPI in a worker.
 *
 * An arm that is rolled back runs in one transaction, with SPI connected and a
 * snapshot at the bottom.  Of an arm that commits, or has savepoints, each
 * transaction gets that snapshot with its first statement, and loses it before
 * it ends; its SPI connection is one that survives a commit.  That is not in
 * a portal, so that the memory of the connection hangs on a context of our own.
 * Savepoints exist in transaction blocks only, which SPI_commit() does not end:
 * there SPI is left before each commit and entered again.
 *
 * What controls transactions itself (SAVEPOINT; CALL and DO with COMMIT inside)
 * runs through a portal at top level, as a client's message does.
 *
 * Memory: portal_cxt, below TopMemoryContext, is reset when a pass begins.
 */
#include "postgres.h"

#include "compat.h"
#include "spi_transaction.h"

#include "access/xact.h"
#include "nodes/parsenodes.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "tcop/cmdtag.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/portal.h"
#include "utils/snapmgr.h"

#include "probe.h"
#include "script.h"
#include "spi_arm.h"

static MemoryContext portal_cxt = NULL;
static MemoryContext message_cxt = NULL;
static MemoryContext outer_cxt;
static bool in_block = false;	/* a transaction block: savepoints are possible */
static bool own_portal = false; /* PortalContext is ours: SPI survives commits */

/*
 * rtb_spi_need_snapshot
 *		SPI is about to run a statement: have a snapshot below it.
 */
void
rtb_spi_need_snapshot(void)
{
	if (!ActiveSnapshotSet())
		PushActiveSnapshot(GetTransactionSnapshot());
}

/* before what ends a transaction, or may do so */
static void
drop_snapshots(void)
{
	while (ActiveSnapshotSet())
		PopActiveSnapshot();
}

static void
start_transaction(void)
{
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	if (in_block)
	{
		BeginTransactionBlock();
		CommitTransactionCommand();
		StartTransactionCommand();
	}
}

static void
commit_transaction(void)
{
	if (in_block)
		(void) EndTransactionBlock(false);
	CommitTransactionCommand();
}

/*
 * rtb_spi_begin
 *		Begin a transaction and connect SPI: as an arm needs it, or for
 *		rtbench's own statements (NULL), with a snapshot.
 */
void
rtb_spi_begin(const RtbArm *arm)
{
	bool		snapshot = arm == NULL || (arm->ending == RTB_ENDING_ROLLBACK && !arm->savepoints);

	outer_cxt = CurrentMemoryContext;
	in_block = arm != NULL && arm->savepoints;
	start_transaction();
	if (snapshot)
	{
		SPI_connect();
		PushActiveSnapshot(GetTransactionSnapshot());
		return;
	}
	if (portal_cxt == NULL)
		portal_cxt = AllocSetContextCreate(TopMemoryContext, "rtbench transactions",
										   ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(portal_cxt);
	PortalContext = portal_cxt;
	own_portal = true;
	MemoryContextSwitchTo(portal_cxt);
	SPI_connect_ext(SPI_OPT_NONATOMIC);
	/* what is looked at before an arm that is rolled back is read in this transaction */
	if (arm->ending == RTB_ENDING_ROLLBACK)
		rtb_spi_need_snapshot();
}

/*
 * rtb_spi_next_transaction
 *		Commit and begin the next transaction.  The current memory context
 *		must not be one of SPI's.
 */
void
rtb_spi_next_transaction(void)
{
	MemoryContext old = CurrentMemoryContext;

	drop_snapshots();
	if (in_block)
	{
		SPI_finish();
		commit_transaction();
		start_transaction();
		SPI_connect_ext(SPI_OPT_NONATOMIC);
	}
	else
		SPI_commit();
	MemoryContextSwitchTo(old);
}

/*
 * rtb_spi_finish
 *		Commit the last transaction; none is left open.
 */
void
rtb_spi_finish(void)
{
	SPI_finish();
	drop_snapshots();
	commit_transaction();
	rtb_spi_forget();
	MemoryContextSwitchTo(outer_cxt);
}

/*
 * rtb_spi_forget
 *		The transaction has been aborted, whatever it was.
 */
void
rtb_spi_forget(void)
{
	if (own_portal)
		PortalContext = NULL;
	own_portal = false;
	in_block = false;
}

/* run one planned statement in a portal, which then is gone */
static void
run_portal(Portal portal, ParamListInfo params, bool alone, DestReceiver *dest)
{
	QueryCompletion qc;

	portal->visible = false;
	PortalStart(portal, params, 0, InvalidSnapshot);
	(void) rtb_portal_run(portal, alone, dest, &qc);
	PortalDrop(portal, false);
}

/* one parsed statement of a text, as the server runs it for a client */
static void
run_raw(RawStmt *raw, const char *text, bool alone, DestReceiver *dest, int64 *prepare_ns)
{
	int64		started = prepare_ns ? rtb_clock_ns() : 0;
	bool		snapshot = analyze_requires_snapshot(raw);
	bool		calls = IsA(raw->stmt, CallStmt) || IsA(raw->stmt, DoStmt);
	/* nothing else may end the transaction that SPI is in, as REINDEX of a partitioned table does */
	bool		toplevel = alone && (calls || IsA(raw->stmt, TransactionStmt));
	List	   *queries;
	List	   *plans;
	Portal		portal;

	if (snapshot)
		PushActiveSnapshot(GetTransactionSnapshot());
	queries = pg_analyze_and_rewrite_fixedparams(raw, text, NULL, 0, NULL);
	if (prepare_ns)
		*prepare_ns += rtb_clock_ns() - started;
	plans = pg_plan_queries(queries, text, CURSOR_OPT_PARALLEL_OK, NULL);
	if (snapshot)
		PopActiveSnapshot();
	if (calls)
		drop_snapshots();
	portal = CreateNewPortal();
	PortalDefineQuery(portal, NULL, text, CreateCommandTag(raw->stmt), plans, NULL);
	run_portal(portal, NULL, toplevel, dest);
}

static List *
parse_message(const char *text)
{
	if (message_cxt == NULL)
		message_cxt = AllocSetContextCreate(TopMemoryContext, "rtbench message",
											ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(message_cxt);
	MemoryContextSwitchTo(message_cxt);
	return raw_parser(text, RAW_PARSE_DEFAULT);
}

/*
 * rtb_spi_send_text
 *		A text that was not prepared, parsed, planned and run as a client's
 *		message; CALL and DO in it may commit inside.  What parsing and analysing
 *		take is added to *prepare_ns, unless that is NULL.
 */
void
rtb_spi_send_text(const char *text, DestReceiver *dest, int64 *prepare_ns)
{
	MemoryContext old = CurrentMemoryContext;
	int64		started = prepare_ns ? rtb_clock_ns() : 0;
	List	   *message = parse_message(text);
	ListCell   *lc;

	if (prepare_ns)
		*prepare_ns += rtb_clock_ns() - started;
	foreach(lc, message)
	{
		RawStmt    *raw = lfirst_node(RawStmt, lc);

		rtb_script_refuse_parsed(raw->stmt);
		/* several statements in a message are one transaction */
		run_raw(raw, text, list_length(message) == 1, dest, prepare_ns);
		CommandCounterIncrement();
	}
	MemoryContextSwitchTo(old);
}

/*
 * rtb_spi_send_savepoint
 *		SAVEPOINT, RELEASE or ROLLBACK TO, parsed and run as a client's message.
 */
void
rtb_spi_send_savepoint(const char *text)
{
	MemoryContext old = CurrentMemoryContext;

	run_raw(linitial_node(RawStmt, parse_message(text)), text, true, None_Receiver, NULL);
	/* the block's state has changed, and this is what carries it out */
	CommitTransactionCommand();
	StartTransactionCommand();
	MemoryContextSwitchTo(old);
}

/*
 * rtb_spi_call
 *		CALL or DO, prepared by SPI, such that it may commit inside.
 */
void
rtb_spi_call(const char *text, SPIPlanPtr plan, ParamListInfo params, DestReceiver *dest)
{
	MemoryContext old = CurrentMemoryContext;
	CachedPlanSource *source = linitial(SPI_plan_get_plan_sources(plan));
	CachedPlan *cached;
	Portal		portal;

	rtb_spi_need_snapshot();
	cached = GetCachedPlan(source, params, NULL, NULL);
	drop_snapshots();
	portal = CreateNewPortal();
	PortalDefineQuery(portal, NULL, text, source->commandTag, cached->stmt_list, cached);
	run_portal(portal, params, true, dest);
	MemoryContextSwitchTo(old);
}
