/*
 * load_session.c
 *	  One session of a load, in its worker: transaction after transaction.
 *
 * A transaction of a load is one pass of the group's arm, committed.  Plans
 * are kept for the session, as a client that prepares its statements keeps
 * them.  An error rolls the transaction back, is counted, and the session goes
 * on; conflicts with other sessions may be tried again.
 *
 * Between two transactions the session looks at what all are to do now
 * (load_shared.h).  What it counts lies in shared memory, where the conductor
 * reads it once the session has gone on to the next command.
 *
 * Memory: the session lives in TopMemoryContext; tx_cxt is reset after every
 * transaction.
 */
#include "postgres.h"

#include "load_shared.h"

#include <math.h>

#include "access/xact.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/dsm.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "commits.h"
#include "fixture.h"
#include "message_text.h"
#include "probe.h"
#include "scratch.h"
#include "transport.h"
#include "worker.h"

/* so many transactions of a session are looked at before they may commit, then one a second */
#define WATCHED_FIRST		10
#define WATCH_INTERVAL_NS	INT64CONST(1000000000)
/* a group that fails so many times in a row without ever succeeding has an error, not errors */
#define FAILURES_AT_ONCE	10
/* shorter than this is not left to the latch's milliseconds */
#define SHORT_WAIT_NS		INT64CONST(1000000)

typedef struct LoadVariant
{
	RtbArm	   *arm;
	void	   *state;
	int			failures;		/* in a row, while it has never succeeded */
	int			watched;
} LoadVariant;

typedef struct LoadSession
{
	RtbLoadShared *shared;
	RtbLoadSeat *seat;
	const RtbTransport *transport;
	MemoryContext tx_cxt;
	char	   *scratch;
	int			nvariants;
	LoadVariant *variants;
	int			variant;		/* in force, -1 before the first */
	uint32		command;
	bool		counted;
	int64		opened_ns;		/* when the session began to be counted */
	int64		due_ns;			/* when the next transaction is to begin, with a rate */
	int64		watched_ns;		/* when a transaction was looked at last */
	RtbCommitWatch watch;
} LoadSession;

static LoadSession *me = NULL;
static int64 sub_xids = 0;		/* of subtransactions */

static void
count_subtransaction(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if ((event == SUBXACT_EVENT_COMMIT_SUB || event == SUBXACT_EVENT_ABORT_SUB) &&
		TransactionIdIsValid(GetCurrentTransactionIdIfAny()))
		sub_xids++;
}

/* ---- taking a seat ---- */

/* statements stay prepared from one transaction to the next */
static void
keep_plans(List *steps)
{
	ListCell   *lc;

	foreach(lc, steps)
	{
		RtbStep    *step = lfirst(lc);

		step->plans_kept = true;
		keep_plans(step->body);
	}
}

static void
open_variant(LoadVariant *variant, const char *document)
{
	RtbWork    *work = rtb_work_parse(document);

	variant->arm = linitial(work->arms);
	/* every transaction of a load is committed */
	if (variant->arm->ending == RTB_ENDING_ROLLBACK)
		variant->arm->ending = RTB_ENDING_COMMIT;
	keep_plans(variant->arm->steps);
	variant->state = me->transport->open_arm(variant->arm);
}

static RtbLoadShared *
attach_shared(dsm_handle handle)
{
	dsm_segment *segment = dsm_attach(handle);
	RtbLoadShared *shared;

	if (segment == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not map dynamic shared memory segment")));
	dsm_pin_mapping(segment);
	shared = dsm_segment_address(segment);
	if (shared->magic != RTB_LOAD_MAGIC)
		elog(ERROR, "invalid magic number in dynamic shared memory segment");
	return shared;
}

static void
take_seat(StringInfo body)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	dsm_handle	handle = pq_getmsgint(body, 4);
	int			seat = pq_getmsgint(body, 4);
	char	   *path = rtb_get_text(body);

	me = palloc0(sizeof(LoadSession));
	me->transport = &rtb_spi_worker_transport;
	me->shared = attach_shared(handle);
	me->seat = &me->shared->seats[seat];
	me->scratch = rtb_get_text(body);
	me->watch.scratch = me->scratch;
	me->watch.cxt = AllocSetContextCreate(TopMemoryContext, "rtbench load locks", ALLOCSET_SMALL_SIZES);
	me->tx_cxt = AllocSetContextCreate(TopMemoryContext, "rtbench load transaction",
									   ALLOCSET_DEFAULT_SIZES);
	me->variant = -1;
	me->nvariants = pq_getmsgint(body, 4);
	me->variants = palloc0(sizeof(LoadVariant) * me->nvariants);
	for (int i = 0; i < me->nvariants; i++)
		open_variant(&me->variants[i], pq_getmsgrawstring(body));

	StartTransactionCommand();
	if (path != NULL)
		SetConfigOption("search_path", path, PGC_USERSET, PGC_S_SESSION);
	SetConfigOption("client_min_messages", "error", PGC_USERSET, PGC_S_SESSION);
	CommitTransactionCommand();
	RegisterSubXactCallback(count_subtransaction, NULL);
	MemoryContextSwitchTo(old);
}

/* ---- counting ---- */

/* what was seen of transactions since this was called last */
static void
take_commits(void)
{
	RtbCommits	commits;

	rtb_commits_end(&commits);
	if (me->counted)
	{
		me->seat->tally.xids += commits.xids + sub_xids;
		me->seat->tally.overflowed |= commits.overflowed;
	}
	sub_xids = 0;
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
	rtb_commits_begin(&me->watch);
	me->transport->begin(NULL);
	foreach(lc, arm->before)
	{
		me->transport->sql(lfirst(lc));
		CommandCounterIncrement();
	}
	me->transport->commit();
	rtb_commits_abandon();
}

