/*
 * session.c
 *	  One session: its points, their fixtures, and rounds of passes at them.
 *
 * The process that builds the points' fixtures keeps them and drops them;
 * later sessions, in fresh processes, attach to what the first one found out
 * about a point.
 *
 * Memory: RtbSession lives in a context of its own, each point in a child
 * of it.
 */
#include "postgres.h"

#include "session.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "check.h"
#include "cleaning.h"
#include "own_sql.h"
#include "point_message.h"
#include "probe.h"
#include "rebuild.h"
#include "scratch.h"

/* executions that the price of an empty statement is the cheapest of */
#define RTB_EMPTY_STATEMENTS	1000
/* with kept plans: the choice between custom and generic falls at the sixth execution */
#define RTB_KEPT_WARMUPS	6
/* a digest that takes no longer than this is cheap beside any pass */
#define RTB_CHEAP_DIGEST_NS INT64CONST(3000000)

/*
 * rtb_session_open
 *		A session in this process; in the current memory context.
 *
 * first: the one that builds fixtures; it also drops what killed processes left.
 */
RtbSession *
rtb_session_open(const RtbSessionOptions *options, const RtbSessionSink *sink)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "rtbench session",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = CurrentMemoryContext;
	RtbSession *s = MemoryContextAllocZero(cxt, sizeof(RtbSession));

	s->cxt = cxt;
	s->pass_cxt = AllocSetContextCreate(cxt, "rtbench pass", ALLOCSET_DEFAULT_SIZES);
	s->options = *options;
	s->sink = *sink;
	rtb_scratch_expect(options->budget_ms);
	s->transport = options->own_transactions ? &rtb_spi_worker_transport
		: &rtb_spi_caller_transport;
	if (options->wire != NULL)
	{
		StartTransactionCommand();
		rtb_wire_open(options->wire);
		CommitTransactionCommand();
		MemoryContextSwitchTo(old);
		s->transport = &rtb_wire_transport;
	}
	s->nest_level = GetCurrentTransactionNestLevel();
	s->owner = CurrentResourceOwner;
	GetUserIdAndSecContext(&s->userid, &s->sec_context);
	s->caller_path = MemoryContextStrdup(cxt, namespace_search_path ? namespace_search_path : "");
	return s;
}

/*
 * rtb_session_empty_price
 *		Nanoseconds of the cheapest of 1,000 executions of a statement that
 *		does nothing: no statement of an arm can be cheaper than most of that.
 */
int64
rtb_session_empty_price(RtbSession *s)
{
	MemoryContext old = CurrentMemoryContext;
	SPIExecuteOptions options = {0};
	int64		cheapest = PG_INT64_MAX;
	SPIPlanPtr	plan;

	if (s->transport->far)
		return rtb_wire_empty_price();
	options.dest = None_Receiver;
	s->transport->begin(NULL);
	plan = SPI_prepare("SELECT", 0, NULL);
	for (int i = 0; i < RTB_EMPTY_STATEMENTS; i++)
	{
		int64		started = rtb_clock_ns();
		int64		took;

		SPI_execute_plan_extended(plan, &options);
		took = rtb_clock_ns() - started;
		cheapest = Min(cheapest, took);
	}
	s->transport->rollback();
	MemoryContextSwitchTo(old);
	cheapest -= rtb_clock_cost_ns();
	return Max(cheapest, 0);
}

