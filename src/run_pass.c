/*
 * run_pass.c
 *	  One pass: from the starting state to the rollback and what survives it.
 *
 * A pass is one transaction (or subtransaction) that is always rolled back.
 * Around the arm's statements stand, outside the clock: bringing back the
 * starting state, the arm's `before` statements, the digest, the rollback,
 * and the release of what a rollback leaves (session locks, prepared
 * statements, sequence values).
 *
 * Memory: a pass's results lie in the point's context, everything else in
 * pass_cxt, which is reset before each repetition.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timeout.h"

#include "advice.h"
#include "check.h"
#include "cleaning.h"
#include "commits.h"
#include "observer.h"
#include "own_sql.h"
#include "pass_settings.h"
#include "probe.h"
#include "rebuild.h"
#include "sequences.h"
#include "session.h"
#include "survivors.h"
#include "worker.h"
#include "written.h"

/* a pass is repeated until it lasts this long, or this many clock steps */
#define RTB_SHORTEST_PASS_NS	INT64CONST(1000000)
#define RTB_SHORTEST_PASS_STEPS 1000
/* but never more often than this, nor beyond this time */
#define RTB_MOST_REPETITIONS	2000
#define RTB_LONGEST_REPEATING_NS INT64CONST(3000000000)

/* where an error struck: a failing check ends the run, a failing arm does not */
typedef enum PassStage
{
	STAGE_START,
	STAGE_BEFORE,
	STAGE_ARM,
	STAGE_CHECK
} PassStage;

/* what is known of one repetition */
typedef struct Repetition
{
	bool		committing;		/* the arm's own transactions are committed */
	bool		given_xid;		/* by what stands before the arm */
	bool		wrote_before;	/* what stands before an arm that commits is committed, too */
	RtbArmRun	run;
	RtbObserver seen;
	RtbCommitWatch watch;
	RtbCommitWatch guard;		/* of what stands before the arm */
	RtbSequencePosition *positions;
} Repetition;

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

/* ---- around a pass ---- */

static bool
commits(const RtbArm *arm)
{
	return arm->ending != RTB_ENDING_ROLLBACK;
}

/* the same state before every pass: no dead rows, sequences set back */
static void
bring_back_start(RtbSession *s)
{
	if (s->at->dirty)
		rtb_rebuild_if_dirty(s);
	else if (s->at->vacuumed != NIL && !s->at->commits)
		rtb_fixture_vacuum(s->transport, s->at->vacuumed, false);
	if (s->at->sequences_advanced)
		rtb_fixture_reset_sequences(&s->at->fixture, s->transport);
}

static void
init_pass(RtbSession *s, const RtbPassRequest *rq, RtbPass *pass)
{
	memset(pass, 0, sizeof(RtbPass));
	pass->kind = rq->kind;
	pass->session = rq->session;
	pass->round = rq->round;
	pass->position = rq->position;
	pass->control = rq->control;
	pass->has_point = s->at->work->has_point;
	pass->point = s->at->work->point;
	pass->arm = rq->arm;
	pass->elapsed_ns = RTB_UNKNOWN;
	pass->cpu_ns = RTB_UNKNOWN;
	pass->round_trips = RTB_UNKNOWN;
	pass->bytes_sent = RTB_UNKNOWN;
	pass->bytes_received = RTB_UNKNOWN;
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
	pass->transactions = RTB_UNKNOWN;
	pass->commit_ns = RTB_UNKNOWN;
	pass->subxact_overflowed = RTB_UNKNOWN;
	pass->updates = RTB_UNKNOWN;
	pass->hot_updates = RTB_UNKNOWN;
	pass->core = RTB_UNKNOWN;
	pass->far_core = RTB_UNKNOWN;
	pass->catalog_reads = RTB_UNKNOWN;
}

static bool
is_timed(RtbPassKind kind)
{
	return kind == RTB_PASS_TIMED || kind == RTB_PASS_LAST;
}

/* pass_timeout holds for the arm's `before` statements and the arm */
static void
begin_limit(const RtbSession *s)
{
	if (s->options.pass_timeout_ms > 0)
		enable_timeout_after(pass_timeout_id, (int) Min(s->options.pass_timeout_ms, INT_MAX));
}

static void
end_limit(const RtbSession *s)
{
	if (s->options.pass_timeout_ms > 0)
		disable_timeout(pass_timeout_id, false);
	/* it may have run out just now: the arm has failed, what comes next has not */
	if (pass_timed_out)
		CHECK_FOR_INTERRUPTS();
}

/* what is to be known of a discovery pass's plans before they run */
static void
plan_starts(const PlannedStmt *stmt)
{
	rtb_cleaning_starts(stmt);
	rtb_advice_starts(stmt);
}

