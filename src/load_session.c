/*
 * load_session.c
 *	  One session of a load, in its worker: transaction after transaction.
 *
 * A transaction of a load is one pass of the group's arm, committed.  An error
 * rolls the transaction back, is counted, and the session goes on; conflicts
 * with other sessions may be tried again.
 *
 * Between two transactions the session looks at what all are to do now
 * (load_shared.h).  What it counts lies in shared memory, where the conductor
 * reads it once the session has gone on to the next command.
 *
 * Over a connection ids are used up and subtransactions overflow in another
 * process, where only the transactions that are looked at could be counted: so
 * they are not known.  Looking takes round trips of its own, outside the clock.
 *
 * Memory: tx_cxt is reset after every transaction.
 */
#include "postgres.h"

#include "load_private.h"

#include <math.h>

#include "access/xact.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/memutils.h"

#include "probe.h"
#include "worker.h"

/* so many transactions of a session are looked at before they may commit, then one a second */
#define WATCHED_FIRST		10
#define WATCH_INTERVAL_NS	INT64CONST(1000000000)
/* a group that fails so many times in a row without ever succeeding has an error, not errors */
#define FAILURES_AT_ONCE	10
/* shorter than this is not left to the latch's milliseconds */
#define SHORT_WAIT_NS		INT64CONST(1000000)

static RtbLoadSession *me = NULL;
static int64 sub_xids = 0;		/* of subtransactions */

/* ---- counting ---- */

static void
count_subtransaction(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if ((event == SUBXACT_EVENT_COMMIT_SUB || event == SUBXACT_EVENT_ABORT_SUB) &&
		TransactionIdIsValid(GetCurrentTransactionIdIfAny()))
		sub_xids++;
}

/* what was seen of transactions since this was called last */
static void
take_commits(void)
{
	RtbCommits	commits;

	if (me->transport->far)
		return;
	rtb_commits_end(&commits);
	if (me->counted)
	{
		me->seat->tally.xids += commits.xids + sub_xids;
		me->seat->tally.overflowed |= commits.overflowed;
	}
	sub_xids = 0;
}

static void
begin_commits(void)
{
	if (!me->transport->far)
		rtb_commits_begin(NULL);
}

static void
count_error(const ErrorData *edata)
{
	RtbLoadTally *tally = &me->seat->tally;
	const char *sqlstate = unpack_sql_state(edata->sqlerrcode);
	RtbLoadError *error;
	int			i = 0;

	if (!me->counted)
		return;
	while (i < tally->nerrors && strcmp(tally->errors[i].sqlstate, sqlstate) != 0)
		i++;
	i = Min(i, RTB_LOAD_STATES - 1);
	error = &tally->errors[i];
	if (i == tally->nerrors)
	{
		tally->nerrors++;
		/* the last place is for whatever else there is */
		strlcpy(error->sqlstate, i == RTB_LOAD_STATES - 1 ? "other" : sqlstate, sizeof(error->sqlstate));
		strlcpy(error->message, edata->message ? edata->message : "", sizeof(error->message));
	}
	error->n++;
}

/* the statements that stand before an arm, once when it comes into force */
static void
run_before(const RtbArm *arm)
{
	ListCell   *lc;

	if (arm->before == NIL)
		return;
	me->transport->guard_begin(&me->watch);
	me->transport->begin(NULL);
	foreach(lc, arm->before)
	{
		me->transport->sql(lfirst(lc));
		CommandCounterIncrement();
	}
	me->transport->commit();
	me->transport->guard_end();
}

/*
 * Over a connection a transaction of this process goes along with those of the
 * far end, and holds nothing.  One goes along with many: no client has it, and
 * to begin and end it costs half a microsecond.
 */
static void
end_local(void)
{
	if (me->transport->far && IsTransactionState())
		me->transport->commit();
}

