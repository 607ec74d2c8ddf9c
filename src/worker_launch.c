/*
 * worker_launch.c
 *	  The caller's side of a worker: its segment, and the start of the process.
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

#include "access/xact.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/proc.h"
#include "storage/shm_mq.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "worker.h"
#include "worker_wire.h"

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
	/* from here on it is this callback that deletes the worker's context */
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

/*
 * Have the postmaster start the process.
 */
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
				 errmsg("could not start an rtbench worker: no background worker slot is free"),
				 errdetail("max_worker_processes is %d.", max_worker_processes),
				 errhint("Wait until other workers have ended, raise max_worker_processes, "
						 "or use transport => 'caller'.")));

	/* lets a wait end when the worker dies before it has come to the queues */
	shm_mq_set_handle(worker->requests, worker->handle);
	shm_mq_set_handle(worker->replies, worker->handle);
}

/*
 * A new worker whose process may not have started yet, let alone connected: it
 * is busy.  Throws when no slot is free (53400), and then nothing is left.
 */
RtbWorker *
rtb_worker_launch(void)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "rtbench worker",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext caller_context = MemoryContextSwitchTo(context);
	RtbWorker  *worker = (RtbWorker *) palloc0(sizeof(RtbWorker));

	worker->context = context;
	worker->notice_context = AllocSetContextCreate(context, "rtbench notice",
												   ALLOCSET_SMALL_SIZES);
	worker->state = RTB_WORKER_BUSY;
	initStringInfo(&worker->body);
	PG_TRY();
	{
		create_segment(worker);
		register_worker(worker);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller_context);
		if (worker->seg != NULL)
			dsm_detach(worker->seg);
		else
			MemoryContextDelete(context);
		PG_RE_THROW();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller_context);
	return worker;
}
