/*
 * hooks.c
 *	  All hooks: they feed counting.c with what is started, run and finished.
 *
 * They are installed by the first rtb_hooks_begin() of a process and taken out
 * again by rtb_hooks_end() unless somebody has hooked in on top of them
 * meanwhile, so a session that counts nothing pays nothing.  Parallel workers
 * never begin, so nothing is installed there.
 *
 * Where they can, the executor's hooks do their work before they pass the call
 * on, so that nothing is left to do after it: an executor's calls nest deeper than
 * the processor remembers return addresses, and each return more that it has to
 * guess costs about as much as all counting.  This is also why there is no PG_TRY;
 * counting.c can do without.
 *
 * Memory: none of its own.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "executor/executor.h"
#include "optimizer/planner.h"
#include "tcop/utility.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "counting.h"
#include "hooks.h"

/* previous values of the hooks */
static ExecutorStart_hook_type previous_ExecutorStart = NULL;
static ExecutorRun_hook_type previous_ExecutorRun = NULL;
static ExecutorFinish_hook_type previous_ExecutorFinish = NULL;
static ProcessUtility_hook_type previous_ProcessUtility = NULL;
static planner_hook_type previous_planner = NULL;
static object_access_hook_type previous_object_access = NULL;

/* which of them are in */
static bool installed_ExecutorStart = false;
static bool installed_ExecutorRun = false;
static bool installed_ExecutorFinish = false;
static bool installed_ProcessUtility = false;
static bool installed_planner = false;
static bool installed_object_access = false;

static bool begun = false;		/* between begin and end */
static bool counting = false;	/* begun and not paused */
static bool driving = false;	/* a foreach step's driver is being opened */
static void (*watcher) (const PlannedStmt *stmt) = NULL;

/* the transaction as it was at the beginning */
static int	first_nest_level;
static int	xid_nest_level; /* the deepest at which a savepoint found an id */
static bool had_xid;
static bool had_top_xid;

