/*
 * worker_main.c
 *	  The worker's side: becomes the caller's user, then serves requests.
 *
 * Errors and notices go to the caller through communication methods of our own
 * rather than pq_redirect_to_shm_mq(): those of core process interrupts while
 * the queue is full, and a statement cancelled there leaves half a message in
 * the queue, after which nothing more can be sent.
 *
 * Memory: a request's body and whatever its handler leaves in the current
 * memory context live until the next request.
 */
#include "postgres.h"

/*
 * libpq.h brings in the headers of security libraries, which need not be
 * installed; nothing that depends on them is used here.
 */
#undef ENABLE_GSS
#undef ENABLE_SSPI
#undef USE_OPENSSL

#include "access/parallel.h"
#include "access/xact.h"
#include "compat.h"
#include "jit/jit.h"
#include "libpq/libpq-be.h"
#include "libpq/libpq.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/shm_mq.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/timeout.h"
#include "worker.h"
#include "worker_wire.h"

/* by the kind of a request, a byte */
static RtbWorkerHandler handlers[UCHAR_MAX + 1];

/* NULL but in a worker */
static RtbWireHeader *header = NULL;
static shm_mq_handle *requests = NULL;
static shm_mq_handle *replies = NULL;
static MemoryContext request_context = NULL;

/*
 * Put a frame into the reply queue and wait until the caller has made room for
 * it.  Interrupts stay pending meanwhile, as a frame begun must be finished;
 * only a worker told to terminate gives up, and says nothing more from then on.
 */
static void
put_frame(shm_mq_iovec *iov, int iovcnt)
{
	static bool sending = false;
	shm_mq_result result;

	if (replies == NULL)
		return;

	if (sending)
		result = SHM_MQ_WOULD_BLOCK;	/* exiting in the middle of a frame */
	else
	{
		sending = true;
		for (;;)
		{
			result = shm_mq_sendv(replies, iov, iovcnt, true, true);
			if (result != SHM_MQ_WOULD_BLOCK || ProcDiePending)
				break;
			(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, 0,
							 PG_WAIT_EXTENSION);
			ResetLatch(MyLatch);
		}
		sending = false;
		/* the latch was also reset for what is pending */
		if (InterruptPending)
			SetLatch(MyLatch);
	}

	if (result != SHM_MQ_SUCCESS)
	{
		shm_mq_detach(replies);
		replies = NULL;
		whereToSendOutput = DestNone;
	}
}

static void
put_ready(void)
{
	char		frame = RTB_FRAME_READY;
	shm_mq_iovec iov = {&frame, 1};

	put_frame(&iov, 1);
}

/*
 * The communication methods.  Only errors and notices reach the caller; what
 * COPY TO STDOUT would send goes nowhere.
 */
static void
ignore_reset(void)
{
}

static int
ignore_flush(void)
{
	return 0;
}

static bool
nothing_pending(void)
{
	return false;
}

static int
put_message(char type, const char *data, size_t size)
{
	int			encoding = pg_get_client_encoding();
	shm_mq_iovec iov[3] = {
		{&type, 1},
		{(const char *) &encoding, sizeof(encoding)},
		{data, size}
	};

	if (type == RTB_FRAME_ERROR || type == RTB_FRAME_NOTICE)
		put_frame(iov, 3);
	else if (type == 'G')
		/* CopyInResponse: next would be a read from a socket that isn't there */
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot COPY FROM STDIN in an rtbench worker"),
				 errhint("Use COPY from a file, or INSERT.")));
	return 0;
}

static void
put_message_noblock(char type, const char *data, size_t size)
{
	(void) put_message(type, data, size);
}

static const PQcommMethods reply_methods = {
	.comm_reset = ignore_reset,
	.flush = ignore_flush,
	.flush_if_writable = ignore_flush,
	.is_send_pending = nothing_pending,
	.putmessage = put_message,
	.putmessage_noblock = put_message_noblock
};

static void
forget_segment(dsm_segment *seg, Datum arg)
{
	header = NULL;
	requests = NULL;
	replies = NULL;
	whereToSendOutput = DestNone;
}

/*
 * Map the caller's segment and take our ends of its queues.  Until that is
 * done errors go to the server log alone.
 */
