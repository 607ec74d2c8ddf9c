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
 * after that.  The frame of such a run is prepared by the start, and the finish
 * shows that the run has ended.  An executor that can run again later (a cursor's,
 * an SQL function's) gets an RtbExecution, and a frame for each of its runs.
 *
 * All this is in the way of every statement measured, so nothing is allocated
 * there, looked up in the catalogs or timed.  A statement drives all else out of
 * the processor's first caches, so what costs is not so much what is done as how
 * many lines of memory, code included, it takes: what is rare stands apart, and
 * pg_attribute_hot puts what runs for every statement, in whatever file, side by side.
 *
 * Memory: frames beyond the first few are in TopMemoryContext, and grow only to the
 * deepest nesting.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "tcop/utility.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

#include "classify.h"
#include "counting.h"
#include "executions.h"

/* a run under way of an executor or utility statement; fits a cache line */
typedef struct Frame
{
	const QueryDesc *query;		/* NULL of a utility */
	RtbShape   *shape;			/* of an executor that is counted */
	RtbExecution *execution;	/* of an executor, or NULL */
	int64		rows_before;	/* of a utility */
	SubTransactionId subxact;	/* in which it began */
	int			depth;			/* of triggers */
	NodeTag		utility;		/* T_Invalid of an executor */
	CommandTag	tag;			/* of a utility */
	uint8		kind;			/* RtbKind of an executor that is counted */
	bool		counted;		/* is it?  Not when taken back */
	bool		caller;			/* a mere caller if a statement starts under it */
	bool		superseded;		/* a statement started under it at the same depth */
	bool		copies_in;		/* of a utility: it is COPY FROM */
} Frame;

/*
 * An executor waits while others run only if its start calls functions (pruning
 * of partitions does): more than a few are leftovers of starts that failed.
 */
#define MOST_WAITING			8

#define FIRST_FRAMES			64

RtbCounts	rtb_noted;

/* the lowest frame is no run, and nothing lies beneath it */
static Frame first_frames[FIRST_FRAMES] pg_attribute_aligned(PG_CACHE_LINE_SIZE);
static const Frame bottom_frame = {.subxact = InvalidSubTransactionId, .depth = -1, .superseded = true};

/* what every statement needs */
static struct
{
	Frame	   *frames;
	int			nframes;		/* the lowest included */
	int			allocated;		/* at least one more */
	bool		prepared;		/* the frame above the top is a started executor's */
	SubTransactionId subxact;	/* the current one */
	PGFunction	trigger_depth;
	int64		started[RTB_KINDS];
	int64		rows[RTB_KINDS];
}			hot pg_attribute_aligned(PG_CACHE_LINE_SIZE) = {.trigger_depth = pg_trigger_depth};

static uint32 counting_id = 0;
static Frame waiting[MOST_WAITING];
static int	nwaiting = 0;

/*
 * The only way to trigger.c's static MyTriggerDepth; it reads no argument.
 */
static inline int
trigger_depth(void)
{
	return DatumGetInt32(hot.trigger_depth(NULL));
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
	rtb_shapes_reset();

	counting_id++;
	if (hot.frames == NULL)
	{
		hot.frames = first_frames;
		hot.allocated = FIRST_FRAMES;
		hot.frames[0] = bottom_frame;
	}
	hot.nframes = 1;
	hot.prepared = false;
	hot.subxact = GetCurrentSubTransactionId();
	memset(hot.started, 0, sizeof(hot.started));
	memset(hot.rows, 0, sizeof(hot.rows));
	nwaiting = 0;
	memset(&rtb_noted, 0, sizeof(rtb_noted));
}

/*
 * Counting is interrupted: executors that are not counted may come to stand in
 * the place of those that wait.
 */
void
rtb_counting_forget_waiting(void)
{
	hot.prepared = false;
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

	return hot.started[kind] > 0 ? kind : kind + 1;
}

/*
 * Statements started so far, those that only feed loops left out: another number
 * than before means that some did.
 */
int64
rtb_counting_started(void)
{
	return hot.started[RTB_SENT] + hot.started[RTB_FIRED];
}

/*
 * The counts so far, with what is noted beside them.
 */
void
rtb_counting_totals(RtbCounts *counts)
{
	RtbKind		sent = rtb_counting_kind(false);

	*counts = rtb_noted;
	counts->statements = hot.started[sent];
	counts->fired = hot.started[rtb_counting_kind(true)];
	counts->loop_queries = sent == RTB_SENT ? hot.started[RTB_SENT_LOOP] : 0;
	counts->rows = hot.rows[sent];
}

/*
 * The frame above the top is needed while it stands ready for an executor that
 * was started.
 */
static pg_noinline void
save_prepared(void)
{
	const Frame *prepared = &hot.frames[hot.nframes];
	int			kept = 0;

	/* of two at one address the older one is a leftover, and so is the oldest */
	for (int i = nwaiting == MOST_WAITING ? 1 : 0; i < nwaiting; i++)
	{
		if (waiting[i].query != prepared->query)
			waiting[kept++] = waiting[i];
	}
	waiting[kept++] = *prepared;
	nwaiting = kept;
	hot.prepared = false;
}

/*
 * Have the frame above the top ready again for an executor that had to wait;
 * those that were started after it wait no longer.
 */
static bool
restore_prepared(const QueryDesc *query)
{
	hot.prepared = false;
	for (int i = nwaiting - 1; i >= 0; i--)
	{
		if (waiting[i].query == query)
		{
			hot.frames[hot.nframes] = waiting[i];
			nwaiting = i;
			hot.prepared = true;
			return true;
		}
	}
	return false;
}

/*
 * The frame above the top, with room for one more above it.
 */
static inline Frame *
next_frame(const QueryDesc *query, int depth)
{
	Frame	   *frame;

	if (unlikely(hot.prepared))
		save_prepared();
	if (unlikely(hot.nframes + 1 == hot.allocated))
	{
		Size		size = sizeof(Frame) * hot.allocated;

		if (hot.frames != first_frames)
			hot.frames = repalloc_huge(hot.frames, size * 2);
		else
			hot.frames = memcpy(MemoryContextAlloc(TopMemoryContext, size * 2), hot.frames, size);
		hot.allocated *= 2;
	}
	frame = &hot.frames[hot.nframes];
	frame->query = query;
	frame->execution = NULL;
	frame->subxact = hot.subxact;
	frame->depth = depth;
	frame->utility = T_Invalid;
	frame->counted = false;
	frame->superseded = false;
	return frame;
}

static inline Frame *
top_frame(void)
{
	return &hot.frames[hot.nframes - 1];
}

/*
 * The run on top of the stack, which has just begun.
 */
RtbMark
rtb_counting_mark(void)
{
	RtbMark		mark = {counting_id, hot.nframes - 1};

	return mark;
}

/*
 * The run of this mark has ended, and all that began after it.  Returns its frame,
 * or NULL if it was in another counting.
 */
static const Frame *
pop_to(RtbMark mark)
{
	if (mark.counting_id != counting_id)
		return NULL;
	hot.nframes = mark.frame;
	hot.prepared = false;
	return &hot.frames[mark.frame];
}

/*
 * A statement has started at this depth: whatever called it is no statement of
 * its own.  Frames under one that is superseded were seen to then.
 */
static inline void
supersede_callers(int depth)
{
	for (Frame *frame = top_frame(); frame->depth == depth && !frame->superseded; frame--)
	{
		frame->superseded = true;
		if (frame->counted && frame->caller)
		{
			frame->counted = false;
			frame->shape->count--;
			hot.started[frame->kind]--;
			if (frame->execution != NULL)
			{
				frame->execution->counted = false;
				hot.rows[frame->kind] -= frame->execution->rows;
			}
		}
	}
}

/* ----------------------------------------------------------------
 * Executors
 * ---------------------------------------------------------------- */

/*
 * A SELECT that does nothing but call; most statements show at the first look that
 * they do more.
 */
static inline bool
is_caller(const PlannedStmt *stmt)
{
	const Plan *leaf = stmt->planTree;

	while (outerPlan(leaf) != NULL)
		leaf = outerPlan(leaf);
	return unlikely(IsA(leaf, Result)) && rtb_reads_nothing(stmt);
}

/*
 * A driver of a foreach step that does no work of its own.
 */
static inline bool
is_driver(const PlannedStmt *stmt)
{
	return stmt->commandType == CMD_SELECT && !stmt->hasModifyingCTE;
}

/*
 * An executor is about to be started.  Returns true if it may run more than
 * once: then rtb_counting_keep() is to be called after the start.
 */
pg_attribute_hot bool
rtb_counting_start(const QueryDesc *query, bool driving)
{
	const PlannedStmt *stmt = query->plannedstmt;
	int			depth = trigger_depth();
	RtbKind		kind = depth > 0 ? RTB_FIRED : RTB_SENT;
	bool		keep = false;
	RtbShape   *shape;
	Frame	   *frame;

	/* no receiver, or an SQL function's: one of the special ways to be started */
	if (unlikely(driving || query->dest->mydest == DestNone ||
				 query->dest->mydest == DestSQLFunction))
	{
		const Frame *under = top_frame();
		bool		sql_function = rtb_is_sql_function(query, depth, under->depth, under->utility);

		/* what fires on behalf of a driver that changes data feeds nothing */
		if (driving && hot.nframes == 1 && depth == 0 ? is_driver(stmt) :
			rtb_is_loop_query(query, depth, under->depth, under->utility))
			kind++;
		keep = sql_function || rtb_is_portal_start(query);
		rtb_noted.sql_functions |= sql_function;
	}
	if (unlikely(stmt->parallelModeNeeded))
		rtb_noted.parallel = true;
	if (unlikely(!stmt->canSetTag))
		rtb_noted.rules = true;

	shape = rtb_shape_of_plan(kind, stmt);
	shape->count++;
	hot.started[kind]++;
	supersede_callers(depth);

	frame = next_frame(query, depth);
	frame->kind = kind;
	frame->shape = shape;
	frame->counted = true;
	frame->caller = (kind == RTB_SENT || kind == RTB_FIRED) && is_caller(stmt);
	hot.prepared = true;
	return keep;
}

/*
 * Keep what a started executor is counted as for as long as the executor lives.
 */
void
rtb_counting_keep(const QueryDesc *query)
{
	const Frame *frame = &hot.frames[hot.nframes];
	RtbExecution *execution;

	if ((!hot.prepared || frame->query != query) && !restore_prepared(query))
		return;
	execution = rtb_execution_new(query);
	execution->counting_id = counting_id;
	execution->kind = frame->kind;
	execution->counted = true;
	execution->caller = frame->caller;
	execution->shape = frame->shape;
	execution->rows = 0;
	hot.prepared = false;
}

/*
 * The run of an executor that was kept, or is not counted at all.
 */
static pg_noinline void
run_again(const QueryDesc *query)
{
	Frame	   *frame = next_frame(query, trigger_depth());
	RtbExecution *execution = rtb_execution_find(query);

	if (execution != NULL && execution->counting_id == counting_id)
	{
		frame->kind = execution->kind;
		frame->counted = execution->counted;
		frame->caller = execution->caller;
		frame->shape = execution->shape;
		frame->execution = execution;
	}
	hot.nframes++;
}

/*
 * An executor is about to run.  Returns true if it does so for the only time,
 * so that rtb_counting_finish() will show the end of its run; if not, take the
 * mark and call rtb_counting_ran() after the run.
 */
pg_attribute_hot bool
rtb_counting_run(const QueryDesc *query)
{
	if (unlikely(!hot.prepared || hot.frames[hot.nframes].query != query) &&
		!restore_prepared(query))
	{
		run_again(query);
		return false;
	}
	hot.nframes++;
	hot.prepared = false;
	return true;
}

/*
 * A run has ended.
 */
void
rtb_counting_ran(RtbMark mark, const QueryDesc *query)
{
	const Frame *frame = pop_to(mark);

	if (frame != NULL && frame->counted)
	{
		hot.rows[frame->kind] += query->estate->es_processed;
		frame->execution->rows += query->estate->es_processed;
	}
}

/*
 * An executor is about to be finished: if it has run for the only time, that run
 * has ended just hot.
 */
pg_attribute_hot void
rtb_counting_finish(const QueryDesc *query)
{
	const Frame *frame = top_frame();

	if (frame->query != query)
		return;
	if (frame->counted)
		hot.rows[frame->kind] += query->estate->es_processed;
	hot.nframes--;
	hot.prepared = false;
}

/*
 * An executor's finish runs statements like a run: take the mark and call
 * rtb_counting_finished() afterwards.
 */
void
rtb_counting_finish_runs(const QueryDesc *query)
{
	next_frame(query, trigger_depth());
	hot.nframes++;
}

/*
 * An executor that ran statements when it was finished is finished now.
 */
void
rtb_counting_finished(RtbMark mark)
{
	(void) pop_to(mark);
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

	rtb_note_utility(statement, &rtb_noted);
	frame = next_frame(NULL, trigger_depth());
	hot.nframes++;
	frame->utility = nodeTag(statement);
	frame->tag = CreateCommandTag(statement);
	frame->copies_in = IsA(statement, CopyStmt) && ((CopyStmt *) statement)->is_from;
	frame->rows_before = hot.rows[RTB_SENT];
}

/*
 * A utility has ended, well or not.  It is counted unless an executor statement
 * was started for it, or others by it.
 */
static void
count_utility(const Frame *frame)
{
	RtbKind		kind = frame->depth > 0 ? RTB_FIRED : RTB_SENT;

	if (frame->superseded)
		return;
	supersede_callers(frame->depth);
	hot.started[kind]++;
	rtb_shape_of_utility(kind, frame->tag)->count++;
}

/*
 * A utility has ended well.
 */
void
rtb_counting_utility_done(RtbMark mark, const QueryCompletion *qc)
{
	const Frame *frame = pop_to(mark);

	if (frame == NULL)
		return;

	/*
	 * Rows that went through an executor were counted there: those of CREATE
	 * TABLE AS in one that was started for it, those of FETCH in the cursor's.
	 */
	if (frame->depth == 0 && qc != NULL &&
		(frame->copies_in ||
		 (!frame->superseded && hot.rows[RTB_SENT] == frame->rows_before)))
		hot.rows[RTB_SENT] += qc->nprocessed;
	count_utility(frame);
}

/* ----------------------------------------------------------------
 * Subtransactions
 * ---------------------------------------------------------------- */

/*
 * Another subtransaction is the current one.
 */
void
rtb_counting_subxact(SubTransactionId subxact)
{
	hot.subxact = subxact;
}

/*
 * A subtransaction is undone, and with it all runs that began in it or in one
 * further in: an error has ended them.
 */
void
rtb_counting_undone(SubTransactionId subxact)
{
	if (hot.prepared && hot.frames[hot.nframes].subxact >= subxact)
		hot.prepared = false;
	while (top_frame()->subxact >= subxact)
	{
		const Frame *frame = top_frame();

		hot.nframes--;
		if (frame->query == NULL)
			count_utility(frame);
	}
}
