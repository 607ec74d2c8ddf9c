/*
 * session.c
 *	  One session's passes: start state, steps, check, end.
 *
 * A pass is one transaction (or subtransaction) that is always rolled back.
 * Around the arm's statements stand, outside the clock: bringing back the
 * starting state, the arm's `before` statements, the digest, the rollback,
 * and the release of what survives a rollback (session locks, prepared
 * statements, sequence values).
 *
 * Memory: RtbSession lives in a context of its own; what belongs to a point
 * in point_cxt, which rtb_session_leave resets.
 */
#include "postgres.h"

#include "session.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "commands/prepare.h"
#include "commands/sequence.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "check.h"
#include "hooks.h"
#include "own_sql.h"
#include "probe.h"
#include "written.h"

/* a pass is repeated until it lasts this long, or this many clock steps */
#define RTB_SHORTEST_PASS_NS	INT64CONST(1000000)
#define RTB_SHORTEST_PASS_STEPS 1000
/* but never more often than this, nor beyond this time */
#define RTB_MOST_REPETITIONS	2000
#define RTB_LONGEST_REPEATING_NS INT64CONST(3000000000)

/* executions that the price of an empty statement is the cheapest of */
#define RTB_EMPTY_STATEMENTS	1000

/* where an error struck: a failing check ends the run, a failing arm does not */
typedef enum PassStage
{
	STAGE_START,
	STAGE_BEFORE,
	STAGE_ARM,
	STAGE_CHECK
} PassStage;

static TimeoutId pass_timeout_id;
static bool pass_timeout_registered = false;
static volatile sig_atomic_t pass_timed_out = false;

static void
pass_timeout_handler(void)
{
	pass_timed_out = true;
	QueryCancelPending = true;
	InterruptPending = true;
	SetLatch(MyLatch);
}

/*
 * rtb_session_open
 *		A session in this process; in the current memory context.
 */
RtbSession *
rtb_session_open(const RtbSessionOptions *options, const RtbSessionSink *sink)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "rtbench session",
											  ALLOCSET_DEFAULT_SIZES);
	RtbSession *s = MemoryContextAllocZero(cxt, sizeof(RtbSession));

	s->cxt = cxt;
	s->point_cxt = AllocSetContextCreate(cxt, "rtbench point", ALLOCSET_DEFAULT_SIZES);
	s->options = *options;
	s->sink = *sink;
	s->transport = options->own_transactions ? &rtb_spi_worker_transport
		: &rtb_spi_caller_transport;
	s->nest_level = GetCurrentTransactionNestLevel();
	s->owner = CurrentResourceOwner;
	GetUserIdAndSecContext(&s->userid, &s->sec_context);
	s->caller_path = MemoryContextStrdup(cxt, namespace_search_path ? namespace_search_path : "");
	if (!pass_timeout_registered)
		pass_timeout_id = RegisterTimeout(USER_TIMEOUT, pass_timeout_handler);
	pass_timeout_registered = true;
	if (options->own_transactions)
		rtb_fixture_sweep();
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

	options.dest = None_Receiver;
	s->transport->begin();
	plan = SPI_prepare("SELECT", 0, NULL);
	for (int i = 0; i < RTB_EMPTY_STATEMENTS; i++)
	{
		int64		started = rtb_clock_ns();

		SPI_execute_plan_extended(plan, &options);
		cheapest = Min(cheapest, rtb_clock_ns() - started);
	}
	s->transport->rollback();
	MemoryContextSwitchTo(old);
	return Max(cheapest - rtb_clock_cost_ns(), 0);
}

/*
 * rtb_session_point
 *		Take up a point: its fixture is built when this returns.
 *
 * Throws what the setup throws: the run ends then.
 */
void
rtb_session_point(RtbSession *s, const char *document)
{
	MemoryContext old = MemoryContextSwitchTo(s->point_cxt);
	ListCell   *lc;
	int			n = 0;

	s->work = rtb_work_parse(document);
	s->narms = list_length(s->work->arms);
	s->arms = palloc0(sizeof(RtbArm *) * s->narms);
	s->states = palloc0(sizeof(void *) * s->narms);
	s->failed = palloc0(sizeof(bool) * s->narms);
	foreach(lc, s->work->arms)
	{
		s->arms[n] = lfirst(lc);
		s->states[n] = s->transport->open_arm(s->arms[n]);
		n++;
	}
	s->written = NIL;
	s->made = NIL;
	s->vacuumed = NIL;
	s->sequences_advanced = false;
	/* in the caller's transaction a point's fixture is rolled back with this */
	if (!s->options.own_transactions)
	{
		BeginInternalSubTransaction(NULL);
		MemoryContextSwitchTo(s->point_cxt);
	}
	rtb_fixture_create(&s->fixture, s->transport, s->work);
	MemoryContextSwitchTo(old);
}

