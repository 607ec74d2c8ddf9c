/*
 * worker.c
 *	  The caller's side of a worker: starts it, asks it, waits for it, ends it.
 *
 * A worker belongs to the resource owner that was current when it was started:
 * its dynamic shared memory segment does, and when that goes, with the end of a
 * (sub)transaction or of the process, the worker is told to terminate.
 *
 * Memory: everything of a worker is in a context of its own below
 * TopMemoryContext, since it has to be there when the resource owner is
 * released; the segment's detach callback deletes it.
 */
#include "postgres.h"

#include <signal.h>

#include "access/xact.h"
#include "libpq/pqmq.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/shm_mq.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "worker.h"
#include "worker_wire.h"

#define LOOK_INTERVAL		1000	/* ms between looks at who blocks the worker */
#define CANCEL_TIME			2000	/* ms for a cancelled request to end */
#define CANCEL_INTERVAL		250		/* ms between signals to cancel */
#define EXIT_TIME			10000	/* ms for a worker to leave by itself */
#define TERMINATE_TIME		5000	/* ms for a worker told to terminate */

typedef enum RtbWorkerState
{
	RTB_WORKER_BUSY,			/* starting, or a request is running */
	RTB_WORKER_READY,
	RTB_WORKER_LOST				/* it is gone, or nothing more can be sent to it */
} RtbWorkerState;

struct RtbWorker
{
	MemoryContext context;
	dsm_segment *seg;
	RtbWireHeader *header;
	BackgroundWorkerHandle *handle;
	shm_mq_handle *requests;
	shm_mq_handle *replies;
	StringInfoData body;		/* of the reply being handed over */
	RtbWorkerState state;
	int			pid;			/* 0 until known */
};

/* one request, or the wait for the rest of one */
typedef struct RtbExchange
{
	shm_mq_iovec iov[2];
	int			iovcnt;			/* 0: nothing (more) to send */
	bool		begun;			/* part of the request may be in the queue */
	RtbWorkerSink sink;
	void	   *arg;
	ErrorData  *error;			/* the worker's error, NULL if none */
	bool		quiet;			/* never throw, and give up at the deadline */
	bool		cancel;			/* tell the worker to cancel, time and again */
	TimestampTz deadline;
} RtbExchange;

/*
 * The segment goes: so does the worker, and what we know of it.  Runs after the
 * queues' own callbacks, which were registered later.
 */
static void
on_segment_detach(dsm_segment *seg, Datum arg)
{
	RtbWorker  *worker = (RtbWorker *) DatumGetPointer(arg);

	/* does nothing to a worker that has ended */
	if (worker->handle != NULL)
		TerminateBackgroundWorker(worker->handle);
	MemoryContextDelete(worker->context);
}

/*
 * Who the worker is to be.  Inside a SECURITY DEFINER function it is the
 * function's owner and nobody else: a session that could go back to the role
 * that called the function would give the owner that role's rights.
 */
