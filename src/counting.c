/*
 * counting.c
 *	  The rules by which statements are counted; fed by hooks.c.
 *
 * Executor statements are counted when they start, utilities when they end, as
 * only then it is known that they were not mere callers.  A SELECT that reads
 * nothing itself, SELECT f(), is counted too, and its count taken back when the
 * first statement starts under it.  A loop's query takes its callers back as
 * well: a DO block with nothing but a loop is not one statement more than the loop.
 *
 * To tell what a statement starts under, there is a stack with a frame for each
 * run of an executor or utility statement that is under way.  An error leaves
 * without taking frames off.  Whoever catches one has to undo the subtransaction
 * that it started before, and at that moment the frames made in it are dropped.
 * Code that catches errors against this rule can only make the count wrong, and
 * only until the next frame further out ends: the stack is an array, and nobody
 * relies on what is left above his own frame.
 *
 * Most executors run once, right after they were started, and are finished right
 * after that.  What is known of them waits from the start to the run, stands in the
 * frame from the run to the finish, and is gone then.  An executor that can run
 * again later (a cursor's, an SQL function's) gets an RtbExecution.  That hangs on
 * the executor's memory context by a reset callback, through which it is both found
 * and given back, and so lives exactly as long as the executor, in whatever order
 * cursors are closed and whatever errors are caught.
 *
 * All this is in the way of every statement measured, so nothing is allocated
 * there, looked up in the catalogs or timed.
 *
 * Memory: the stack of frames and a pool of executions in the context "rtbench
 * counting", which lasts for the process and grows only to the deepest nesting
 * and the largest number of cursors open at one time.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "nodes/memnodes.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/portal.h"

#include "counting.h"

/* what an executor was counted as */
typedef struct Counted
{
	RtbKind		kind;
	int			depth;			/* of triggers */
	bool		caller;			/* a mere caller if a statement starts under it */
	RtbShape   *shape;
} Counted;

/* an executor that was started and has not run yet */
typedef struct Waiting
{
	const QueryDesc *query;
	Counted		as;
} Waiting;

/* an executor that can run more than once */
typedef struct RtbExecution
{
	MemoryContextCallback gone; /* its memory context is being deleted */
	struct RtbExecution *next_free;
	uint32		counting_id;
	bool		counted;		/* false once taken back */
	Counted		as;
	int64		rows;
} RtbExecution;

/* a run under way of an executor or utility statement */
typedef struct Frame
{
	const QueryDesc *query;		/* NULL of a utility */
	SubTransactionId subxact;	/* in which it began */
	int			depth;			/* of triggers */
	bool		superseded;		/* a statement started under it at the same depth */
	/* of an executor */
	bool		counted;		/* false if not, or taken back */
	Counted		as;
	RtbExecution *execution;	/* or NULL */
	/* of a utility */
	NodeTag		utility;		/* T_Invalid of an executor */
	CommandTag	tag;
	bool		copies_in;		/* it is COPY FROM */
	int64		rows_before;
} Frame;

/*
 * An executor waits while others run only if its start calls functions (pruning
 * of partitions does): more than a few are leftovers of starts that failed.
 */
#define MOST_WAITING			8

#define FIRST_FRAMES			64
#define EXECUTIONS_PER_BLOCK	32

RtbCounts	rtb_noted;

static uint32 counting_id = 0;
static int64 started[RTB_KINDS];
static int64 rows[RTB_KINDS];

static MemoryContext counting_context = NULL;
static Waiting waiting[MOST_WAITING];
static int	nwaiting = 0;
static Frame *frames = NULL;
static int	nframes = 0;
static int	frames_allocated = 0;
static RtbExecution *free_executions = NULL;

static inline int
trigger_depth(void)
{
	LOCAL_FCINFO(fcinfo, 0);

	/* the only way to trigger.c's static MyTriggerDepth; it reads no argument */
	return DatumGetInt32(pg_trigger_depth(fcinfo));
}

/* ----------------------------------------------------------------
 * Lifetime
 * ---------------------------------------------------------------- */

