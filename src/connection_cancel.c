/*
 * connection_cancel.c
 *	  The way out: cancel what runs at the far end, read what it still says.
 *
 * Runs while an error is on its way, or the process ends: nothing here throws
 * or is interrupted, and each wait has an end.
 */
#include "postgres.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "portability/instr_time.h"

#include "connection_private.h"

/*
 * A request to cancel is lost where it reaches the far end between two
 * messages, when nothing runs there: it is made again after so many ms.
 */
#define CANCEL_AGAIN	200

typedef struct Deadline
{
	instr_time	start;
	int			milliseconds;
} Deadline;

static Deadline
deadline_in(int milliseconds)
{
	Deadline	d = {.milliseconds = milliseconds};

	INSTR_TIME_SET_CURRENT(d.start);
	return d;
}

static int
time_left(const Deadline *d)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, d->start);
	return Max(0, d->milliseconds - (int) INSTR_TIME_GET_MILLISEC(now));
}

/* false when the time is up */
static bool
await_socket(int sock, short events, const Deadline *d)
{
	struct pollfd p = {.fd = sock,.events = events};
	int			rc;

	do
	{
		rc = poll(&p, 1, time_left(d));
	} while (rc < 0 && errno == EINTR);
	return rc > 0;
}

#ifdef LIBPQ_HAS_ASYNC_CANCEL

/*
 * Ask the far end to cancel what the connection runs there.
 */
static void
cancel(PGconn *pg, int milliseconds)
{
	Deadline	d = deadline_in(milliseconds);
	PGcancelConn *request = PQcancelCreate(pg);
	bool		going = request != NULL && PQcancelStart(request) == 1;
	short		events = POLLOUT;

	while (going && await_socket(PQcancelSocket(request), events, &d))
	{
		PostgresPollingStatusType status = PQcancelPoll(request);

		events = (status == PGRES_POLLING_READING) ? POLLIN : POLLOUT;
		going = status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING;
	}
	PQcancelFinish(request);
}

#else

/* asks whether the connection could be encrypted: whoever reads it answers, or hangs up */
static const unsigned char greeting[] = {0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x30};

/*
 * Is where this socket leads answered at in that time?  To connect says little:
 * the kernel does that on behalf of a process that is stopped, too.  The answer
 * does not matter, nor do those who do not know the question and hang up.
 */
static bool
is_answered(int sock, int milliseconds)
{
	Deadline	d = deadline_in(milliseconds);
	struct sockaddr_storage peer;
	socklen_t	size = sizeof(peer);
	int			error = 0;
	socklen_t	error_size = sizeof(error);
	int			probe;
	bool		answered;

	if (getpeername(sock, (struct sockaddr *) &peer, &size) != 0)
		return false;
	probe = socket(peer.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (probe < 0)
		return false;
	answered = connect(probe, (struct sockaddr *) &peer, size) == 0 ||
		(errno == EINPROGRESS && await_socket(probe, POLLOUT, &d) &&
		 getsockopt(probe, SOL_SOCKET, SO_ERROR, &error, &error_size) == 0 && error == 0);
	answered = answered &&
		send(probe, greeting, sizeof(greeting), MSG_NOSIGNAL) == sizeof(greeting) &&
		await_socket(probe, POLLIN, &d);
	close(probe);
	return answered;
}

/*
 * Ask the far end to cancel what the connection runs there.
 *
 * Before 17 libpq's request blocks until the far end has taken it: for minutes
 * if that is gone, for ever if it is stopped.  So whether anybody is there is
 * tried first; who stops between the two is met by bad luck only.
 */
static void
cancel(PGconn *pg, int milliseconds)
{
	char		ignored[256];
	PGcancel   *request;

	if (!is_answered(PQsocket(pg), milliseconds))
		return;
	request = PQgetCancel(pg);
	if (request == NULL)
		return;
	(void) PQcancel(request, ignored, sizeof(ignored));
	PQfreeCancel(request);
}

#endif

/*
 * Take one result that is at hand.  False if that leads nowhere: rows that are
 * being copied out go on for ever.
 */
static bool
skip_result(RtbConnection *c)
{
	PGresult   *result = PQgetResult(c->pg);
	bool		goes_on = true;

	if (result == NULL)
	{
		/* in a pipeline only the end of one statement's results */
		c->busy = PQpipelineStatus(c->pg) != PQ_PIPELINE_OFF;
		return true;
	}
	switch (PQresultStatus(result))
	{
		case PGRES_COPY_IN:
			(void) PQputCopyEnd(c->pg, "cancelled");
			break;
		case PGRES_COPY_OUT:
		case PGRES_COPY_BOTH:
			goes_on = false;
			break;
		case PGRES_PIPELINE_SYNC:
			c->busy = false;
			break;
		default:
			break;
	}
	PQclear(result);
	return goes_on;
}

/*
 * Have what runs at the far end cancelled, and read until the connection is
 * idle, and out of pipeline mode.  False if that is not so within the time
 * given, also if rows keep coming.
 */
bool
rtb_connection_drain(RtbConnection *c, int milliseconds)
{
	Deadline	d = deadline_in(milliseconds);
	Deadline	again;

	if (c->busy)
		cancel(c->pg, milliseconds);
	again = deadline_in(Min(CANCEL_AGAIN, time_left(&d)));
	if (c->copying)
		(void) PQputCopyEnd(c->pg, "cancelled");
	c->copying = false;
	if (c->queued > 0)
		c->busy = PQpipelineSync(c->pg) == 1;
	c->queued = 0;

	while (c->busy)
	{
		bool		unsent = PQflush(c->pg) == 1;

		if (time_left(&again) == 0)
		{
			if (time_left(&d) == 0)
				return false;
			cancel(c->pg, time_left(&d));
			again = deadline_in(Min(CANCEL_AGAIN, time_left(&d)));
		}
		if (PQisBusy(c->pg))
		{
			if (await_socket(PQsocket(c->pg), unsent ? POLLIN | POLLOUT : POLLIN, &again) &&
				PQconsumeInput(c->pg) == 0)
				return false;
		}
		else if (!skip_result(c))
			return false;
		if (PQstatus(c->pg) != CONNECTION_OK)
			return false;
	}
	if (PQpipelineStatus(c->pg) != PQ_PIPELINE_OFF && PQexitPipelineMode(c->pg) != 1)
		return false;
	c->batch = 0;
	return true;
}