static inline void
next_ExecutorStart(QueryDesc *query, int eflags)
{
	if (previous_ExecutorStart)
		previous_ExecutorStart(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

static pg_attribute_hot void
rtb_ExecutorStart(QueryDesc *query, int eflags)
{
	bool		runs = counting && (eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0;
	bool		kept = runs && rtb_counting_start(query, driving);

	next_ExecutorStart(query, eflags);
	if (kept)
		rtb_counting_keep(query);
	if (runs && watcher != NULL)
		watcher(query->plannedstmt);
}

static inline void
next_ExecutorRun(RTB_EXECUTOR_RUN_PARAMS)
{
	if (previous_ExecutorRun)
		previous_ExecutorRun(RTB_EXECUTOR_RUN_ARGS);
	else
		standard_ExecutorRun(RTB_EXECUTOR_RUN_ARGS);
}

/*
 * A run whose end nothing else will show.
 */
static pg_noinline void
run_and_return(RTB_EXECUTOR_RUN_PARAMS)
{
	RtbMark		mark = rtb_counting_mark();

	next_ExecutorRun(RTB_EXECUTOR_RUN_ARGS);
	rtb_counting_ran(mark, query);
}

static pg_attribute_hot void
rtb_ExecutorRun(RTB_EXECUTOR_RUN_PARAMS)
{
	if (counting && !rtb_counting_run(query))
		run_and_return(RTB_EXECUTOR_RUN_ARGS);
	else
		next_ExecutorRun(RTB_EXECUTOR_RUN_ARGS);
}

static inline void
next_ExecutorFinish(QueryDesc *query)
{
	if (previous_ExecutorFinish)
		previous_ExecutorFinish(query);
	else
		standard_ExecutorFinish(query);
}

/*
 * Most of what runs when an executor is finished are AFTER triggers, which show
 * by their depth.  Only a data-modifying CTE that is run to its end then can
 * start statements at the same depth, as a run can.
 */
static pg_noinline void
finish_and_return(QueryDesc *query)
{
	RtbMark		mark;

	rtb_counting_finish_runs(query);
	mark = rtb_counting_mark();
	next_ExecutorFinish(query);
	rtb_counting_finished(mark);
}

static pg_attribute_hot void
rtb_ExecutorFinish(QueryDesc *query)
{
	if (counting)
	{
		rtb_counting_finish(query);
		if (unlikely(query->estate->es_auxmodifytables != NIL))
		{
			finish_and_return(query);
			return;
		}
	}
	next_ExecutorFinish(query);
}

static inline void
next_ProcessUtility(PlannedStmt *pstmt, const char *source, bool read_only_tree,
					ProcessUtilityContext context, ParamListInfo params,
					QueryEnvironment *env, DestReceiver *dest, QueryCompletion *qc)
{
	if (previous_ProcessUtility)
		previous_ProcessUtility(pstmt, source, read_only_tree, context, params, env, dest, qc);
	else
		standard_ProcessUtility(pstmt, source, read_only_tree, context, params, env, dest, qc);
}

/* a savepoint is about to begin: has what it is in got an id? */
static void
note_savepoint(const Node *stmt)
{
	if (IsA(stmt, TransactionStmt) && ((const TransactionStmt *) stmt)->kind == TRANS_STMT_SAVEPOINT &&
		TransactionIdIsValid(GetCurrentTransactionIdIfAny()))
		xid_nest_level = GetCurrentTransactionNestLevel();
}

static void
rtb_ProcessUtility(PlannedStmt *pstmt, const char *source, bool read_only_tree,
				   ProcessUtilityContext context, ParamListInfo params,
				   QueryEnvironment *env, DestReceiver *dest, QueryCompletion *qc)
{
	/* a part of a statement is counted with the whole */
	if (counting && context != PROCESS_UTILITY_SUBCOMMAND)
	{
		RtbMark		mark;

		rtb_counting_utility(pstmt->utilityStmt);
		note_savepoint(pstmt->utilityStmt);
		mark = rtb_counting_mark();
		next_ProcessUtility(pstmt, source, read_only_tree, context, params, env, dest, qc);
		if (begun)
			rtb_counting_utility_done(mark, qc);
		return;
	}
	next_ProcessUtility(pstmt, source, read_only_tree, context, params, env, dest, qc);
}

static PlannedStmt *
rtb_planner(RTB_PLANNER_PARAMS)
{
	if (counting)
		rtb_noted.plannings++;
	return previous_planner ? previous_planner(RTB_PLANNER_ARGS) : standard_planner(RTB_PLANNER_ARGS);
}

/*
 * pg_notify() is called like any other function.
 */
static void
rtb_object_access(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id, void *arg)
{
	if (access == OAT_FUNCTION_EXECUTE && object_id == F_PG_NOTIFY && counting)
		rtb_noted.notifies = true;
	if (previous_object_access)
		previous_object_access(access, class_id, object_id, sub_id, arg);
}

/*
 * Which subtransaction is the current one, what those that are undone take with
 * them, and did those that began while counting get an id?
 */
static void
rtb_subxact(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if (!begun)
		return;

	if ((event == SUBXACT_EVENT_PRE_COMMIT_SUB || event == SUBXACT_EVENT_ABORT_SUB) &&
		counting && GetCurrentTransactionNestLevel() > first_nest_level &&
		TransactionIdIsValid(GetCurrentTransactionIdIfAny()))
		rtb_noted.xids++;

	/* what is outside of one that has an id has one itself */
	if (event == SUBXACT_EVENT_COMMIT_SUB || event == SUBXACT_EVENT_ABORT_SUB)
		xid_nest_level = Min(xid_nest_level, GetCurrentTransactionNestLevel() - 1);

	if (event == SUBXACT_EVENT_START_SUB)
		rtb_counting_subxact(mine);
	else if (event != SUBXACT_EVENT_PRE_COMMIT_SUB)
		rtb_counting_subxact(parent);
	if (event == SUBXACT_EVENT_ABORT_SUB)
		rtb_counting_undone(mine);
}

/*
 * Put a hook in, or take it out again if nobody has hooked in on top of it: who
 * did holds our function's address, so it must stay and only pass on.
 */
#define INSTALL(hook) \
	do { \
		if (!installed_##hook) \
		{ \
			previous_##hook = hook##_hook; \
			hook##_hook = rtb_##hook; \
			installed_##hook = true; \
		} \
	} while (0)

#define UNINSTALL(hook) \
	do { \
		if (installed_##hook && hook##_hook == rtb_##hook) \
		{ \
			hook##_hook = previous_##hook; \
			installed_##hook = false; \
		} \
	} while (0)

static void
install_hooks(bool functions)
{
	INSTALL(ExecutorStart);
	INSTALL(ExecutorRun);
	INSTALL(ExecutorFinish);
	INSTALL(ProcessUtility);
	INSTALL(planner);
	if (functions)
		INSTALL(object_access);
	RegisterSubXactCallback(rtb_subxact, NULL);
}

static void
uninstall_hooks(void)
{
	UNINSTALL(ExecutorStart);
	UNINSTALL(ExecutorRun);
	UNINSTALL(ExecutorFinish);
	UNINSTALL(ProcessUtility);
	UNINSTALL(planner);
	UNINSTALL(object_access);
	UnregisterSubXactCallback(rtb_subxact, NULL);
}

/* ----------------------------------------------------------------
 * For the rooms above
 * ---------------------------------------------------------------- */

/*
 * Start counting from zero.  Calls of pg_notify() are noted only if functions are
 * asked for, as that takes a look at every function that a statement will call.
 * Throws an error if this process is counting already: a statement under
 * measurement has called rtbench.
 */
void
rtb_hooks_begin(bool functions)
{
	if (begun)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("rtbench cannot be called from a statement that rtbench is measuring")));
	Assert(!IsParallelWorker());

	rtb_counting_reset();
	install_hooks(functions);

	first_nest_level = GetCurrentTransactionNestLevel();
	had_xid = TransactionIdIsValid(GetCurrentTransactionIdIfAny());
	had_top_xid = TransactionIdIsValid(GetTopTransactionIdIfAny());
	xid_nest_level = 0;

	begun = true;
	counting = true;
	driving = false;
}

/*
 * Stop counting and hand over the results; throws nothing.  If nothing but
 * loops' queries ran, they are the statements.  To be called at the level of
 * transaction where counting began, or below it, in savepoints of the arm's.
 */
void
rtb_hooks_end(RtbCounts *counts)
{
	int			level = TransactionIdIsValid(GetCurrentTransactionIdIfAny())
		? GetCurrentTransactionNestLevel() : xid_nest_level;

	Assert(begun);

	/* ids given to transactions that began before counting and have not ended */
	if (!had_top_xid && TransactionIdIsValid(GetTopTransactionIdIfAny()))
		rtb_noted.xids++;
	if (first_nest_level > 1 && !had_xid && level >= first_nest_level)
		rtb_noted.xids++;
	/* and to savepoints that are open still */
	rtb_noted.xids += Max(level - first_nest_level, 0);

	rtb_counting_totals(counts);
	counts->foreign = rtb_shapes_foreign();
	begun = counting = driving = false;
	watcher = NULL;
	uninstall_hooks();
}

/*
 * Stop counting after an error, without results.  May be called at any time;
 * throws nothing.
 */
void
rtb_hooks_abandon(void)
{
	if (!begun)
		return;
	begun = counting = driving = false;
	watcher = NULL;
	rtb_counting_reset();
	uninstall_hooks();
}

/*
 * Is this process between rtb_hooks_begin() and their end?
 */
bool
rtb_hooks_begun(void)
{
	return begun;
}

/*
 * Have every plan shown that starts, before it runs, until counting ends.
 */
void
rtb_hooks_watch(void (*starts) (const PlannedStmt *stmt))
{
	watcher = starts;
}

/*
 * Switch counting off around rtbench's own statements; returns what to give to
 * rtb_hooks_resume() afterwards.
 */
bool
rtb_hooks_pause(void)
{
	bool		was_counting = counting;

	rtb_counting_forget_waiting();
	counting = false;
	return was_counting;
}

/*
 * Switch counting on again if it was on before rtb_hooks_pause().
 */
void
rtb_hooks_resume(bool was_counting)
{
	counting = was_counting && begun;
}

/*
 * Say that the statement being opened is the driver of a foreach step: call it
 * with true before and with false afterwards.
 */
void
rtb_hooks_driver(bool driver)
{
	driving = driver;
}

/*
 * The shapes of the statements counted, or of those fired, after
 * rtb_hooks_end() and until the next rtb_hooks_begin(): palloc'd in the current
 * context, NULL if there were none.  The numbers add up to the statements.
 */
char *
rtb_hooks_shapes(bool fired)
{
	return rtb_shapes_text(rtb_counting_kind(fired));
}