static void
run_arm(RtbSession *s, const RtbPassRequest *rq, Repetition *r, RtbProbe *probe)
{
	RtbObserver *seen = &r->seen;

	if (rq->locked != NULL)
	{
		rtb_cleaning_watch(s);
		rtb_advice_begin();
		seen->starts = plan_starts;
		seen->watch = &r->watch;
	}
	/* what an arm did not do in its first pass it may do in another session */
	else if (rq->kind == RTB_PASS_WARMUP || rq->kind == RTB_PASS_CLOSING)
		seen->watch = &r->guard;
	s->transport->observe_begin(seen);
	rtb_probe_start(probe);
	s->transport->run(s->at->states[rq->arm], &r->run);
	if (!r->committing)
		s->transport->settle();
	rtb_probe_stop(probe);
	s->transport->observe_end(seen);
	end_limit(s);
	/* what looks at the outcome needs a transaction */
	if (r->committing)
		s->transport->begin(NULL);
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
	if (stage == STAGE_CHECK || rtb_commits_is_refusal(edata) || rtb_is_blocked_error(edata))
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
	MemoryContext old = MemoryContextSwitchTo(s->at->cxt);

	pass->sqlstate = pstrdup(unpack_sql_state(edata->sqlerrcode));
	if (pass_timed_out)
	{
		pass->message = psprintf("pass took longer than pass_timeout (" INT64_FORMAT " ms)",
								 s->options.pass_timeout_ms);
		pass->hint = pstrdup("Unless it is given, pass_timeout is what is left of max_time: raise one of them, or name fewer points or arms.");
	}
	else
	{
		pass->message = pstrdup(edata->message ? edata->message : "unknown error");
		pass->hint = edata->hint ? pstrdup(edata->hint) : NULL;
	}
	pass->failed_step = stage == STAGE_ARM ? run->step : 0;
	pass->failed_statement = stage == STAGE_ARM ? run->statement_no : 0;
	s->at->failed[pass->arm] = true;
	MemoryContextSwitchTo(old);
}

/* what is read before the arm runs */
static void
before_arm(RtbSession *s, const RtbPassRequest *rq, Repetition *r)
{
	/* where the transaction's end does not take it */
	MemoryContext old = MemoryContextSwitchTo(s->pass_cxt);

	if (rq->moves)
		r->positions = rtb_sequences_read(s->at->written);
	MemoryContextSwitchTo(old);
	s->transport->observe_before(&r->seen);
}

/* what the arm wrote, in its transaction or, if it has committed, after it */
static void
take_written(RtbSession *s, const RtbPassRequest *rq, Repetition *r)
{
	MemoryContextSwitchTo(s->at->cxt);
	if (r->committing)
	{
		*rq->locked = r->watch.locked;
		*rq->modes = r->watch.modes;
		rtb_check_discover(s, rtb_rebuild_made(s));
		return;
	}
	s->transport->locked(rq->locked, rq->modes);
	rtb_check_discover(s, s->transport->made(*rq->locked, s->pass_subid));
}

/* counts, findings and digests, with the clock standing still */
static void
after_arm(RtbSession *s, const RtbPassRequest *rq, RtbPass *pass, Repetition *r,
		  const RtbProbe *probe, bool first)
{
	RtbObserver *seen = &r->seen;
	MemoryContext old;

	/* an arm that writes uses it, as it would use one of its own */
	seen->counts.xids += r->given_xid;
	s->transport->observe_after(seen);
	/* the other repetitions are the same work again */
	if (first)
	{
		old = MemoryContextSwitchTo(s->at->cxt);
		pass->round_trips = r->run.round_trips;
		s->transport->observe_counts(seen, probe, pass);
		MemoryContextSwitchTo(old);
	}
	if (rq->counts)
		*rq->counts = seen->counts;
	if (rq->wrote)
		*rq->wrote = seen->wrote;
	if (rq->locked)
		take_written(s, rq, r);
	if (rq->check)
	{
		int64		started = rtb_clock_ns();

		rtb_check_take(s, rq->check, rq->with_row_hashes, r->committing);
		rtb_check_finish(rq->check);
		/* the cheapest one: any may have been disturbed */
		started = rtb_clock_ns() - started;
		s->at->check_ns = s->at->check_ns == 0 ? started : Min(s->at->check_ns, started);
	}
	if (rq->moves)
		rtb_sequences_moves(list_length(s->at->written), r->positions,
							rtb_sequences_read(s->at->written), rq->moves);
	s->transport->rollback();
	if (s->at->commits && seen->counts.xids == 0 && !r->wrote_before)
		s->at->dirty = false;
}

