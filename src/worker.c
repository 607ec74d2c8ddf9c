/*
 * worker.c
 *	  The caller's side of a worker: asks it, waits for it, ends it.
 *
 * Every wait is one of two kinds.  An ordinary one is interrupted by whatever
 * interrupts a statement, and reports what the worker reports.  A quiet one is
 * for the time after that: it throws nothing and ends at a deadline.
 *
 * Memory: replies are handed over in a buffer of the worker; an error that is
 * thrown lies in the context that was current when the request was made.
 */
#include "postgres.h"

#include <signal.h>

#include "libpq/pqmq.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/latch.h"
#include "storage/shm_mq.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "worker.h"
#include "worker_wire.h"

#define LOOK_INTERVAL		1000	/* ms between looks at who blocks the worker */
#define CANCEL_TIME			2000	/* ms for a cancelled request to end */
#define CANCEL_INTERVAL		250		/* ms between signals to cancel */
#define EXIT_TIME			10000	/* ms for a worker to leave by itself */
#define TERMINATE_TIME		5000	/* ms for a worker told to terminate */

/* after an error the ends of workers with far ends are waited for until then, 0: as long as each needs */
static TimestampTz ends_until = 0;

/*
 * rtb_worker_has_stopped
 *		Has the worker's process ended (or could it not be started)?
 */
bool
rtb_worker_has_stopped(RtbWorker *worker)
{
	pid_t		pid;
	BgwHandleStatus status = GetBackgroundWorkerPid(worker->handle, &pid);

	if (status == BGWH_STARTED)
		worker->pid = (int) pid;
	return status == BGWH_STOPPED || status == BGWH_POSTMASTER_DIED;
}

/*
 * An error or notice of the worker, in the current memory context.
 */
static ErrorData *
parse_report(char *data, Size size)
{
	ErrorData  *edata = (ErrorData *) palloc(sizeof(ErrorData));
	StringInfoData message;
	int			encoding;

	memcpy(&encoding, data + 1, sizeof(encoding));
	initStringInfo(&message);
	appendBinaryStringInfo(&message, data + 1 + sizeof(encoding), size - 1 - sizeof(encoding));
	pq_parse_errornotice(&message, edata);

	if (encoding != GetDatabaseEncoding())
	{
		/* a statement has changed client_encoding there: undo the conversion */
		char	  **texts[] = {&edata->message, &edata->detail, &edata->hint,
			&edata->context, &edata->internalquery, &edata->schema_name,
			&edata->table_name, &edata->column_name, &edata->datatype_name,
		&edata->constraint_name};

		for (int i = 0; i < lengthof(texts); i++)
		{
			if (*texts[i] != NULL)
				*texts[i] = pg_any_to_server(*texts[i], strlen(*texts[i]), encoding);
		}
	}
	return edata;
}

/*
 * Take one frame from the worker.
 */
static void
handle_frame(RtbWorker *worker, RtbExchange *exchange, char *data, Size size)
{
	switch (data[0])
	{
		case RTB_FRAME_READY:
			worker->state = RTB_WORKER_READY;
			break;

		case RTB_FRAME_REPLY:
			resetStringInfo(&worker->body);
			appendBinaryStringInfo(&worker->body, data + 2, size - 2);
			if (exchange->sink != NULL)
				exchange->sink(exchange->arg, data[1], &worker->body);
			break;

		case RTB_FRAME_ERROR:
			/* the first is the cause; what comes after it happened on the way out */
			if (exchange->error == NULL)
			{
				exchange->error = parse_report(data, size);
				exchange->error->elevel = ERROR;	/* FATAL there is no reason to die here */
			}
			break;

		case RTB_FRAME_NOTICE:
			if (!exchange->quiet)
			{
				MemoryContext oldcontext = MemoryContextSwitchTo(worker->notice_context);

				/* there may be very many */
				ThrowErrorData(parse_report(data, size));
				MemoryContextSwitchTo(oldcontext);
				MemoryContextReset(worker->notice_context);
			}
			break;

		default:
			elog(ERROR, "unrecognized reply from the rtbench worker: %d", (int) data[0]);
	}
}