/* go on to another command: what was counted by the last one is complete */
static void
obey(uint32 command)
{
	/* groups that are not compared have one variant */
	int			variant = Min(RTB_COMMAND_VARIANT(command), me->nvariants - 1);
	int64		now = rtb_clock_ns();

	take_commits();
	if (me->counted)
		me->seat->tally.elapsed_ns = now - me->opened_ns;
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
	rtb_commits_begin(NULL);
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
ends_load(LoadVariant *variant, const ErrorData *edata)
{
	if (rtb_worker_cancelled() || rtb_commits_refused())
		return true;
	if (ERRCODE_TO_CATEGORY(edata->sqlerrcode) == ERRCODE_TRANSACTION_ROLLBACK ||
		pg_atomic_read_u32(&me->shared->succeeded[me->seat->group][me->variant]) != 0)
		return false;
	return ++variant->failures >= FAILURES_AT_ONCE;
}

/* try a transaction once; its error, or NULL */
static ErrorData *
try_transaction(LoadVariant *variant)
{
	ErrorData  *volatile edata = NULL;
	RtbArmRun	run = {0};

	PG_TRY();
	{
		me->transport->begin(variant->arm);
		me->transport->run(variant->state, &run);
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
	me->transport->release_arm(variant->state);
	return edata;
}

/* a commit of what is not the load's own is refused; told by a look at the locks now and then */
static bool
watch_this(LoadVariant *variant, int64 now)
{
	if (variant->watched < WATCHED_FIRST)
		variant->watched++;
	else if (now - me->watched_ns < WATCH_INTERVAL_NS)
		return false;
	me->watched_ns = now;
	return true;
}

static void
rethrow(ErrorData *edata)
{
	if (rtb_commits_refused())
		edata->hint = pstrdup("Every transaction of a load is committed: let the setup create a table of that name.");
	rtb_commits_abandon();
	ReThrowError(edata);
}

/*
 * One transaction, tried again after conflicts if that is asked for, as long
 * as the window lasts: sessions that deadlock for ever must not make it endless.
 * What is given up then counts as an error, so that it is seen.
 */
static void
run_transaction(void)
{
	LoadVariant *variant = &me->variants[me->variant];
	RtbLoadTally *tally = &me->seat->tally;
	int64		started = rtb_clock_ns();
	int64		due = me->seat->rate > 0 ? me->due_ns : started;
	bool		watched = watch_this(variant, started);
	ErrorData  *edata;

	pg_atomic_write_u32(&me->seat->busy, 1);
	if (watched)
	{
		take_commits();
		rtb_commits_begin(&me->watch);
	}
	for (;;)
	{
		edata = try_transaction(variant);
		if (edata == NULL || !me->shared->retry || !is_conflict(edata->sqlerrcode) ||
			rtb_worker_cancelled() || pg_atomic_read_u32(&me->shared->command) != me->command)
			break;
		tally->retries += me->counted;
	}
	if (edata != NULL && ends_load(variant, edata))
		rethrow(edata);
	if (watched)
	{
		take_commits();
		rtb_commits_begin(NULL);
	}
	if (edata != NULL)
		count_error(edata);
	else if (me->counted)
		rtb_histogram_add(&tally->latency, rtb_clock_ns() - due);
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
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 left / 1000000, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		return false;
	}
	pg_usleep(left / 1000);
	return true;
}

/* gaps between arrivals that do not know of one another (as pgbench --rate has them) */
static void
schedule_next(void)
{
	double		u = 1 - pg_prng_double(&pg_global_prng_state);

	me->due_ns += (int64) (-log(u) * 1e9 / me->seat->rate);
}

/* run until told to stop */
static void
go(void)
{
	rtb_worker_activity("rtbench load");
	me->command = 0;
	rtb_commits_begin(NULL);
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
		(void) pgstat_report_stat(false);
	}
	rtb_commits_abandon();
}

/* ---- the fixture's keeper ---- */

static RtbFixture fixture;

static void
build_fixture(StringInfo body)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	RtbWork    *work = rtb_work_parse(pq_getmsgrawstring(body));
	StringInfoData reply;

	rtb_scratch_sweep(&rtb_spi_worker_transport);
	rtb_fixture_create(&fixture, &rtb_spi_worker_transport, work);
	MemoryContextSwitchTo(old);
	initStringInfo(&reply);
	rtb_send_text(&reply, fixture.schema);
	rtb_send_text(&reply, fixture.path);
	rtb_worker_reply(RTB_LOAD_FIXTURE, reply.data, reply.len);
}

static void
serve(char kind, StringInfo body)
{
	switch (kind)
	{
		case RTB_LOAD_FIXTURE:
			build_fixture(body);
			break;
		case RTB_LOAD_DROP:
			rtb_fixture_drop(&fixture, &rtb_spi_worker_transport);
			break;
		case RTB_LOAD_SEAT:
			take_seat(body);
			break;
		case RTB_LOAD_GO:
			go();
			break;
		default:
			elog(ERROR, "unexpected request \"%c\"", kind);
	}
}

/*
 * rtb_load_init
 *		At module load: what a worker does with requests of a load.
 */
void
rtb_load_init(void)
{
	const char	kinds[] = {RTB_LOAD_FIXTURE, RTB_LOAD_DROP, RTB_LOAD_SEAT, RTB_LOAD_GO, '\0'};

	rtb_worker_set_handler(kinds, serve);
}