static void
describe_caller(RtbWireHeader *header)
{
	Oid			user;
	int			context;

	GetUserIdAndSecContext(&user, &context);
	if ((context & SECURITY_RESTRICTED_OPERATION) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot start an rtbench worker within security-restricted operation")));

	header->connected.id = GetAuthenticatedUserId();
	if ((context & SECURITY_LOCAL_USERID_CHANGE) != 0)
	{
		header->authenticated.id = header->session.id = user;
		header->role.id = InvalidOid;
	}
	else
	{
		header->authenticated.id = GetAuthenticatedUserId();
		header->session.id = GetSessionUserId();
		header->role.id = GetCurrentRoleId();
	}
	header->connected.is_superuser = superuser_arg(header->connected.id);
	header->authenticated.is_superuser = superuser_arg(header->authenticated.id);
	header->session.is_superuser = superuser_arg(header->session.id);
	header->role.is_superuser = OidIsValid(header->role.id) && superuser_arg(header->role.id);
}

/*
 * Create the segment and fill it in.
 */
static void
create_segment(RtbWorker *worker)
{
	Size		settings_size = EstimateGUCStateSpace();
	Size		requests = MAXALIGN(sizeof(RtbWireHeader));
	Size		replies = requests + RTB_WIRE_QUEUE_SIZE;
	Size		settings = replies + RTB_WIRE_QUEUE_SIZE;
	RtbWireHeader caller;
	const char *isolation = GetConfigOption("transaction_isolation", false, false);
	char	   *start;
	shm_mq	   *queue;

	memset(&caller, 0, sizeof(caller));
	caller.magic = RTB_WIRE_MAGIC;
	caller.caller_pid = MyProcPid;
	caller.database = MyDatabaseId;
	caller.requests = requests;
	caller.replies = replies;
	caller.settings = settings;
	describe_caller(&caller);
	if (strcmp(isolation, GetConfigOption("default_transaction_isolation", false, false)) != 0)
		strlcpy(caller.isolation, isolation, sizeof(caller.isolation));

	worker->seg = dsm_create(add_size(settings, settings_size), 0);
	on_dsm_detach(worker->seg, on_segment_detach, PointerGetDatum(worker));

	start = dsm_segment_address(worker->seg);
	worker->header = (RtbWireHeader *) start;
	memcpy(worker->header, &caller, sizeof(caller));
	SerializeGUCState(settings_size, start + settings);

	queue = shm_mq_create(start + requests, RTB_WIRE_QUEUE_SIZE);
	shm_mq_set_sender(queue, MyProc);
	worker->requests = shm_mq_attach(queue, worker->seg, NULL);
	queue = shm_mq_create(start + replies, RTB_WIRE_QUEUE_SIZE);
	shm_mq_set_receiver(queue, MyProc);
	worker->replies = shm_mq_attach(queue, worker->seg, NULL);
}

static void
register_worker(RtbWorker *worker)
{
	BackgroundWorker entry;

	memset(&entry, 0, sizeof(entry));
	snprintf(entry.bgw_name, BGW_MAXLEN, "rtbench worker for PID %d", MyProcPid);
	strlcpy(entry.bgw_type, "rtbench worker", BGW_MAXLEN);
	entry.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	entry.bgw_start_time = BgWorkerStart_RecoveryFinished;
	entry.bgw_restart_time = BGW_NEVER_RESTART;
	strcpy(entry.bgw_library_name, "rtbench");
	strcpy(entry.bgw_function_name, "rtb_worker_main");
	entry.bgw_main_arg = UInt32GetDatum(dsm_segment_handle(worker->seg));
	entry.bgw_notify_pid = MyProcPid;

	if (!RegisterDynamicBackgroundWorker(&entry, &worker->handle))
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("could not start an rtbench worker: all background worker slots are in use"),
				 errdetail("max_worker_processes is %d.", max_worker_processes),
				 errhint("Wait until other workers have ended, raise max_worker_processes, or use transport => 'caller'.")));

	/* lets a wait end when the worker dies before it has come to the queues */
	shm_mq_set_handle(worker->requests, worker->handle);
	shm_mq_set_handle(worker->replies, worker->handle);
}

/*
 * Has the worker's process ended (or could it not be started)?
 */
static bool
has_stopped(RtbWorker *worker)
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
				ThrowErrorData(parse_report(data, size));
			break;

		default:
			elog(ERROR, "unrecognized reply from the rtbench worker: %d", (int) data[0]);
	}
}

/*
 * Sleep until something happens; false when a quiet exchange has to give up.
 */
static bool
wait_a_while(RtbWorker *worker, RtbExchange *exchange)
{
	long		timeout = exchange->cancel ? CANCEL_INTERVAL : LOOK_INTERVAL;
	int			events;

	if (exchange->quiet)
	{
		long		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(),
														   exchange->deadline);

		/* a backend told to terminate has no time for this */
		if (left <= 0 || ProcDiePending)
			return false;
		timeout = Min(timeout, left);
	}

	events = WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					   timeout, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);

	if (!exchange->quiet)
	{
		CHECK_FOR_INTERRUPTS();
		if ((events & WL_TIMEOUT) && !has_stopped(worker))
			rtb_worker_check_blocked(worker->pid);
	}
	else if ((events & WL_TIMEOUT) && exchange->cancel && !has_stopped(worker))
		kill(worker->pid, SIGINT);
	return true;
}