/*
 * Milliseconds that are left until the deadline of something that waits
 * uninterrupted; none for a backend told to terminate.
 */
static long
time_left(TimestampTz deadline)
{
	if (ProcDiePending)
		return 0;
	return TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
}

/*
 * Sleep until something happens, or it is time to look.
 */
static void
wait_a_while(RtbWorker *worker, RtbExchange *exchange)
{
	long		timeout = exchange->cancel ? CANCEL_INTERVAL : LOOK_INTERVAL;
	int			events;

	if (exchange->quiet)
		timeout = Min(timeout, time_left(exchange->deadline));
	/* a caller that holds no snapshot of its own keeps no dead rows from being pruned */
	InvalidateCatalogSnapshotConditionally();

	events = WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					   timeout, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);

	if (!exchange->quiet)
	{
		CHECK_FOR_INTERRUPTS();
		if ((events & WL_TIMEOUT) && !rtb_worker_has_stopped(worker))
			rtb_worker_check_blocked(worker->pid);
	}
	else if ((events & WL_TIMEOUT) && exchange->cancel && !rtb_worker_has_stopped(worker))
		kill(worker->pid, SIGINT);
}

/*
 * rtb_exchange_step
 *		Send what there is to send and take one reply, without waiting; false if
 *		there was none.
 *
 * Replies are taken while sending, too: a worker that waits for room in its
 * queue does not read.  Throws what sink throws, and notices are reported here.
 */
bool
rtb_exchange_step(RtbWorker *worker, RtbExchange *exchange)
{
	shm_mq_result result;
	Size		size;
	void	   *data;

	if (exchange->iovcnt > 0)
	{
		exchange->begun = true;
		result = shm_mq_sendv(worker->requests, exchange->iov, exchange->iovcnt, true, true);
		if (result == SHM_MQ_SUCCESS)
			exchange->begun = false;
		/* if it is gone, its last words are still to be read */
		if (result != SHM_MQ_WOULD_BLOCK)
			exchange->iovcnt = 0;
	}

	result = shm_mq_receive(worker->replies, &size, &data, true);
	if (result == SHM_MQ_SUCCESS)
		handle_frame(worker, exchange, data, size);
	else if (result == SHM_MQ_DETACHED)
		worker->state = RTB_WORKER_LOST;
	return result != SHM_MQ_WOULD_BLOCK;
}

/*
 * Converse until the worker is ready or lost.  A quiet exchange leaves a worker
 * busy when its time is up.
 */
static void
converse(RtbWorker *worker, RtbExchange *exchange)
{
	while (worker->state == RTB_WORKER_BUSY)
	{
		/* also while replies come: whoever catches the cancel may go on for ever */
		if (exchange->quiet && time_left(exchange->deadline) <= 0)
			return;
		if (!rtb_exchange_step(worker, exchange))
			wait_a_while(worker, exchange);
		else if (!exchange->quiet)
			CHECK_FOR_INTERRUPTS();
	}
}

/*
 * rtb_exchange_throw
 *		Throw the error that the worker reported, or say that there is no worker
 *		any more; return if there is nothing to complain about.
 */
void
rtb_exchange_throw(RtbWorker *worker, RtbExchange *exchange)
{
	if (exchange->error != NULL)
		ThrowErrorData(exchange->error);
	if (worker->state == RTB_WORKER_LOST)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("rtbench worker ended unexpectedly"),
				 errhint("The server log tells why.")));
}

/*
 * Converse, and mark the worker as lost if an error leaves a request half sent.
 */
static void
converse_or_throw(RtbWorker *worker, RtbExchange *exchange)
{
	PG_TRY();
	{
		converse(worker, exchange);
	}
	PG_CATCH();
	{
		if (exchange->begun)
			worker->state = RTB_WORKER_LOST;
		PG_RE_THROW();
	}
	PG_END_TRY();
	rtb_exchange_throw(worker, exchange);
}