/*
 * rtb_session_leave
 *		End of a point: its fixture is gone when this returns.
 */
void
rtb_session_leave(RtbSession *s)
{
	MemoryContext old = CurrentMemoryContext;

	for (int i = 0; i < s->narms; i++)
		s->transport->close_arm(s->states[i]);
	rtb_fixture_drop(&s->fixture, s->transport);
	if (!s->options.own_transactions)
	{
		RollbackAndReleaseCurrentSubTransaction();
		/* what called is owned by a portal, not by the transaction itself */
		CurrentResourceOwner = s->owner;
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(s->point_cxt);
	s->work = NULL;
	s->narms = 0;
}

/*
 * rtb_session_unwind
 *		After an error in the caller's transaction: roll back to where the
 *		session began, and free the plans that would outlive the transaction.
 *
 * The subtransactions of a point and of a pass are nobody else's to end: left
 * open they would be taken for the caller's own.
 */
void
rtb_session_unwind(RtbSession *s)
{
	MemoryContext old = CurrentMemoryContext;

	while (GetCurrentTransactionNestLevel() > s->nest_level)
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(old);
	CurrentResourceOwner = s->owner;
	for (int i = 0; i < s->narms; i++)
	{
		if (s->states[i] != NULL)
			s->transport->close_arm(s->states[i]);
		s->states[i] = NULL;
	}
}

/*
 * rtb_session_close
 *		End of the session: everything of it is freed.
 */
void
rtb_session_close(RtbSession *s)
{
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
	finding.has_point = s->work->has_point;
	finding.point = s->work->point;
	finding.arm = arm;
	finding.detail = buf.data;
	s->sink.finding(s->sink.arg, &finding);
	pfree(buf.data);
}

/* ---- around a pass ---- */

/* the same state before every pass: no dead rows, sequences set back */
static void
bring_back_start(RtbSession *s)
{
	if (s->vacuumed != NIL)
		rtb_fixture_vacuum(s->vacuumed);
	if (s->sequences_advanced)
		rtb_fixture_reset_sequences(&s->fixture);
}

/* prepared statements are not undone by a rollback: drop those that are new */
static void
drop_prepared(List *before)
{
	List	   *now = rtb_prepared_statements();
	ListCell   *lc;

	foreach(lc, list_difference(now, before))
		DropPreparedStatement(strVal(lfirst(lc)), false);
}

/* what a rollback leaves: session locks, prepared statements, currval() */
static void
release_survivors(RtbSession *s, const RtbPassRequest *rq, List *locks_before,
				  List *prepared_before)
{
	if (rq->locked != NULL || locks_before != NIL || (s->leaky && !s->options.own_transactions))
	{
		int			released = rtb_advisory_locks_release(locks_before);

		if (rq->locked != NULL)
			s->leaked_locks = released;
		s->leaky |= released > 0;
		/* an arm may also have given back what the caller's session had */
		if (!s->options.own_transactions && !rtb_advisory_locks_regain(locks_before))
			ereport(WARNING,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("arm \"%s\" released an advisory lock of this session, which another one has taken since",
							s->arms[rq->arm]->name)));
	}
	if (s->options.own_transactions)
	{
		LockReleaseAll(USER_LOCKMETHOD, true);
		DropAllPreparedStatements();
		ResetSequenceCaches();
	}
	else
		drop_prepared(prepared_before);
}

static void
init_pass(RtbSession *s, const RtbPassRequest *rq, RtbPass *pass)
{
	memset(pass, 0, sizeof(RtbPass));
	pass->kind = rq->kind;
	pass->session = rq->session;
	pass->round = rq->round;
	pass->position = rq->position;
	pass->has_point = s->work->has_point;
	pass->point = s->work->point;
	pass->arm = rq->arm;
	pass->elapsed_ns = RTB_UNKNOWN;
	pass->cpu_ns = RTB_UNKNOWN;
	pass->round_trips = RTB_UNKNOWN;
	pass->statements = RTB_UNKNOWN;
	pass->fired = RTB_UNKNOWN;
	pass->loop_queries = RTB_UNKNOWN;
	pass->rows = RTB_UNKNOWN;
	pass->plannings = RTB_UNKNOWN;
	pass->buffers_hit = RTB_UNKNOWN;
	pass->buffers_read = RTB_UNKNOWN;
	pass->wal_records = RTB_UNKNOWN;
	pass->wal_fpi = RTB_UNKNOWN;
	pass->wal_bytes = RTB_UNKNOWN;
	pass->xids = RTB_UNKNOWN;
}