/* go on to another command: what was counted by the last one is complete */
static void
obey(uint32 command)
{
	/* groups that are not compared have one variant */
	int			variant = Min(RTB_COMMAND_VARIANT(command), me->nvariants - 1);
	int64		now = rtb_clock_ns();

	end_local();
	take_commits();
	if (me->counted)
		me->seat->tally.elapsed_ns = now - me->opened_ns;
	if (RTB_COMMAND_STOP(command))
	{
		me->seat->delivered = rtb_wire_waited();
		me->seat->notices = me->transport->far ? rtb_connection_notices(rtb_wire) : 0;
	}
	if (variant != me->variant)
	{
		run_before(me->variants[variant].arm);
		me->variant = variant;
	}
	me->counted = RTB_COMMAND_COUNTED(command);
	if (me->counted)
	{
		memset(&me->seat->tally, 0, sizeof(RtbLoadTally));
		/* what was late before is no lag of now */
		me->opened_ns = me->due_ns = rtb_clock_ns();
	}
	else if (me->command == 0)
		me->due_ns = now;
	me->command = command;
	begin_commits();
	pg_write_barrier();
	pg_atomic_write_u32(&me->seat->seen, command);
}

/* ---- transactions ---- */

static bool
is_conflict(int sqlerrcode)
{
	return sqlerrcode == ERRCODE_T_R_SERIALIZATION_FAILURE || sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED;
}

/* an error that is not just one of many ends the load */
static bool
ends_load(RtbLoadWork *variant, const ErrorData *edata)
{
	if (rtb_worker_cancelled() || rtb_commits_is_refusal(edata) || rtb_is_blocked_error(edata) || rtb_wire_lost_statement())
		return true;
	if (ERRCODE_TO_CATEGORY(edata->sqlerrcode) == ERRCODE_TRANSACTION_ROLLBACK ||
		pg_atomic_read_u32(&me->shared->succeeded[me->seat->group][me->variant]) != 0)
		return false;
	return ++variant->failures >= FAILURES_AT_ONCE;
}

/* the transaction itself, and the time at which a client has the last answer */
static void
run_once(RtbLoadWork *variant, RtbArmRun *run)
{
	bool		far = me->transport->far;

	me->transport->begin(variant->arm);
	if (far)
		rtb_wire_apart(true);
	me->transport->run(variant->state, run);
	me->ended_ns = rtb_clock_ns();
	if (far)
		rtb_wire_apart(false);
}

