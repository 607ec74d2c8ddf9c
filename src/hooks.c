/*
 * hooks.c
 *	  Counting what ran: statements, fired statements, rows, plannings, shapes.
 *
 * All hooks of rtbench.  They are installed by the first rtb_hooks_begin() of a
 * process and taken out again by rtb_hooks_end() if nobody has hooked in on top
 * of them meanwhile, so a session that counts nothing pays nothing.  Parallel
 * workers never begin, so nothing is installed there.
 *
 * Two things are kept about what runs:
 *
 * An RtbExecution for each executor that was started while counting.  It hangs
 * on the executor's memory context by a reset callback, through which it is both
 * found and given back.  So it lives exactly as long as the executor, in
 * whatever order cursors are closed and whatever errors are caught: nothing
 * can go stale or pile up.
 *
 * A stack of RtbFrame, one for each run of an executor or utility statement that
 * is under way, in the stack frame of the hook that started it.  It tells under
 * what a statement was started.  PG_FINALLY takes a frame off however its
 * run ends, so no frame outlives its function.
 *
 * Statements are counted when they start, a utility when it ends, as only then
 * it is known that it was not a mere caller.  A SELECT that reads nothing itself,
 * SELECT f(), is counted too, and its count taken back when the first statement
 * starts under it.  A query of a loop takes its callers back as well: a DO block
 * with nothing but a loop is not one statement more than the loop.
 *
 * Memory: executions come from a pool in the context "rtbench executions", which
 * lasts for the process and grows only to the largest number of executors open
 * at one time.  Nothing else is allocated while counting but the texts of shapes
 * (see shape_tally.c).
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "executor/executor.h"
#include "nodes/memnodes.h"
#include "optimizer/planner.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/portal.h"

#include "compat.h"
#include "hooks.h"
#include "shape_tally.h"

/* an executor started while counting */
typedef struct RtbExecution
{
	MemoryContextCallback gone; /* its memory context is being deleted */
	struct RtbExecution *next_free;
	uint32		counting_id;	/* which counting it belongs to */
	RtbKind		kind;
	bool		counted;		/* false once taken back */
	bool		caller;			/* would be a pure caller if a statement ran under it */
	RtbShape   *shape;
	int64		rows;
} RtbExecution;

/* a run under way of an executor or utility statement */
typedef struct RtbFrame
{
	struct RtbFrame *parent;
	RtbExecution *execution;	/* NULL of a utility, or an executor not counted */
	NodeTag		utility;		/* T_Invalid of an executor */
	int			depth;			/* of triggers */
	bool		superseded;		/* a statement started under it at the same depth */
	/* of a utility only */
	uint32		counting_id;
	int64		rows_before;	/* what rows[RTB_SENT] was */
} RtbFrame;

#define EXECUTIONS_PER_BLOCK	32

/* previous values of the hooks */
static ExecutorStart_hook_type previous_ExecutorStart = NULL;
static ExecutorRun_hook_type previous_ExecutorRun = NULL;
static ExecutorFinish_hook_type previous_ExecutorFinish = NULL;
static ProcessUtility_hook_type previous_ProcessUtility = NULL;
static planner_hook_type previous_planner = NULL;
static object_access_hook_type previous_object_access = NULL;

static bool installed = false;
static bool begun = false;		/* between begin and end */
static bool counting = false;	/* begun and not paused */
static bool driving = false;	/* a foreach step's driver is being opened */
static uint32 counting_id = 0;

static int64 started[RTB_KINDS];
static int64 rows[RTB_KINDS];
static RtbCounts seen;			/* all the rest that is counted or noted */
static RtbFrame *top_frame = NULL;

/* the transaction as it was at the beginning */
static int	first_nest_level;
static bool had_xid;
static bool had_top_xid;

static MemoryContext execution_context = NULL;
static RtbExecution *free_executions = NULL;

static inline int
trigger_depth(void)
{
	LOCAL_FCINFO(fcinfo, 0);

	/* the only way to trigger.c's static MyTriggerDepth; it reads no argument */
	return DatumGetInt32(pg_trigger_depth(fcinfo));
}

/* ----------------------------------------------------------------
 * Executions and frames
 * ---------------------------------------------------------------- */