/*
 * Start a worker that is connected as the current user, to this database, with
 * this session's settings, and wait until it is ready.  The worker lives until
 * rtb_worker_stop(), at the longest as long as the current resource owner.
 * Throws when no slot is free (53400), whatever kept the worker from connecting
 * with the worker's own SQLSTATE, and what ends a wait.
 */
RtbWorker *
rtb_worker_start(void)
{
	RtbWorker  *worker = rtb_worker_launch();
	RtbExchange exchange = {0};

	PG_TRY();
	{
		converse_or_throw(worker, &exchange);
		(void) rtb_worker_has_stopped(worker); /* for its pid */
	}
	PG_CATCH();
	{
		dsm_detach(worker->seg);	/* ends and frees it */
		PG_RE_THROW();
	}
	PG_END_TRY();
	return worker;
}

/*
 * rtb_exchange_begin
 *		Prepare an exchange that sends a request; kind and data must outlive it.
 */
void
rtb_exchange_begin(RtbWorker *worker, RtbExchange *exchange, char *kind,
				   const char *data, Size size, RtbWorkerSink sink, void *arg)
{
	memset(exchange, 0, sizeof(*exchange));
	exchange->iov[0].data = kind;
	exchange->iov[0].len = 1;
	exchange->iov[1].data = data;
	exchange->iov[1].len = size;
	exchange->iovcnt = size > 0 ? 2 : 1;
	exchange->sink = sink;
	exchange->arg = arg;
	worker->header->cancel_requested = false;
	worker->state = RTB_WORKER_BUSY;
}

/*
 * Send a request and wait until the worker has served it.  Replies go to sink
 * (NULL: they are dropped) as they come, notices and warnings are reported
 * here.  An error of the worker is thrown as it was raised there, once the
 * worker is ready again.  Also throws when this transaction blocks the worker
 * (55P03) and when the worker ends (08006, or the reason that it gave).  After
 * an error that did not come from the worker the request may be running still:
 * see rtb_worker_cancel().
 */
void
rtb_worker_request(RtbWorker *worker, char kind, const char *data, Size size,
				   RtbWorkerSink sink, void *arg)
{
	RtbExchange exchange;

	if (worker->state == RTB_WORKER_BUSY)
		elog(ERROR, "rtbench worker has a request to serve already");
	if (worker->state == RTB_WORKER_LOST)
	{
		memset(&exchange, 0, sizeof(exchange));
		rtb_exchange_throw(worker, &exchange);
	}
	rtb_exchange_begin(worker, &exchange, &kind, data, size, sink, arg);
	converse_or_throw(worker, &exchange);
}

/*
 * rtb_worker_goes_far
 *		The worker works over a connection: what it has to clean up lies at a far
 *		end, which may have stopped to answer.
 */
void
rtb_worker_goes_far(RtbWorker *worker)
{
	worker->far = true;
}

/*
 * rtb_worker_end_within
 *		After an error: from here on all workers that went far are together
 *		waited for no longer than that, and then go on cleaning up alone; 0:
 *		back to as long as each may need.
 */
void
rtb_worker_end_within(int milliseconds)
{
	ends_until = milliseconds == 0 ? 0 : TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds);
}

static TimestampTz
end_deadline(const RtbWorker *worker, int milliseconds)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds);

	return worker->far && ends_until != 0 ? Min(deadline, ends_until) : deadline;
}

/*
 * Cancel the running request, if there is one, and wait up to 2 s until the
 * worker is ready again; its replies meanwhile are dropped.  True if it is
 * ready.  Does not throw and is not interrupted, so that it can be called while
 * an error is handled; gives up early when this backend is told to terminate.
 */