static bool
is_timed(RtbPassKind kind)
{
	return kind == RTB_PASS_TIMED || kind == RTB_PASS_LAST;
}

/* counts of the first repetition: the others' are the same work again */
static void
take_counts(RtbPass *pass, const RtbCounts *counts, const RtbProbe *probe, const RtbArmRun *run,
			MemoryContext cxt)
{
	MemoryContext old = MemoryContextSwitchTo(cxt);

	/* what is one transaction to the server is one to a client: BEGIN and COMMIT */
	pass->round_trips = run->round_trips > 1 ? run->round_trips + 2 : run->round_trips;
	pass->statements = counts->statements;
	pass->fired = counts->fired;
	pass->loop_queries = counts->loop_queries;
	pass->rows = counts->rows;
	pass->plannings = counts->plannings;
	pass->xids = counts->xids;
	pass->buffers_hit = probe->buffers.shared_blks_hit + probe->buffers.local_blks_hit;
	pass->buffers_read = probe->buffers.shared_blks_read + probe->buffers.local_blks_read;
	pass->wal_records = probe->wal.wal_records;
	pass->wal_fpi = probe->wal.wal_fpi;
	pass->wal_bytes = (int64) probe->wal.wal_bytes;
	pass->plan_shape = rtb_hooks_shapes(false);
	pass->fired_shape = rtb_hooks_shapes(true);
	MemoryContextSwitchTo(old);
}

/* settings of a pass that its rollback undoes */
static void
set_up_transaction(RtbSession *s, const RtbArm *arm)
{
	ListCell   *lc;

	if (s->fixture.path != NULL)
		rtb_set_local("search_path", s->fixture.path);
	/* a flood of NOTICEs would be timed as the arm's work */
	rtb_set_local("client_min_messages", "error");
	foreach(lc, arm->before)
	{
		s->transport->sql(lfirst(lc));
		CommandCounterIncrement();
	}
}

static void
run_arm(RtbSession *s, const RtbPassRequest *rq, RtbArmRun *run, RtbProbe *probe,
		RtbCounts *counts)
{
	if (s->options.pass_timeout_ms > 0)
		enable_timeout_after(pass_timeout_id, (int) Min(s->options.pass_timeout_ms, INT_MAX));
	rtb_hooks_begin();
	rtb_probe_start(probe);
	s->transport->run(s->states[rq->arm], run);
	s->transport->settle();
	rtb_probe_stop(probe);
	rtb_hooks_end(counts);
	if (s->options.pass_timeout_ms > 0)
		disable_timeout(pass_timeout_id, false);
}

/*
 * Is the error the arm's own, or does somebody want the run to end?
 *
 * A worker arms statement_timeout for each message of an arm only, so that it
 * is the arm's own limit; in the caller's backend it is the limit of the
 * statement that started the run.
 */
static bool
ends_the_run(const RtbSession *s, const ErrorData *edata, PassStage stage)
{
	if (stage == STAGE_CHECK)
		return true;
	if (edata->sqlerrcode != ERRCODE_QUERY_CANCELED || pass_timed_out)
		return false;
	return !(s->options.own_transactions && edata->message != NULL &&
			 strcmp(edata->message, _("canceling statement due to statement timeout")) == 0);
}

static void
note_failure(RtbSession *s, RtbPass *pass, const ErrorData *edata, PassStage stage,
			 const RtbArmRun *run)
{
	MemoryContext old = MemoryContextSwitchTo(s->point_cxt);

	pass->sqlstate = pstrdup(unpack_sql_state(edata->sqlerrcode));
	if (pass_timed_out)
		pass->message = psprintf("pass took longer than pass_timeout (" INT64_FORMAT " ms)",
								 s->options.pass_timeout_ms);
	else
		pass->message = pstrdup(edata->message ? edata->message : "unknown error");
	pass->failed_step = stage == STAGE_ARM ? run->step : 0;
	pass->failed_statement = stage == STAGE_ARM ? run->statement_no : 0;
	s->failed[pass->arm] = true;
	MemoryContextSwitchTo(old);
}

/*
 * One repetition: from the starting state to the rollback.  False if the arm
 * failed, which pass then tells.  Errors that end the run are thrown.
 */