/*
 * Count from zero.  What was started before belongs to no counting.
 */
void
rtb_counting_reset(void)
{
	if (counting_context == NULL)
		counting_context = AllocSetContextCreate(TopMemoryContext, "rtbench counting",
												 ALLOCSET_DEFAULT_SIZES);
	if (frames == NULL)
	{
		frames = MemoryContextAlloc(counting_context, sizeof(Frame) * FIRST_FRAMES);
		frames_allocated = FIRST_FRAMES;
	}
	rtb_shapes_reset();

	counting_id++;
	nframes = 0;
	nwaiting = 0;
	memset(started, 0, sizeof(started));
	memset(rows, 0, sizeof(rows));
	memset(&rtb_noted, 0, sizeof(rtb_noted));
}

/*
 * Counting is interrupted: executors that are not counted may come to stand in
 * the place of those that wait.
 */
void
rtb_counting_forget_waiting(void)
{
	nwaiting = 0;
}

/*
 * The kind of what counts as statements, sent or fired: where nothing but loops
 * ran, their queries.
 */
RtbKind
rtb_counting_kind(bool fired)
{
	RtbKind		kind = fired ? RTB_FIRED : RTB_SENT;

	return started[kind] > 0 ? kind : kind + 1;
}

/*
 * The counts so far, with what is noted beside them.
 */
void
rtb_counting_totals(RtbCounts *counts)
{
	RtbKind		sent = rtb_counting_kind(false);

	*counts = rtb_noted;
	counts->statements = started[sent];
	counts->fired = started[rtb_counting_kind(true)];
	counts->loop_queries = sent == RTB_SENT ? started[RTB_SENT_LOOP] : 0;
	counts->rows = rows[sent];
}

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

	if (free_executions == NULL)
	{
		execution = MemoryContextAlloc(counting_context,
									   sizeof(RtbExecution) * EXECUTIONS_PER_BLOCK);
		for (int i = 0; i < EXECUTIONS_PER_BLOCK; i++)
			execution_gone(&execution[i]);
	}
	execution = free_executions;
	free_executions = execution->next_free;
	return execution;
}

/*
 * The execution of an executor that can run more than once, or NULL.
 */
static RtbExecution *
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
push_waiting(const QueryDesc *query, const Counted *as)
{
	/* of two at one address the older one is a leftover, and so is the oldest */
	if (unlikely(nwaiting > 0))
	{
		int			kept = 0;

		for (int i = nwaiting == MOST_WAITING ? 1 : 0; i < nwaiting; i++)
		{
			if (waiting[i].query != query)
				waiting[kept++] = waiting[i];
		}
		nwaiting = kept;
	}
	waiting[nwaiting].query = query;
	waiting[nwaiting++].as = *as;
}

/*
 * What an executor that was waiting is counted as; those that were started after
 * it wait no longer.  NULL if it did not wait.
 */
static inline const Counted *
pop_waiting(const QueryDesc *query)
{
	for (int i = nwaiting - 1; i >= 0; i--)
	{
		if (waiting[i].query == query)
		{
			nwaiting = i;
			return &waiting[i].as;
		}
	}
	return NULL;
}

static inline Frame *
push_frame(const QueryDesc *query)
{
	Frame	   *frame;

	if (unlikely(nframes == frames_allocated))
	{
		frames = repalloc_huge(frames, sizeof(Frame) * frames_allocated * 2);
		frames_allocated *= 2;
	}
	frame = &frames[nframes++];
	frame->query = query;
	frame->subxact = GetCurrentSubTransactionId();
	frame->superseded = false;
	frame->counted = false;
	frame->execution = NULL;
	frame->utility = T_Invalid;
	return frame;
}

/*
 * Where the stack of runs stands now.
 */
RtbMark
rtb_counting_mark(void)
{
	RtbMark		mark = {counting_id, nframes};

	return mark;
}

/*
 * All that began after this mark has ended.
 */
void
rtb_counting_back(RtbMark mark)
{
	if (mark.counting_id == counting_id)
		nframes = mark.nframes;
}