static void
execution_gone(void *arg)
{
	RtbExecution *execution = arg;

	execution->next_free = free_executions;
	free_executions = execution;
}

static RtbExecution *
new_execution(void)
{
	RtbExecution *execution;

	if (unlikely(free_executions == NULL))
	{
		execution = MemoryContextAlloc(execution_context,
									   sizeof(RtbExecution) * EXECUTIONS_PER_BLOCK);
		for (int i = 0; i < EXECUTIONS_PER_BLOCK; i++)
			execution_gone(&execution[i]);
	}
	execution = free_executions;
	free_executions = execution->next_free;
	return execution;
}

/*
 * What was noted of an executor when it started: NULL if it was not counted, or
 * in an earlier counting.
 */
static inline RtbExecution *
find_execution(const QueryDesc *query)
{
	MemoryContextCallback *callback = query->estate->es_query_cxt->reset_cbs;

	for (; callback != NULL; callback = callback->next)
	{
		if (callback->func == execution_gone)
		{
			RtbExecution *execution = callback->arg;

			return execution->counting_id == counting_id ? execution : NULL;
		}
	}
	return NULL;
}

static inline void
push_frame(RtbFrame *frame, RtbExecution *execution, NodeTag utility)
{
	frame->parent = top_frame;
	frame->execution = execution;
	frame->utility = utility;
	frame->depth = trigger_depth();
	frame->superseded = false;
	top_frame = frame;
}

/*
 * A statement has started at this depth: whatever called it is no statement of
 * its own.  Frames above one that is superseded were seen to then.
 */
static inline void
supersede_callers(int depth)
{
	for (RtbFrame *frame = top_frame;
		 frame != NULL && frame->depth == depth && !frame->superseded;
		 frame = frame->parent)
	{
		RtbExecution *execution = frame->execution;

		frame->superseded = true;
		if (execution != NULL && execution->caller && execution->counted &&
			execution->counting_id == counting_id)
		{
			started[execution->kind]--;
			rows[execution->kind] -= execution->rows;
			execution->shape->count--;
			execution->counted = false;
		}
	}
}

/* ----------------------------------------------------------------
 * What a starting statement is
 * ---------------------------------------------------------------- */

/*
 * Is this the query of a portal that is just being started?  Of the queries that
 * a portal can hold, PortalStart() starts only a plain SELECT.
 */
static inline bool
is_portal_start(const QueryDesc *query)
{
	return ActivePortal != NULL && ActivePortal->status == PORTAL_DEFINED &&
		linitial(ActivePortal->stmts) == query->plannedstmt;
}

/*
 * A query that only feeds a loop: the driver of a foreach step, or one that a
 * procedural language opened as a cursor.  One that changes data does work.
 * Portals are also started for what the client sends (nothing is under way
 * then), and by DECLARE CURSOR and EXECUTE.
 */
static bool
is_loop_query(const QueryDesc *query, int depth)
{
	if (query->operation != CMD_SELECT || query->plannedstmt->hasModifyingCTE)
		return false;
	/* what fires on behalf of a driver that changes data feeds nothing */
	if (driving && top_frame == NULL && depth == 0)
		return true;
	if (!is_portal_start(query))
		return false;
	if (top_frame == NULL || depth > top_frame->depth)
		return depth > 0;
	return top_frame->utility != T_DeclareCursorStmt &&
		top_frame->utility != T_ExecuteStmt &&
		top_frame->utility != T_CreateTableAsStmt;
}

/*
 * A SELECT without FROM, which does nothing but call.  A subquery that reads a
 * table puts that table in the range table, so such a SELECT is none.
 */
static bool
is_caller(const PlannedStmt *stmt)
{
	ListCell   *lc;

	if (stmt->commandType != CMD_SELECT)
		return false;
	foreach(lc, stmt->rtable)
	{
		if (lfirst_node(RangeTblEntry, lc)->rtekind != RTE_RESULT)
			return false;
	}
	return true;
}

/*
 * A statement of an SQL function: functions.c sends its result to a receiver of
 * its own and all else to none.  Nobody else sends a statement that was written
 * (and not added by a rule) to none but EXPLAIN and the start of a portal.
 */