/*
 * Send what there is to send and take replies until the worker is ready or
 * lost.  Replies are taken while sending, too: a worker that waits for room in
 * its queue does not read.  False when a quiet exchange gave up.
 */
static bool
converse(RtbWorker *worker, RtbExchange *exchange)
{
	while (worker->state == RTB_WORKER_BUSY)
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
		{
			handle_frame(worker, exchange, data, size);
			if (!exchange->quiet)
				CHECK_FOR_INTERRUPTS();
		}
		else if (result == SHM_MQ_DETACHED)
			worker->state = RTB_WORKER_LOST;
		else if (!wait_a_while(worker, exchange))
			return false;
	}
	return true;
}

/*
 * Throw the error that the worker reported, or say that there is no worker any
 * more; return if there is nothing to complain about.
 */
static void
throw_if_failed(RtbWorker *worker, RtbExchange *exchange)
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
		(void) converse(worker, exchange);
	}
	PG_CATCH();
	{
		if (exchange->begun)
			worker->state = RTB_WORKER_LOST;
		PG_RE_THROW();
	}
	PG_END_TRY();
	throw_if_failed(worker, exchange);
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
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "rtbench worker",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext caller_context = MemoryContextSwitchTo(context);
	RtbWorker  *worker = (RtbWorker *) palloc0(sizeof(RtbWorker));
	RtbExchange exchange = {0};

	worker->context = context;
	initStringInfo(&worker->body);
	PG_TRY();
	{
		create_segment(worker);
	}
	PG_CATCH();
	{
		/* from here on it is the segment's callback that deletes the context */
		if (worker->seg == NULL)
			MemoryContextDelete(context);
		PG_RE_THROW();
	}
	PG_END_TRY();
	register_worker(worker);
	MemoryContextSwitchTo(caller_context);

	worker->state = RTB_WORKER_BUSY;
	converse_or_throw(worker, &exchange);
	(void) has_stopped(worker); /* for its pid */
	return worker;
}

static void
begin_exchange(RtbWorker *worker, RtbExchange *exchange, char *kind,
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
		throw_if_failed(worker, &exchange);
	}
	begin_exchange(worker, &exchange, &kind, data, size, sink, arg);
	converse_or_throw(worker, &exchange);
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

	if (worker->state == RTB_WORKER_BUSY && !has_stopped(worker) && worker->pid != 0)
	{
		worker->header->cancel_requested = true;
		kill(worker->pid, SIGINT);
	}
	exchange.quiet = true;
	exchange.cancel = true;
	exchange.deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), CANCEL_TIME);

	context = AllocSetContextCreate(CurrentMemoryContext, "rtbench cancel",
									ALLOCSET_SMALL_SIZES);
	oldcontext = MemoryContextSwitchTo(context);
	(void) converse(worker, &exchange);
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
	begin_exchange(worker, &exchange, &kind, data, size, sink, arg);
	exchange.quiet = true;
	exchange.deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds);
	(void) converse(worker, &exchange);
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
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds);

	while (!has_stopped(worker))
	{
		long		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);

		if (left <= 0 || ProcDiePending)
			return false;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 left, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
	return true;
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
	ready = rtb_worker_cancel(worker);

	/* it leaves when it finds no one at the other end */
	shm_mq_detach(worker->requests);
	shm_mq_detach(worker->replies);
	if (!ready || !wait_for_exit(worker, EXIT_TIME))
	{
		TerminateBackgroundWorker(worker->handle);
		(void) wait_for_exit(worker, TERMINATE_TIME);
	}
	/* an interrupt may have been woken up by a latch that was reset here */
	SetLatch(MyLatch);
	dsm_detach(worker->seg);
}
