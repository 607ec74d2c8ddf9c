/*
 * worker_pool.c
 *	  Several workers at a time, waited for together.
 *
 * Requests run side by side; the first error of any of them is thrown, and then
 * it is for the caller to stop the pool.  Waits hold no catalog snapshot.
 *
 * Memory: a pool lies in the context that is current at its start; the workers
 * belong to the resource owner that is current then.
 */
#include "postgres.h"

#include "worker_pool.h"

#include <signal.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "worker_wire.h"

#define LOOK_INTERVAL	1000	/* ms between looks at who blocks the workers */
#define CANCEL_TIME		800		/* ms for cancelled requests to end */
#define CANCEL_INTERVAL	100		/* ms between signals to cancel */

typedef struct Member
{
	RtbWorker  *worker;
	RtbExchange exchange;
	char		kind;			/* of the request, which the exchange points to */
} Member;

struct RtbPool
{
	int			n;
	int			failed;			/* whose error is being thrown, -1: nobody's */
	TimestampTz looked;			/* when it was last asked who blocks whom */
	Member		members[FLEXIBLE_ARRAY_MEMBER];
};

/* no slot for one more: what there is, and what is needed */
static void
refuse_start(RtbPool *pool, int wanted, const char *what_for)
{
	int			started = pool->n;

	rtb_pool_stop(pool, 0);
	if (wanted > max_worker_processes)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("not enough background worker slots: %d are needed", wanted),
				 errdetail("%s; max_worker_processes is %d.", what_for, max_worker_processes),
				 errhint("Raise max_worker_processes to more than %d, or ask for fewer sessions.", wanted)));
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("not enough background worker slots: %d are needed and %d were free", wanted, started),
			 errdetail("%s; max_worker_processes is %d.", what_for, max_worker_processes),
			 errhint("Raise max_worker_processes by %d or more, wait until other workers have ended, or ask for fewer sessions.",
					 wanted - started)));
}

/*
 * rtb_pool_start
 *		Start n workers that are connected as the current user, and wait until
 *		all of them are ready.
 *
 * what_for says what they are needed for, for the error (53400) if not all can
 * be had; then none is left.  Throws too what keeps a worker from connecting.
 */
RtbPool *
rtb_pool_start(int n, const char *what_for)
{
	RtbPool    *pool = palloc0(offsetof(RtbPool, members) + sizeof(Member) * n);
	MemoryContext cxt = CurrentMemoryContext;

	pool->failed = -1;
	if (n > max_worker_processes)
		refuse_start(pool, n, what_for);
	PG_TRY();
	{
		while (pool->n < n)
		{
			pool->members[pool->n].worker = rtb_worker_launch();
			pool->n++;
		}
		rtb_pool_wait_all(pool);
	}
	PG_CATCH();
	{
		if (geterrcode() == ERRCODE_CONFIGURATION_LIMIT_EXCEEDED)
		{
			MemoryContextSwitchTo(cxt);
			FlushErrorState();
			refuse_start(pool, n, what_for);
		}
		rtb_pool_stop(pool, 0);
		PG_RE_THROW();
	}
	PG_END_TRY();
	return pool;
}

/*
 * rtb_pool_pid
 *		Process id of a worker, 0 before it has started.
 */
int
rtb_pool_pid(const RtbPool *pool, int i)
{
	return pool->members[i].worker->pid;
}

/*
 * rtb_pool_send
 *		Begin a request to a worker that is ready.  data must live until the
 *		request has ended; sink (or NULL) is called while steps are made.
 */
void
rtb_pool_send(RtbPool *pool, int i, char kind, const char *data, Size size,
			  RtbWorkerSink sink, void *arg)
{
	Member	   *member = &pool->members[i];

	if (member->worker->state != RTB_WORKER_READY)
		elog(ERROR, "rtbench worker %d of a pool is not ready", i);
	member->kind = kind;
	rtb_exchange_begin(member->worker, &member->exchange, &member->kind, data, size, sink, arg);
}

/*
 * Take what a worker has to say; throws its error once it is through with it.
 * One that is ready has nothing to say but its last words.
 */
static bool
hear(RtbPool *pool, int i)
{
	Member	   *member = &pool->members[i];
	bool		heard = false;

	while (member->worker->state != RTB_WORKER_LOST &&
		   rtb_exchange_step(member->worker, &member->exchange))
		heard = true;
	if (member->worker->state == RTB_WORKER_LOST ||
		(member->exchange.error != NULL && member->worker->state == RTB_WORKER_READY))
	{
		pool->failed = i;
		rtb_exchange_throw(member->worker, &member->exchange);
	}
	return heard;
}