/* room for a point and its arms; the transport's state of each arm is made here */
static RtbPoint *
new_point(RtbSession *s, const char *document)
{
	MemoryContext cxt = AllocSetContextCreate(s->cxt, "rtbench point", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	RtbPoint   *point = palloc0(sizeof(RtbPoint));
	ListCell   *lc;
	int			n = 0;

	point->cxt = cxt;
	point->work = rtb_work_parse(document);
	point->narms = list_length(point->work->arms);
	point->arms = palloc0(sizeof(RtbArm *) * point->narms);
	point->states = palloc0(sizeof(void *) * point->narms);
	point->failed = palloc0(sizeof(bool) * point->narms);
	foreach(lc, point->work->arms)
	{
		point->arms[n] = lfirst(lc);
		point->states[n] = s->transport->open_arm(point->arms[n]);
		n++;
	}
	MemoryContextSwitchTo(s->cxt);
	s->points = lappend(s->points, point);
	MemoryContextSwitchTo(old);
	return point;
}

/*
 * rtb_session_point
 *		Take up a new point: its fixture is built when this returns.
 *
 * Throws what the setup throws: the run ends then.
 */
void
rtb_session_point(RtbSession *s, const char *document)
{
	MemoryContext old = CurrentMemoryContext;

	if (s->transport->far)
		rtb_wire_revive();
	/* whose they are on another server is not as sure: rtbench.cleanup() does it there */
	if (s->points == NIL && s->options.own_transactions &&
		!(s->transport->far && s->options.wire->is_server))
		rtb_scratch_sweep(s->transport);
	s->at = new_point(s, document);
	/* in the caller's transaction a point's fixture is rolled back with this */
	if (!s->options.own_transactions)
		BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(s->at->cxt);
	rtb_fixture_create(&s->at->fixture, s->transport, s->at->work);
	s->at->keeper = true;
	rtb_rebuild_remember(s);
	MemoryContextSwitchTo(old);
}

/*
 * rtb_session_describe
 *		What another session must know of the point, appended to a message.
 */
void
rtb_session_describe(RtbSession *s, StringInfo buf)
{
	rtb_point_write(buf, s->at);
}

/*
 * rtb_session_attach
 *		Take up a point whose fixture another process keeps.
 */
void
rtb_session_attach(RtbSession *s, const char *document, StringInfo description)
{
	MemoryContext old = CurrentMemoryContext;

	s->at = new_point(s, document);
	MemoryContextSwitchTo(s->at->cxt);
	rtb_point_read(description, s->at);
	MemoryContextSwitchTo(old);
}

/*
 * rtb_session_enter
 *		Go back to a point taken up before, by its place from 0.
 */
void
rtb_session_enter(RtbSession *s, int place)
{
	s->at = list_nth(s->points, place);
}

static int
place_of(const RtbSession *s, const RtbPoint *point)
{
	ListCell   *lc;

	foreach(lc, s->points)
	{
		if (lfirst(lc) == point)
			return foreach_current_index(lc);
	}
	return -1;
}

/* free the plans that would outlive the transaction */
static void
abandon_point(RtbSession *s, RtbPoint *point)
{
	for (int i = 0; i < point->narms; i++)
	{
		if (point->states[i] != NULL)
			s->transport->close_arm(point->states[i]);
		point->states[i] = NULL;
	}
}

/*
 * rtb_session_leave
 *		Done with the point: if this session keeps its fixture, that is gone
 *		when this returns.
 */
void
rtb_session_leave(RtbSession *s)
{
	MemoryContext old = CurrentMemoryContext;
	RtbPoint   *point = s->at;

	if (s->transport->far)
		rtb_wire_revive();
	abandon_point(s, point);
	if (point->keeper)
	{
		rtb_cleaning_finish(s);
		rtb_fixture_drop(&point->fixture, s->transport);
		if (!s->options.own_transactions)
		{
			RollbackAndReleaseCurrentSubTransaction();
			/* what called is owned by a portal, not by the transaction itself */
			CurrentResourceOwner = s->owner;
		}
	}
	MemoryContextSwitchTo(old);
	lfirst(list_nth_cell(s->points, place_of(s, point))) = NULL;
	MemoryContextDelete(point->cxt);
	s->at = NULL;
}

/*
 * rtb_session_unwind
 *		After an error in the caller's transaction: roll back to where the
 *		session began, and free what would outlive the transaction.
 *
 * The subtransactions of a point and of a pass are nobody else's to end: left
 * open they would be taken for the caller's own.
 */
void
rtb_session_unwind(RtbSession *s)
{
	MemoryContext old = CurrentMemoryContext;
	ListCell   *lc;

	while (GetCurrentTransactionNestLevel() > s->nest_level)
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(old);
	CurrentResourceOwner = s->owner;
	rtb_session_release_pass(s);
	foreach(lc, s->points)
	{
		if (lfirst(lc) != NULL)
			abandon_point(s, lfirst(lc));
	}
}

/*
 * rtb_session_close
 *		End of the session: everything of it is freed.
 */
void
rtb_session_close(RtbSession *s)
{
	rtb_wire_close();
	MemoryContextDelete(s->cxt);
}

/*
 * rtb_session_emit
 *		Hand a finished pass to whoever keeps it.
 */
void
rtb_session_emit(RtbSession *s, const RtbPass *pass)
{
	s->sink.pass(s->sink.arg, pass);
}

/*
 * rtb_session_find
 *		Tell something found about an arm (-1: all) at the point.
 */
void
rtb_session_find(RtbSession *s, RtbFindingKind kind, int arm, const char *fmt,...)
{
	RtbFinding	finding = {0};
	StringInfoData buf;

	initStringInfo(&buf);
	for (;;)
	{
		va_list		args;
		int			needed;

		va_start(args, fmt);
		needed = appendStringInfoVA(&buf, fmt, args);
		va_end(args);
		if (needed == 0)
			break;
		enlargeStringInfo(&buf, needed);
	}
	finding.kind = kind;
	finding.has_point = s->at->work->has_point;
	finding.point = s->at->work->point;
	finding.arm = arm;
	finding.detail = buf.data;
	s->sink.finding(s->sink.arg, &finding);
	pfree(buf.data);
}

/* ---- rounds ---- */

static bool
has_kept_plans(List *steps)
{
	ListCell   *lc;

	foreach(lc, steps)
	{
		const RtbStep *step = lfirst(lc);

		if (step->plans_kept || has_kept_plans(step->body))
			return true;
	}
	return false;
}

/*
 * rtb_session_keeps_plans
 *		Does an arm keep statements prepared from pass to pass?
 */
bool
rtb_session_keeps_plans(const RtbSession *s, int arm)
{
	return has_kept_plans(s->at->arms[arm]->steps);
}

/*
 * rtb_session_warm_up
 *		One untimed pass of an arm in this backend; with kept plans as many as
 *		it takes to have settled between custom and generic plans.
 */
void
rtb_session_warm_up(RtbSession *s, int session, int arm)
{
	int			passes = rtb_session_keeps_plans(s, arm) ? RTB_KEPT_WARMUPS : 1;

	for (int i = 0; i < passes && !s->at->failed[arm]; i++)
	{
		RtbPassRequest rq = {.kind = RTB_PASS_WARMUP, .arm = arm, .session = session};

		rtb_session_emit(s, rtb_session_pass(s, &rq));
	}
}

/* one pass of a round, or after it */
static void
emit_round_pass(RtbSession *s, RtbPassRequest *rq, bool digested)
{
	RtbCheck   *check = digested ? rtb_check_create(s->at->cxt) : NULL;
	RtbPass    *pass;

	rq->check = check;
	pass = rtb_session_pass(s, rq);
	if (check != NULL && pass->sqlstate == NULL)
		pass->digest = check->text;
	if (rq->round > 0)
		s->at->longest_ns = Max(s->at->longest_ns, pass->elapsed_ns);
	rtb_session_emit(s, pass);
}

/*
 * Should the passes of this round be digested?  Where it costs little, every
 * session's last round is, so that a run that ends early is proven too.
 */
static RtbPassKind
settle_kind(const RtbSession *s, RtbPassKind asked)
{
	if (asked != RTB_PASS_LAST_IF_CHEAP)
		return asked;
	return s->at->check_ns <= Max(s->at->longest_ns / 10, RTB_CHEAP_DIGEST_NS)
		? RTB_PASS_LAST : RTB_PASS_TIMED;
}

/*
 * rtb_session_round
 *		One round: passes of the given kind in the given order, in which
 *		RTB_CONTROL stands for the baseline's second pass.  An arm that failed
 *		before, or fails now, is left out from then on.
 *
 * In the last round what the arms leave is digested after the clock stopped.
 * Digesting rows that they return would be timed, so where these count every
 * arm has an untimed pass for it after that round.  Such closing passes can
 * also be asked for, where it was not known which round is the last.
 */
void
rtb_session_round(RtbSession *s, RtbPassKind asked, int session, int round, int norder,
				  const int *order)
{
	RtbPassKind kind = settle_kind(s, asked);
	bool		last = kind == RTB_PASS_LAST;

	rtb_scratch_renew(s->transport, s->at->fixture.schema, &s->at->renewed_ns);
	rtb_rebuild_refresh(s);
	for (int i = 0; i < norder; i++)
	{
		RtbPassRequest rq = {.kind = kind, .session = session, .round = round};

		rq.arm = order[i] == RTB_CONTROL ? s->options.baseline : order[i];
		rq.control = order[i] == RTB_CONTROL;
		rq.position = i + 1;
		if (s->at->failed[rq.arm])
			continue;
		if (kind == RTB_PASS_WARMUP)
			rtb_session_warm_up(s, session, rq.arm);
		else
			emit_round_pass(s, &rq, kind == RTB_PASS_CLOSING ||
							(last && !s->at->check_returned));
	}
	for (int i = 0; last && s->at->check_returned && i < norder; i++)
	{
		RtbPassRequest rq = {.kind = RTB_PASS_CLOSING, .arm = order[i], .session = session};

		if (order[i] != RTB_CONTROL && !s->at->failed[order[i]])
			emit_round_pass(s, &rq, true);
	}
	/* whatever process is next finds the fixture as it was */
	rtb_rebuild_if_dirty(s);
}