/*
 * A statement has started at this depth: whatever called it is no statement of
 * its own.  Frames under one that is superseded were seen to then.
 */
static inline void
supersede_callers(int depth)
{
	for (int i = nframes - 1; i >= 0; i--)
	{
		Frame	   *frame = &frames[i];

		if (frame->depth != depth || frame->superseded)
			break;
		frame->superseded = true;
		if (frame->counted && frame->as.caller)
		{
			frame->counted = false;
			frame->as.shape->count--;
			started[frame->as.kind]--;
			if (frame->execution != NULL)
			{
				frame->execution->counted = false;
				rows[frame->as.kind] -= frame->execution->rows;
			}
		}
	}
}

/* ----------------------------------------------------------------
 * Executors
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
static inline bool
is_loop_query(const QueryDesc *query, int depth, bool portal_start, bool driving)
{
	if (!portal_start && !driving)
		return false;
	if (query->operation != CMD_SELECT || query->plannedstmt->hasModifyingCTE)
		return false;
	/* what fires on behalf of a driver that changes data feeds nothing */
	if (driving && nframes == 0 && depth == 0)
		return true;
	if (!portal_start)
		return false;
	if (nframes == 0 || depth > frames[nframes - 1].depth)
		return depth > 0;
	switch (frames[nframes - 1].utility)
	{
		case T_DeclareCursorStmt:
		case T_ExecuteStmt:
		case T_CreateTableAsStmt:
			return false;
		default:
			return true;
	}
}

/*
 * A SELECT without FROM, which does nothing but call.  A subquery that reads a
 * table puts that table in the range table, so such a SELECT is none.
 */
static inline bool
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
static inline bool
is_sql_function(const QueryDesc *query, int depth, bool portal_start)
{
	const Frame *frame;

	if (likely(query->dest->mydest != DestNone))
		return query->dest->mydest == DestSQLFunction;
	if (portal_start || !query->plannedstmt->canSetTag || nframes == 0)
		return false;
	frame = &frames[nframes - 1];
	return frame->depth == depth &&
		(frame->utility == T_Invalid || frame->utility == T_CallStmt);
}

/*
 * An executor is about to be started.  Returns true if it may run more than
 * once: then rtb_counting_keep() is to be called after the start.
 */
bool
rtb_counting_start(const QueryDesc *query, bool driving)
{
	const PlannedStmt *stmt = query->plannedstmt;
	int			depth = trigger_depth();
	bool		portal_start = is_portal_start(query);
	bool		loop = is_loop_query(query, depth, portal_start, driving);
	bool		sql_function = is_sql_function(query, depth, portal_start);
	Counted		as;

	as.kind = (depth > 0 ? RTB_FIRED : RTB_SENT) + (loop ? 1 : 0);
	as.depth = depth;
	as.caller = !loop && is_caller(stmt);
	as.shape = rtb_shape_of_plan(as.kind, stmt);

	/* nothing fails from here on */
	push_waiting(query, &as);
	supersede_callers(depth);
	started[as.kind]++;
	as.shape->count++;
	rtb_noted.parallel |= stmt->parallelModeNeeded;
	rtb_noted.rules |= !stmt->canSetTag;
	rtb_noted.sql_functions |= sql_function;
	return portal_start || sql_function;
}

/*
 * Keep what a started executor is counted as for as long as the executor lives.
 */
void
rtb_counting_keep(const QueryDesc *query)
{
	const Counted *as = pop_waiting(query);
	RtbExecution *execution;

	if (as == NULL)
		return;
	execution = new_execution();
	execution->gone.func = execution_gone;
	execution->gone.arg = execution;
	execution->counting_id = counting_id;
	execution->counted = true;
	execution->as = *as;
	execution->rows = 0;
	MemoryContextRegisterResetCallback(query->estate->es_query_cxt, &execution->gone);
}

/*
 * An executor is about to run.  Returns true if it does so for the only time,
 * so that rtb_counting_finish() will show the end of its run; if not,
 * rtb_counting_ran() is to be called after the run.
 */