/* a worker that waits for us would wait for ever */
static void
look_who_blocks(RtbPool *pool)
{
	TimestampTz now = GetCurrentTimestamp();

	if (now - pool->looked < LOOK_INTERVAL * INT64CONST(1000))
		return;
	pool->looked = now;
	for (int i = 0; i < pool->n; i++)
	{
		if (pool->members[i].worker->state == RTB_WORKER_BUSY && !rtb_worker_has_stopped(pool->members[i].worker))
			rtb_worker_check_blocked(pool->members[i].worker->pid);
	}
}

/*
 * rtb_pool_step
 *		Take what the workers have to say, else wait up to so many milliseconds.
 *		True if no request runs any more.
 *
 * Throws the first error of any worker, that one has ended (08006, or the
 * reason it gave), and what ends a wait.
 */
bool
rtb_pool_step(RtbPool *pool, long milliseconds)
{
	bool		busy = false;
	bool		heard = false;

	for (int i = 0; i < pool->n; i++)
	{
		heard |= hear(pool, i);
		busy |= pool->members[i].worker->state == RTB_WORKER_BUSY;
	}
	CHECK_FOR_INTERRUPTS();
	if (!busy)
		return true;
	if (heard || milliseconds <= 0)
		return false;
	InvalidateCatalogSnapshotConditionally();
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 milliseconds, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	look_who_blocks(pool);
	return false;
}

/*
 * rtb_pool_wait
 *		Wait until a worker's request has ended, whatever the others do; throws
 *		as rtb_pool_step().
 */
void
rtb_pool_wait(RtbPool *pool, int i)
{
	while (pool->members[i].worker->state == RTB_WORKER_BUSY)
		(void) rtb_pool_step(pool, LOOK_INTERVAL);
}

/*
 * rtb_pool_wait_all
 *		Wait until no request runs; throws as rtb_pool_step().
 */
void
rtb_pool_wait_all(RtbPool *pool)
{
	while (!rtb_pool_step(pool, LOOK_INTERVAL))
		;
	/* for their process ids */
	for (int i = 0; i < pool->n; i++)
		(void) rtb_worker_has_stopped(pool->members[i].worker);
}

/*
 * rtb_pool_goes_far
 *		A worker works over a connection: see rtb_worker_goes_far().
 */
void
rtb_pool_goes_far(RtbPool *pool, int i)
{
	rtb_worker_goes_far(pool->members[i].worker);
}

/*
 * rtb_pool_failed
 *		The worker whose error is being thrown, -1 if it is nobody's.
 */
int
rtb_pool_failed(const RtbPool *pool)
{
	return pool->failed;
}

static void
signal_cancel(RtbPool *pool, int first)
{
	for (int i = first; i < pool->n; i++)
	{
		RtbWorker  *worker = pool->members[i].worker;

		if (worker == NULL || worker->state != RTB_WORKER_BUSY || rtb_worker_has_stopped(worker) || worker->pid == 0)
			continue;
		worker->header->cancel_requested = true;
		kill(worker->pid, SIGINT);
	}
}

/* take what they say for the last time; is one of them busy? */
static bool
any_busy(RtbPool *pool, int first, RtbExchange *quiet)
{
	bool		busy = false;

	for (int i = first; i < pool->n; i++)
	{
		RtbWorker  *worker = pool->members[i].worker;

		if (worker == NULL)
			continue;
		if (pool->members[i].exchange.begun)
			worker->state = RTB_WORKER_LOST;
		while (worker->state == RTB_WORKER_BUSY && rtb_exchange_step(worker, quiet))
			;
		busy |= worker->state == RTB_WORKER_BUSY;
	}
	return busy;
}

/*
 * rtb_pool_stop
 *		Cancel what runs, and end the workers from the first given on: all of
 *		them together, so that it takes no longer than the slowest.  Does not
 *		throw and is not interrupted.  A pool without workers is of no more use.
 */
void
rtb_pool_stop(RtbPool *pool, int first)
{
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), CANCEL_TIME);
	TimestampTz signalled = 0;
	RtbExchange quiet = {.quiet = true};
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtbench pool",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	while (any_busy(pool, first, &quiet) && !ProcDiePending)
	{
		TimestampTz now = GetCurrentTimestamp();

		if (now >= until)
			break;
		if (now - signalled >= CANCEL_INTERVAL * INT64CONST(1000))
		{
			signal_cancel(pool, first);
			signalled = now;
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 CANCEL_INTERVAL / 2, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	for (int i = first; i < pool->n; i++)
	{
		RtbWorker  *worker = pool->members[i].worker;

		pool->members[i].worker = NULL;
		rtb_worker_stop(worker);
	}
	pool->n = Min(pool->n, first);
	SetLatch(MyLatch);
}