static bool
is_sql_function(const QueryDesc *query, int depth)
{
	if (query->dest->mydest == DestSQLFunction)
		return true;
	return query->dest->mydest == DestNone && query->plannedstmt->canSetTag &&
		top_frame != NULL && top_frame->depth == depth &&
		(top_frame->utility == T_Invalid || top_frame->utility == T_CallStmt) &&
		!is_portal_start(query);
}

static void
count_execution(QueryDesc *query)
{
	const PlannedStmt *stmt = query->plannedstmt;
	int			depth = trigger_depth();
	bool		loop = is_loop_query(query, depth);
	RtbKind		kind = (depth > 0 ? RTB_FIRED : RTB_SENT) + (loop ? 1 : 0);
	RtbShape   *shape = rtb_shape_of_plan(kind, stmt);
	RtbExecution *execution = new_execution();

	/* nothing fails from here on */
	execution->gone.func = execution_gone;
	execution->gone.arg = execution;
	execution->counting_id = counting_id;
	execution->kind = kind;
	execution->counted = true;
	execution->caller = !loop && is_caller(stmt);
	execution->shape = shape;
	execution->rows = 0;
	MemoryContextRegisterResetCallback(query->estate->es_query_cxt, &execution->gone);

	supersede_callers(depth);
	started[kind]++;
	shape->count++;

	if (stmt->parallelModeNeeded)
		seen.parallel = true;
	if (!stmt->canSetTag)
		seen.rules = true;
	if (is_sql_function(query, depth))
		seen.sql_functions = true;
}

/*
 * What has to be known of a utility statement before it runs: its tree may be
 * gone afterwards.
 */
static void
note_utility(Node *statement)
{
	switch (nodeTag(statement))
	{
		case T_NotifyStmt:
			seen.notifies = true;
			break;
		case T_TruncateStmt:
			seen.truncates = true;
			break;
		case T_VacuumStmt:
		case T_ReindexStmt:
			seen.ddl = true;
			break;
		default:
			if (GetCommandLogLevel(statement) == LOGSTMT_DDL)
				seen.ddl = true;
			break;
	}
}

/*
 * A utility statement has ended, well or not.  It is counted unless an executor
 * statement was started for it, or others by it.  Cannot throw.
 */
static void
count_utility(const RtbFrame *frame, CommandTag tag)
{
	RtbKind		kind = frame->depth > 0 ? RTB_FIRED : RTB_SENT;

	if (frame->superseded)
		return;
	supersede_callers(frame->depth);
	started[kind]++;
	rtb_shape_of_utility(kind, tag)->count++;
}

/* ----------------------------------------------------------------
 * The hooks
 * ---------------------------------------------------------------- */