bool
rtb_counting_run(const QueryDesc *query)
{
	Frame	   *frame = push_frame(query);
	const Counted *as = pop_waiting(query);

	if (likely(as != NULL))
	{
		frame->as = *as;
		frame->depth = as->depth;
		frame->counted = true;
		return true;
	}

	frame->execution = find_execution(query);
	if (frame->execution != NULL)
	{
		frame->as = frame->execution->as;
		frame->counted = frame->execution->counted;
	}
	frame->depth = trigger_depth();
	return false;
}

/*
 * A run has ended that began at this mark.
 */
void
rtb_counting_ran(RtbMark mark, const QueryDesc *query)
{
	const Frame *frame;

	if (mark.counting_id != counting_id)
		return;
	nframes = mark.nframes;
	frame = &frames[nframes];
	if (frame->counted)
	{
		rows[frame->as.kind] += query->estate->es_processed;
		frame->execution->rows += query->estate->es_processed;
	}
}

/*
 * An executor is about to be finished: if it has run for the only time, that run
 * has ended just now.
 */
void
rtb_counting_finish(const QueryDesc *query)
{
	const Frame *frame;

	if (nframes == 0)
		return;
	frame = &frames[nframes - 1];
	if (frame->query != query)
		return;
	if (frame->counted)
		rows[frame->as.kind] += query->estate->es_processed;
	nframes--;
}

/* ----------------------------------------------------------------
 * Utilities
 * ---------------------------------------------------------------- */

/*
 * A utility statement is about to run.  Whatever must be known of it is noted
 * now: its tree may be gone afterwards.
 */
void
rtb_counting_utility(Node *statement)
{
	Frame	   *frame;

	switch (nodeTag(statement))
	{
		case T_NotifyStmt:
			rtb_noted.notifies = true;
			break;
		case T_TruncateStmt:
			rtb_noted.truncates = true;
			break;
		case T_VacuumStmt:
		case T_ReindexStmt:
			rtb_noted.ddl = true;
			break;
		default:
			if (GetCommandLogLevel(statement) == LOGSTMT_DDL)
				rtb_noted.ddl = true;
			break;
	}

	frame = push_frame(NULL);
	frame->depth = trigger_depth();
	frame->utility = nodeTag(statement);
	frame->tag = CreateCommandTag(statement);
	frame->copies_in = IsA(statement, CopyStmt) && ((CopyStmt *) statement)->is_from;
	frame->rows_before = rows[RTB_SENT];
}

/*
 * The utility on top of the stack has ended, well or not.  It is counted unless
 * an executor statement was started for it, or others by it.
 */
static void
pop_utility(void)
{
	const Frame *frame = &frames[--nframes];

	if (!frame->superseded)
	{
		RtbKind		kind = frame->depth > 0 ? RTB_FIRED : RTB_SENT;

		supersede_callers(frame->depth);
		started[kind]++;
		rtb_shape_of_utility(kind, frame->tag)->count++;
	}
}

/*
 * The utility that began at this mark has ended well.
 */
void
rtb_counting_utility_done(RtbMark mark, const QueryCompletion *qc)
{
	const Frame *frame;

	if (mark.counting_id != counting_id)
		return;
	nframes = mark.nframes + 1;
	frame = &frames[mark.nframes];

	/*
	 * Rows that went through an executor were counted there: those of CREATE
	 * TABLE AS in one that was started for it, those of FETCH in the cursor's.
	 */
	if (frame->depth == 0 && qc != NULL &&
		(frame->copies_in || (!frame->superseded && rows[RTB_SENT] == frame->rows_before)))
		rows[RTB_SENT] += qc->nprocessed;
	pop_utility();
}

/*
 * A subtransaction is undone, and with it all runs that began in it, or in one
 * further in: an error has ended them.
 */
void
rtb_counting_undone(SubTransactionId subxact)
{
	while (nframes > 0 && frames[nframes - 1].subxact >= subxact)
	{
		if (frames[nframes - 1].query == NULL)
			pop_utility();
		else
			nframes--;
	}
}