bool
rtb_worker_cancel(RtbWorker *worker)
{
	RtbExchange exchange = {0};
	MemoryContext context;
	MemoryContext oldcontext;

	if (worker->state == RTB_WORKER_BUSY && !rtb_worker_has_stopped(worker) && worker->pid != 0)
	{
		worker->header->cancel_requested = true;
		kill(worker->pid, SIGINT);
	}
	exchange.quiet = true;
	exchange.cancel = true;
	exchange.deadline = end_deadline(worker, CANCEL_TIME);

	context = AllocSetContextCreate(CurrentMemoryContext, "rtbench cancel",
									ALLOCSET_SMALL_SIZES);
	oldcontext = MemoryContextSwitchTo(context);
	converse(worker, &exchange);
	MemoryContextSwitchTo(oldcontext);
	MemoryContextDelete(context);
	return worker->state == RTB_WORKER_READY;
}

/*
 * A request in at most so many milliseconds, for use while an error is handled:
 * as rtb_worker_cancel(), does not throw (what sink throws apart) and is not
 * interrupted; notices are dropped.  True if it was served without an error.
 * If not, the worker is good for nothing but rtb_worker_cancel() and
 * rtb_worker_stop().
 */
bool
rtb_worker_request_within(RtbWorker *worker, char kind, const char *data, Size size,
						  RtbWorkerSink sink, void *arg, int milliseconds)
{
	RtbExchange exchange;

	if (worker->state != RTB_WORKER_READY)
		return false;
	rtb_exchange_begin(worker, &exchange, &kind, data, size, sink, arg);
	exchange.quiet = true;
	exchange.deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds);
	converse(worker, &exchange);
	if (exchange.begun)
		worker->state = RTB_WORKER_LOST;
	return worker->state == RTB_WORKER_READY && exchange.error == NULL;
}

/*
 * The process id of the worker.
 */
int
rtb_worker_pid(const RtbWorker *worker)
{
	return worker->pid;
}

/*
 * Wait until the process has ended, uninterrupted; false when time is up.
 */
static bool
wait_for_exit(RtbWorker *worker, int milliseconds)
{
	TimestampTz deadline = end_deadline(worker, milliseconds);

	while (!rtb_worker_has_stopped(worker))
	{
		long		left = time_left(deadline);

		if (left <= 0)
			return false;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 left, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
	return true;
}

/* said once for all workers of a run */
static void
tell_left_alone(const RtbWorker *worker)
{
	static TimestampTz told_for = 0;

	if (!worker->far || ends_until == 0 || told_for == ends_until || ProcDiePending)
		return;
	told_for = ends_until;
	ereport(WARNING,
			(errmsg("the far end does not answer: rtbench worker %d goes on alone", worker->pid),
			 errdetail("It drops what it has made there, and ends some seconds later if that is not possible; the server log tells."),
			 errhint("If a scratch schema stays at the far end, rtbench.cleanup(server) drops it later.")));
}

/*
 * End the worker and free it; worker is not to be used after.  A request that
 * is still running is cancelled.  Waits until the process has ended, so that
 * nothing of it is left: normally some milliseconds, at most some seconds if it
 * has much to clean up or does not react.  Does not throw and is not
 * interrupted.  NULL is allowed.
 */
void
rtb_worker_stop(RtbWorker *worker)
{
	bool		ready;

	if (worker == NULL)
		return;
	/* a request that was cancelled before has had its time */
	ready = worker->state == RTB_WORKER_READY ||
		(!worker->header->cancel_requested && rtb_worker_cancel(worker));

	/* it leaves when it finds no one at the other end */
	shm_mq_detach(worker->requests);
	shm_mq_detach(worker->replies);
	if (!ready || !wait_for_exit(worker, EXIT_TIME))
	{
		TerminateBackgroundWorker(worker->handle);
		if (!wait_for_exit(worker, TERMINATE_TIME))
			tell_left_alone(worker);
	}
	/* an interrupt may have been woken up by a latch that was reset here */
	SetLatch(MyLatch);
	dsm_detach(worker->seg);
}