static bool
repeat_once(RtbSession *s, const RtbPassRequest *rq, RtbPass *pass, RtbProbe *probe, bool first)
{
	MemoryContext old = CurrentMemoryContext;
	volatile PassStage stage = STAGE_START;
	volatile bool ok = true;
	RtbArmRun	run = {0};
	RtbCounts	counts = {0};
	List	   *locks = rq->locked || s->leaky || !s->options.own_transactions ? rtb_advisory_locks() : NIL;
	List	   *prepared = s->options.own_transactions ? NIL : rtb_prepared_statements();

	pass_timed_out = false;
	run.dest = rq->check && s->check_returned && !is_timed(rq->kind)
		? rtb_check_returned_receiver(rq->check, rq->with_row_hashes) : None_Receiver;
	run.timers = rq->timers;
	s->transport->begin();
	s->pass_subid = GetCurrentSubTransactionId();
	PG_TRY();
	{
		stage = STAGE_BEFORE;
		set_up_transaction(s, s->arms[rq->arm]);
		stage = STAGE_ARM;
		run_arm(s, rq, &run, probe, &counts);
		stage = STAGE_CHECK;
		if (first)
			take_counts(pass, &counts, probe, &run, s->point_cxt);
		if (rq->counts)
			*rq->counts = counts;
		if (rq->locked)
		{
			MemoryContextSwitchTo(s->point_cxt);
			*rq->locked = rtb_written_locked();
			rtb_check_discover(s, *rq->locked);
		}
		if (rq->check)
		{
			rtb_check_take(s, rq->check, rq->with_row_hashes);
			rtb_check_finish(rq->check);
		}
		s->transport->rollback();
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		MemoryContextSwitchTo(old);
		edata = CopyErrorData();
		rtb_hooks_abandon();
		disable_timeout(pass_timeout_id, false);
		if (ends_the_run(s, edata, stage))
			PG_RE_THROW();
		FlushErrorState();
		s->transport->after_error();
		MemoryContextSwitchTo(old);
		note_failure(s, pass, edata, stage, &run);
		FreeErrorData(edata);
		ok = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old);
	if (run.dest != None_Receiver)
		run.dest->rDestroy(run.dest);
	s->transport->release_arm(s->states[rq->arm]);
	release_survivors(s, rq, locks, prepared);
	return ok;
}

/*
 * rtb_session_pass
 *		Run one pass; the result lies in the point's context.
 *
 * A timed pass below the clock's resolution repeats the arm, each time from
 * the starting state, with the clock standing still in between.
 */
RtbPass *
rtb_session_pass(RtbSession *s, RtbPassRequest *rq)
{
	RtbPass    *pass = MemoryContextAlloc(s->point_cxt, sizeof(RtbPass));
	RtbProbe	probe;
	RtbCounts	counts;
	int64		shortest = 0;
	int64		began = rtb_clock_ns();
	int64		n = 0;

	if (is_timed(rq->kind))
		shortest = Max(RTB_SHORTEST_PASS_NS, RTB_SHORTEST_PASS_STEPS * rtb_clock_step_ns());
	if (rq->counts == NULL)
		rq->counts = &counts;
	init_pass(s, rq, pass);
	rtb_probe_reset(&probe);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		bring_back_start(s);
		if (!repeat_once(s, rq, pass, &probe, n == 0))
			return pass;
		n++;
		if (probe.elapsed_ns >= shortest)
			break;
		/* a pass that is digested is digested once: the last repetition's rest is untimed */
		if (n >= RTB_MOST_REPETITIONS || rtb_clock_ns() - began > RTB_LONGEST_REPEATING_NS)
		{
			pass->below_resolution = true;
			break;
		}
		rq->check = NULL;
	}
	pass->repetitions = n;
	pass->elapsed_ns = probe.elapsed_ns / n;
	pass->cpu_ns = rq->counts->parallel ? RTB_UNKNOWN : probe.cpu_ns / n;
	return pass;
}

/*
 * rtb_session_round
 *		One round: the given arms in the given order.  An arm that failed
 *		before, or fails now, is left out from then on.
 */
void
rtb_session_round(RtbSession *s, int session, int round, int norder, const int *order, bool last)
{
	for (int i = 0; i < norder; i++)
	{
		RtbPassRequest rq = {0};
		RtbPass    *pass;
		RtbCheck   *check = NULL;

		if (s->failed[order[i]])
			continue;
		rq.kind = last ? RTB_PASS_LAST : RTB_PASS_TIMED;
		rq.arm = order[i];
		rq.session = session;
		rq.round = round;
		rq.position = i + 1;
		/* digesting returned rows would be timed: the pilot's last passes do it */
		if (last && s->check_mode != RTB_CHECK_RETURNED)
			check = rtb_check_create(s->point_cxt);
		rq.check = check;
		pass = rtb_session_pass(s, &rq);
		if (check != NULL && pass->sqlstate == NULL)
			pass->digest = check->text;
		rtb_session_emit(s, pass);
	}
}