static void
begin_repetition(RtbSession *s, const RtbPassRequest *rq, Repetition *r)
{
	const RtbArm *arm = s->at->arms[rq->arm];

	memset(r, 0, sizeof(Repetition));
	r->committing = commits(arm);
	r->seen.discovery = rq->kind == RTB_PASS_DISCOVERY;
	r->seen.committing = r->committing;
	r->seen.timed = r->run.timed = is_timed(rq->kind);
	r->seen.run = &r->run;
	r->seen.written = s->at->written;
	r->watch.scratch = s->at->fixture.schema;
	r->watch.cxt = s->at->cxt;
	r->guard.scratch = s->at->fixture.schema;
	r->guard.cxt = s->pass_cxt;
	rtb_survivors_note(s, rq);
	pass_timed_out = false;
	if (s->options.wire != NULL && s->options.wire->simulated)
		rtb_wire_distance(s->at->work->point, true);
	if (rq->check && s->at->check_returned && !is_timed(rq->kind))
	{
		r->run.check = rq->check;
		r->run.with_row_hashes = rq->with_row_hashes;
		if (!s->transport->far)
			r->run.dest = rtb_check_returned_receiver(rq->check, rq->with_row_hashes);
	}
	r->run.timers = rq->timers;
	/* until it is known that it has written nothing */
	s->at->dirty = s->at->commits;
	s->transport->begin(r->committing ? NULL : arm);
	s->pass_subid = GetCurrentSubTransactionId();
}

/*
 * One repetition: from the starting state to the rollback.  False if the arm
 * failed, which pass then tells.  Errors that end the run are thrown.
 */
static bool
repeat_once(RtbSession *s, const RtbPassRequest *rq, RtbPass *pass, RtbProbe *probe, bool first)
{
	MemoryContext old = CurrentMemoryContext;
	const RtbArm *arm = s->at->arms[rq->arm];
	volatile PassStage stage = STAGE_START;
	volatile bool ok = true;
	Repetition *r = palloc(sizeof(Repetition));

	if (s->transport->far)
		rtb_wire_hush(true);
	begin_repetition(s, rq, r);
	PG_TRY();
	{
		stage = STAGE_BEFORE;
		begin_limit(s);
		if (r->committing && arm->before != NIL)
			s->transport->guard_begin(&r->guard);
		r->given_xid = rtb_pass_set_up(s, arm, r->committing);
		stage = STAGE_CHECK;
		before_arm(s, rq, r);
		if (r->committing)
		{
			r->wrote_before = s->transport->far ? arm->before != NIL
				: TransactionIdIsValid(GetTopTransactionIdIfAny());
			s->transport->commit();
			if (arm->before != NIL)
				s->transport->guard_end();
			s->transport->begin(arm);
		}
		stage = STAGE_ARM;
		run_arm(s, rq, r, probe);
		stage = STAGE_CHECK;
		after_arm(s, rq, pass, r, probe, first);
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		MemoryContextSwitchTo(old);
		edata = CopyErrorData();
		rtb_observe_abandon();
		disable_timeout(pass_timeout_id, false);
		if (ends_the_run(s, edata, stage))
			PG_RE_THROW();
		FlushErrorState();
		s->transport->after_error();
		MemoryContextSwitchTo(old);
		note_failure(s, pass, edata, stage, &r->run);
		FreeErrorData(edata);
		ok = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old);
	if (r->run.dest != NULL)
		r->run.dest->rDestroy(r->run.dest);
	s->transport->release_arm(s->at->states[rq->arm]);
	rtb_survivors_release(s, rq);
	if (s->transport->far)
		rtb_wire_hush(false);
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
	RtbPass    *pass = MemoryContextAlloc(s->at->cxt, sizeof(RtbPass));
	RtbProbe	probe;
	RtbCounts	counts;
	int64		shortest = 0;
	int64		began = rtb_clock_ns();
	int64		n = 0;
	MemoryContext old;

	if (!pass_timeout_registered)
		pass_timeout_id = RegisterTimeout(USER_TIMEOUT, pass_timeout_handler);
	pass_timeout_registered = true;
	if (is_timed(rq->kind))
		shortest = Max(RTB_SHORTEST_PASS_NS, RTB_SHORTEST_PASS_STEPS * rtb_clock_step_ns());
	if (rq->counts == NULL)
		rq->counts = &counts;
	init_pass(s, rq, pass);
	rtb_probe_reset(&probe);
	for (;;)
	{
		bool		ok;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(s->pass_cxt);
		old = MemoryContextSwitchTo(s->pass_cxt);
		bring_back_start(s);
		ok = repeat_once(s, rq, pass, &probe, n == 0);
		MemoryContextSwitchTo(old);
		if (!ok)
			return pass;
		n++;
		if (probe.elapsed_ns >= shortest)
			break;
		/* reading the rows is no part of repeating */
		if (rq->check != NULL)
			began = rtb_clock_ns();
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
	/* of a connection it would be the client's */
	pass->cpu_ns = rq->counts->parallel || s->transport->far ? RTB_UNKNOWN : probe.cpu_ns / n;
	return pass;
}