static void
rtb_ExecutorStart(QueryDesc *query, int eflags)
{
	if (previous_ExecutorStart)
		previous_ExecutorStart(query, eflags);
	else
		standard_ExecutorStart(query, eflags);

	if (counting && (eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
		count_execution(query);
}

static inline void
next_ExecutorRun(RTB_EXECUTOR_RUN_PARAMS)
{
	if (previous_ExecutorRun)
		previous_ExecutorRun(RTB_EXECUTOR_RUN_ARGS);
	else
		standard_ExecutorRun(RTB_EXECUTOR_RUN_ARGS);
}

static void
rtb_ExecutorRun(RTB_EXECUTOR_RUN_PARAMS)
{
	RtbFrame	frame;
	RtbExecution *execution;

	if (!counting)
	{
		next_ExecutorRun(RTB_EXECUTOR_RUN_ARGS);
		return;
	}

	push_frame(&frame, find_execution(query), T_Invalid);
	PG_TRY();
	{
		next_ExecutorRun(RTB_EXECUTOR_RUN_ARGS);
	}
	PG_FINALLY();
	{
		top_frame = frame.parent;
	}
	PG_END_TRY();

	execution = frame.execution;
	if (execution != NULL && execution->counted && execution->counting_id == counting_id)
	{
		execution->rows += query->estate->es_processed;
		rows[execution->kind] += query->estate->es_processed;
	}
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
 * Most of what runs here are AFTER triggers, which show by their depth.  Only
 * a data-modifying CTE that is run to its end here can start statements at the
 * same depth, for which a frame is needed.
 */
static void
rtb_ExecutorFinish(QueryDesc *query)
{
	RtbFrame	frame;

	if (!counting || query->estate->es_auxmodifytables == NIL)
	{
		next_ExecutorFinish(query);
		return;
	}

	push_frame(&frame, find_execution(query), T_Invalid);
	PG_TRY();
	{
		next_ExecutorFinish(query);
	}
	PG_FINALLY();
	{
		top_frame = frame.parent;
	}
	PG_END_TRY();
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

static void
rtb_ProcessUtility(PlannedStmt *pstmt, const char *source, bool read_only_tree,
				   ProcessUtilityContext context, ParamListInfo params,
				   QueryEnvironment *env, DestReceiver *dest, QueryCompletion *qc)
{
	RtbFrame	frame;
	CommandTag	tag;
	bool		copy_from;

	/* a part of a statement that is counted as a whole */
	if (!counting || context == PROCESS_UTILITY_SUBCOMMAND)
	{
		next_ProcessUtility(pstmt, source, read_only_tree, context, params, env, dest, qc);
		return;
	}

	note_utility(pstmt->utilityStmt);
	tag = CreateCommandTag(pstmt->utilityStmt);
	copy_from = IsA(pstmt->utilityStmt, CopyStmt) && ((CopyStmt *) pstmt->utilityStmt)->is_from;

	push_frame(&frame, NULL, nodeTag(pstmt->utilityStmt));
	frame.counting_id = counting_id;
	frame.rows_before = rows[RTB_SENT];
	PG_TRY();
	{
		next_ProcessUtility(pstmt, source, read_only_tree, context, params, env, dest, qc);
	}
	PG_FINALLY();
	{
		top_frame = frame.parent;
		if (counting && frame.counting_id == counting_id)
			count_utility(&frame, tag);
	}
	PG_END_TRY();

	/*
	 * Rows that went through an executor were counted there: those of CREATE
	 * TABLE AS in one that was started for it, those of FETCH in the cursor's.
	 */
	if (counting && frame.counting_id == counting_id && frame.depth == 0 && qc != NULL &&
		(copy_from || (!frame.superseded && rows[RTB_SENT] == frame.rows_before)))
		rows[RTB_SENT] += qc->nprocessed;
}

static PlannedStmt *
rtb_planner(RTB_PLANNER_PARAMS)
{
	if (counting)
		seen.plannings++;
	return previous_planner ? previous_planner(RTB_PLANNER_ARGS) : standard_planner(RTB_PLANNER_ARGS);
}

/*
 * pg_notify() is called like any other function.
 */
static void
rtb_object_access(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id, void *arg)
{
	if (access == OAT_FUNCTION_EXECUTE && object_id == F_PG_NOTIFY && counting)
		seen.notifies = true;
	if (previous_object_access)
		previous_object_access(access, class_id, object_id, sub_id, arg);
}

/*
 * Subtransactions that begin and end while counting: did they get an id?
 */
static void
rtb_subxact(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if ((event == SUBXACT_EVENT_PRE_COMMIT_SUB || event == SUBXACT_EVENT_ABORT_SUB) &&
		counting && GetCurrentTransactionNestLevel() > first_nest_level &&
		TransactionIdIsValid(GetCurrentTransactionIdIfAny()))
		seen.xids++;
}

static void
install_hooks(void)
{
	if (installed)
		return;

	previous_ExecutorStart = ExecutorStart_hook;
	previous_ExecutorRun = ExecutorRun_hook;
	previous_ExecutorFinish = ExecutorFinish_hook;
	previous_ProcessUtility = ProcessUtility_hook;
	previous_planner = planner_hook;
	previous_object_access = object_access_hook;

	RegisterSubXactCallback(rtb_subxact, NULL);
	ExecutorStart_hook = rtb_ExecutorStart;
	ExecutorRun_hook = rtb_ExecutorRun;
	ExecutorFinish_hook = rtb_ExecutorFinish;
	ProcessUtility_hook = rtb_ProcessUtility;
	planner_hook = rtb_planner;
	object_access_hook = rtb_object_access;
	installed = true;
}

/*
 * Somebody who hooked in after us holds our functions' addresses: then they must
 * stay where they are, and only pass on.
 */
static void
uninstall_hooks(void)
{
	if (!installed ||
		ExecutorStart_hook != rtb_ExecutorStart ||
		ExecutorRun_hook != rtb_ExecutorRun ||
		ExecutorFinish_hook != rtb_ExecutorFinish ||
		ProcessUtility_hook != rtb_ProcessUtility ||
		planner_hook != rtb_planner ||
		object_access_hook != rtb_object_access)
		return;

	ExecutorStart_hook = previous_ExecutorStart;
	ExecutorRun_hook = previous_ExecutorRun;
	ExecutorFinish_hook = previous_ExecutorFinish;
	ProcessUtility_hook = previous_ProcessUtility;
	planner_hook = previous_planner;
	object_access_hook = previous_object_access;
	UnregisterSubXactCallback(rtb_subxact, NULL);
	installed = false;
}

/* ----------------------------------------------------------------
 * For the rooms above
 * ---------------------------------------------------------------- */

/*
 * Start counting from zero.  Throws an error if this process is counting
 * already: a statement under measurement has called rtbench.
 */
void
rtb_hooks_begin(void)
{
	if (begun)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("rtbench cannot be called from a statement that rtbench is measuring")));
	Assert(!IsParallelWorker());

	if (execution_context == NULL)
		execution_context = AllocSetContextCreate(TopMemoryContext, "rtbench executions",
												  ALLOCSET_DEFAULT_SIZES);
	rtb_shapes_reset();
	install_hooks();

	counting_id++;
	memset(started, 0, sizeof(started));
	memset(rows, 0, sizeof(rows));
	memset(&seen, 0, sizeof(seen));
	top_frame = NULL;
	driving = false;

	first_nest_level = GetCurrentTransactionNestLevel();
	had_xid = TransactionIdIsValid(GetCurrentTransactionIdIfAny());
	had_top_xid = TransactionIdIsValid(GetTopTransactionIdIfAny());

	begun = true;
	counting = true;
}

/*
 * Stop counting and hand over the results; throws nothing.  If nothing but
 * loops' queries ran, they are the statements.  Must be called at the level of
 * transaction where counting began.
 */
void
rtb_hooks_end(RtbCounts *counts)
{
	Assert(begun);

	/* ids given to transactions that began before counting and have not ended */
	if (!had_top_xid && TransactionIdIsValid(GetTopTransactionIdIfAny()))
		seen.xids++;
	if (GetCurrentTransactionNestLevel() > 1 && !had_xid &&
		TransactionIdIsValid(GetCurrentTransactionIdIfAny()))
		seen.xids++;

	*counts = seen;
	counts->statements = started[RTB_SENT];
	counts->loop_queries = started[RTB_SENT_LOOP];
	counts->rows = rows[RTB_SENT];
	if (counts->statements == 0)
	{
		counts->statements = started[RTB_SENT_LOOP];
		counts->loop_queries = 0;
		counts->rows += rows[RTB_SENT_LOOP];
	}
	counts->fired = started[RTB_FIRED] > 0 ? started[RTB_FIRED] : started[RTB_FIRED_LOOP];

	begun = counting = driving = false;
	uninstall_hooks();
}

/*
 * Stop counting after an error, without results.  May be called at any time;
 * throws nothing.
 */
void
rtb_hooks_abandon(void)
{
	begun = counting = driving = false;
	top_frame = NULL;
	memset(started, 0, sizeof(started));
	if (execution_context != NULL)
		rtb_shapes_reset();
	uninstall_hooks();
}

/*
 * Switch counting off around rtbench's own statements; returns what to give to
 * rtb_hooks_resume() afterwards.
 */
bool
rtb_hooks_pause(void)
{
	bool		was_counting = counting;

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
	RtbKind		kind = fired ? RTB_FIRED : RTB_SENT;

	/* nothing but loops ran: their queries are the statements */
	if (started[kind] == 0)
		kind++;
	return rtb_shapes_text(kind);
}