/* try a transaction once; its error, or NULL */
static ErrorData *
try_transaction(RtbLoadWork *variant)
{
	ErrorData  *volatile edata = NULL;
	RtbArmRun	run = {.timed = true};

	PG_TRY();
	{
		run_once(variant, &run);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(me->tx_cxt);
		edata = CopyErrorData();
		rtb_worker_clean_up();
		me->transport->after_error();
		FlushErrorState();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(me->tx_cxt);
	/* a client has to send ROLLBACK, and waits for it */
	if (edata != NULL && run.needs_block && variant->arm->ending == RTB_ENDING_COMMIT)
		rtb_wire_wait();
	me->transport->release_arm(variant->state);
	return edata;
}

/* a commit of what is not the load's own is refused; told by a look at the locks now and then */
static bool
watch_this(RtbLoadWork *variant, int64 now)
{
	if (variant->watched < WATCHED_FIRST)
		variant->watched++;
	else if (now - me->watched_ns < WATCH_INTERVAL_NS)
		return false;
	me->watched_ns = now;
	return true;
}

static void
begin_watch(void)
{
	take_commits();
	me->transport->guard_begin(&me->watch);
}

static void
end_watch(void)
{
	if (me->transport->far)
		me->transport->guard_end();
	else
		take_commits();
	begin_commits();
}

static void
rethrow(ErrorData *edata)
{
	if (rtb_commits_is_refusal(edata))
		edata->hint = pstrdup("Every transaction of a load is committed: let the setup create a table of that name.");
	rtb_commits_abandon();
	ReThrowError(edata);
}

/*
 * Try it, again after conflicts if that is asked for, as long as the window
 * lasts: sessions that deadlock for ever must not make it endless.  What is
 * given up then counts as an error, so that it is seen.
 */
static ErrorData *
try_until_done(RtbLoadWork *variant, bool watched)
{
	for (;;)
	{
		ErrorData  *edata = try_transaction(variant);

		if (edata == NULL || !me->shared->retry || !is_conflict(edata->sqlerrcode) ||
			rtb_worker_cancelled() || pg_atomic_read_u32(&me->shared->command) != me->command)
			return edata;
		me->seat->tally.retries += me->counted;
		/* an error at the far end has ended it */
		if (watched && me->transport->far)
			begin_watch();
	}
}

static void
run_transaction(void)
{
	RtbLoadWork *variant = &me->variants[me->variant];
	RtbLoadTally *tally = &me->seat->tally;
	bool		watched = watch_this(variant, rtb_clock_ns());
	ErrorData  *edata;
	int64		started;
	int64		due;

	pg_atomic_write_u32(&me->seat->busy, 1);
	if (watched)
		begin_watch();
	started = rtb_clock_ns();
	due = me->seat->rate > 0 ? me->due_ns : started;
	edata = try_until_done(variant, watched);
	if (edata != NULL && ends_load(variant, edata))
		rethrow(edata);
	if (watched)
		end_watch();
	if (edata != NULL)
		count_error(edata);
	else if (me->counted)
		rtb_histogram_add(&tally->latency, me->ended_ns - due);
	if (edata == NULL && variant->failures >= 0)
	{
		variant->failures = -1;
		pg_atomic_write_u32(&me->shared->succeeded[me->seat->group][me->variant], 1);
	}
	if (me->counted && me->seat->rate > 0)
	{
		tally->lag_ns += started - due;
		tally->lag_max_ns = Max(tally->lag_max_ns, started - due);
	}
	pg_atomic_write_u32(&me->seat->busy, 0);
	MemoryContextReset(me->tx_cxt);
}

/*
 * Wait until the next transaction is due; false if something else is to be
 * looked at first.
 */
static bool
is_due(void)
{
	int64		left = me->due_ns - rtb_clock_ns();

	if (left <= 0)
		return true;
	if (left > SHORT_WAIT_NS)
	{
		end_local();
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 left / 1000000, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		return false;
	}
	/* a signal may cut it short */
	pg_usleep(left / 1000);
	return me->due_ns <= rtb_clock_ns();
}

/* gaps between arrivals that do not know of one another (as pgbench --rate has them) */
static void
schedule_next(void)
{
	double		u = 1 - pg_prng_double(&pg_global_prng_state);

	me->due_ns += (int64) (-log(u) * 1e9 / me->seat->rate);
}

/*
 * rtb_load_go
 *		Run one transaction after the other until told to stop.
 *
 * Outside any transaction.  Throws what ends the load: a cancel, a group's error
 * that is always the same, the end of the connection.
 */
void
rtb_load_go(RtbLoadSession *session)
{
	me = session;
	if (!me->transport->far)
		RegisterSubXactCallback(count_subtransaction, NULL);
	rtb_worker_activity("rtbench load");
	me->command = 0;
	begin_commits();
	pg_atomic_fetch_add_u32(&me->shared->arrived, 1);
	for (;;)
	{
		uint32		command = pg_atomic_read_u32(&me->shared->command);

		CHECK_FOR_INTERRUPTS();
		if (command != me->command)
		{
			obey(command);
			if (RTB_COMMAND_STOP(command))
				break;
		}
		if (command == 0)
		{
			(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
							 1000, PG_WAIT_EXTENSION);
			ResetLatch(MyLatch);
			continue;
		}
		if (me->seat->rate > 0 && !is_due())
			continue;
		run_transaction();
		if (me->seat->rate > 0)
			schedule_next();
		if (!me->transport->far)
			(void) pgstat_report_stat(false);
	}
	rtb_commits_abandon();
}