static void
attach_segment(dsm_handle handle)
{
	dsm_segment *seg = dsm_attach(handle);
	char	   *start;
	shm_mq	   *queue;

	if (seg == NULL)
		proc_exit(0);			/* the caller is gone already */
	start = dsm_segment_address(seg);
	if (((RtbWireHeader *) start)->magic != RTB_WIRE_MAGIC)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("invalid magic number in dynamic shared memory segment")));
	header = (RtbWireHeader *) start;

	queue = (shm_mq *) (start + header->requests);
	shm_mq_set_receiver(queue, MyProc);
	requests = shm_mq_attach(queue, seg, NULL);

	queue = (shm_mq *) (start + header->replies);
	shm_mq_set_sender(queue, MyProc);
	replies = shm_mq_attach(queue, seg, NULL);

	PqCommMethods = &reply_methods;
	whereToSendOutput = DestRemote;
	FrontendProtocol = PG_PROTOCOL_LATEST;
	on_dsm_detach(seg, forget_segment, (Datum) 0);
}

/*
 * Take the caller's role and settings, at first and whenever what has run here
 * may have changed them for the session.  Outside any transaction.
 */
void
rtb_worker_restore_settings(void)
{
	InitializingParallelWorker = true;
	PG_TRY();
	{
		StartTransactionCommand();
		SetSessionAuthorization(header->session.id, header->session.is_superuser);
		SetCurrentRoleId(header->role.id, header->role.is_superuser);
		RestoreGUCState((char *) header + header->settings);
	}
	PG_FINALLY();
	{
		InitializingParallelWorker = false;
	}
	PG_END_TRY();

	/* our transactions are to be like the one that the caller is in */
	if (header->isolation[0] != '\0')
		SetConfigOption("default_transaction_isolation", header->isolation,
						PGC_USERSET, PGC_S_SESSION);
	SetConfigOption("default_transaction_read_only", "off", PGC_USERSET, PGC_S_SESSION);
	CommitTransactionCommand();
	/* the caller's application_name is a setting here, not what the process is called */
	pgstat_report_appname(MyBgworkerEntry->bgw_name);
}

/*
 * Connect as the caller is connected, with his settings.
 *
 * This is what a parallel worker does (ParallelWorkerMain), and it says that it
 * is one while it does it: so the hooks of session_authorization, role and
 * others take the caller's values as they are.  Unlike a parallel worker we
 * have transactions of our own, and the right to connect is checked.
 */
static void
connect_as_caller(void)
{
	char		application[64];

	InitializingParallelWorker = true;
	rtb_compat_set_authenticated_user(header->authenticated.id,
									  header->authenticated.is_superuser);
	SetSessionAuthorization(header->connected.id, header->connected.is_superuser);
	BackgroundWorkerInitializeConnectionByOid(header->database, header->authenticated.id,
											  RTB_COMPAT_BYPASS_LOGIN_CHECK);

	rtb_worker_restore_settings();

	/* shown in pg_stat_activity only: an arm that reads the setting sees the caller's */
	snprintf(application, sizeof(application), "rtbench worker for PID %d", header->caller_pid);
	pgstat_report_appname(application);
}

/*
 * Wait for a request; false when the caller wants no more.
 */
static bool
next_request(char *kind, StringInfo body)
{
	shm_mq_result result;
	Size		size;
	void	   *data;

	/* a cancel that arrives now came too late: it must not hit the next request */
	HOLD_CANCEL_INTERRUPTS();
	for (;;)
	{
		result = shm_mq_receive(requests, &size, &data, true);
		if (result != SHM_MQ_WOULD_BLOCK)
			break;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, 0, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
	}
	QueryCancelPending = false;
	RESUME_CANCEL_INTERRUPTS();

	if (result == SHM_MQ_DETACHED)
		return false;
	/* the caller takes this back before it sends a request: it is meant for this one */
	if (header->cancel_requested)
		InterruptPending = QueryCancelPending = true;
	*kind = *(char *) data;
	initStringInfo(body);
	appendBinaryStringInfo(body, (char *) data + 1, size - 1);
	return true;
}

/*
 * Send the current error to the caller and get ready for the next request.
 */
static void
recover_from_error(void)
{
	HOLD_INTERRUPTS();

	/* a position counts characters of our statement, not of the caller's */
	if (geterrposition() > 0 && debug_query_string != NULL)
	{
		internalerrposition(geterrposition());
		internalerrquery(debug_query_string);
		errposition(0);
	}
	SetClientEncoding(GetDatabaseEncoding());
	EmitErrorReport();
	rtb_worker_clean_up();
	FlushErrorState();

	RESUME_INTERRUPTS();
}

static void
run_request(char kind, StringInfo body)
{
	/* an earlier request may have left the setting's encoding in force */
	SetClientEncoding(GetDatabaseEncoding());
	SetCurrentStatementStartTimestamp();
	pgstat_report_activity(STATE_RUNNING, NULL);

	PG_TRY();
	{
		if (handlers[(unsigned char) kind] == NULL)
			elog(ERROR, "no handler for requests of kind \"%c\" to the rtbench worker", kind);
		handlers[(unsigned char) kind](kind, body);
		if (IsTransactionState())
			elog(ERROR, "request of kind \"%c\" left a transaction open", kind);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(request_context);
		recover_from_error();
	}
	PG_END_TRY();

	debug_query_string = NULL;
	pgstat_report_stat(true);
	pgstat_report_activity(STATE_IDLE, NULL);
}

/*
 * Entry point of the background worker.  arg is the handle of the caller's
 * dynamic shared memory segment.
 */
void
rtb_worker_main(Datum arg)
{
	char		kind;
	StringInfoData body;

	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();

	MemoryContextSwitchTo(TopMemoryContext);	/* where the queues keep their buffers */
	request_context = AllocSetContextCreate(TopMemoryContext, "rtbench request",
											ALLOCSET_DEFAULT_SIZES);
	attach_segment(DatumGetUInt32(arg));
	connect_as_caller();
	pgstat_report_activity(STATE_IDLE, NULL);

	for (;;)
	{
		MemoryContextReset(request_context);
		MemoryContextSwitchTo(request_context);
		put_ready();
		if (!next_request(&kind, &body))
			break;
		run_request(kind, &body);
	}
	/* leaving main ends the process with success, which keeps the log quiet */
}

/*
 * Register the function that serves requests of these kinds in a worker; called
 * when the library is loaded.  Never throws.
 */
void
rtb_worker_set_handler(const char *kinds, RtbWorkerHandler handler)
{
	for (const char *kind = kinds; *kind != '\0'; kind++)
		handlers[(unsigned char) *kind] = handler;
}

/*
 * Is this process a worker?
 */
bool
rtb_in_worker(void)
{
	return header != NULL;
}

/*
 * The process that waits for this one if it is a worker; 0 in others.
 */
int
rtb_worker_caller_pid(void)
{
	return header != NULL ? header->caller_pid : 0;
}

/*
 * Send a reply to the caller, who hands it to the request's sink.  Waits while
 * the queue is full; does not throw, also when the caller is gone.
 */
void
rtb_worker_reply(char kind, const char *data, Size size)
{
	char		frame = RTB_FRAME_REPLY;
	shm_mq_iovec iov[3] = {{&frame, 1}, {&kind, 1}, {data, size}};

	put_frame(iov, size > 0 ? 3 : 2);
}

/*
 * Say what the worker is doing, in pg_stat_activity and in the server log's
 * STATEMENT lines.  Positions of errors are taken to be in this text, so set it
 * to the statement when it is parsed here.  text must live until it is replaced
 * or the request ends; NULL: nothing in particular.
 */
void
rtb_worker_activity(const char *text)
{
	debug_query_string = text;
	pgstat_report_activity(STATE_RUNNING, text);
}

/*
 * Did the caller ask for the running request to end?  For a handler that
 * catches errors and goes on: a 57014 is the caller's when this is true.
 */
bool
rtb_worker_cancelled(void)
{
	return header != NULL && header->cancel_requested;
}

/*
 * From wherever an error left us back to no transaction, portal, timeout or
 * lock, the session's advisory locks included.  For a handler's PG_CATCH, which
 * copies the error first and calls FlushErrorState() after; the current memory
 * context stays what it was.
 */
void
rtb_worker_clean_up(void)
{
	MemoryContext context = CurrentMemoryContext;

	HOLD_INTERRUPTS();
	disable_all_timeouts(false);
	QueryCancelPending = false;
	debug_query_string = NULL;
	AbortOutOfAnyTransaction();
	PortalErrorCleanup();
	jit_reset_after_error();
	LockReleaseAll(USER_LOCKMETHOD, true);
	MemoryContextSwitchTo(context);
	RESUME_INTERRUPTS();
}

/*
 * Let what runs in the worker fail with 57014 (query_canceled, "canceling
 * statement due to statement timeout") after so many milliseconds, until
 * rtb_worker_end_timeout().  statement_timeout itself is only armed by the main
 * loop of an ordinary backend.
 */
void
rtb_worker_start_timeout(int milliseconds)
{
	enable_timeout_after(STATEMENT_TIMEOUT, milliseconds);
}

/*
 * Disarm the timeout.  True if it had run out without having been noticed, in
 * which case what it would have cancelled has ended in the meantime: nothing is
 * cancelled any more.
 */
bool
rtb_worker_end_timeout(void)
{
	bool		late;

	disable_timeout(STATEMENT_TIMEOUT, true);
	late = get_timeout_indicator(STATEMENT_TIMEOUT, true);
	if (late && !header->cancel_requested)
		QueryCancelPending = false;
	return late;
}
