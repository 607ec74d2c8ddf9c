/*
 * connection.c
 *	  A client connection of this process's own: opened, known, closed.
 *
 * libpq never waits here: everything is started, and its socket then waited
 * for together with the process's latch, in one set of events that lasts as
 * long as the connection.  Making a set for each wait would cost 5 us a
 * statement.  Names are the exception: libpq looks a host's name up at once.
 *
 * A connection belongs to the resource owner that is current when it is opened
 * and is closed with it, whether by commit or by an error; rtb_connection_keep
 * lets it last.  At the latest it is closed when the process ends.  What runs
 * at the far end is cancelled first: closing alone would leave it running.
 *
 * Memory: a context of its own below TopMemoryContext; libpq's is malloc's.
 */
#include "postgres.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <netinet/in.h>
#include <arpa/inet.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "parser/parser.h"
#include "pgstat.h"
#include "postmaster/postmaster.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "connection_private.h"

#define CANCEL_TIME		1000	/* ms for a request to cancel to arrive */

static dlist_head connections = DLIST_STATIC_INIT(connections);

/* what an error or an interrupt has left */
static void
forget_results(RtbConnection *c)
{
	PQclear(c->result);
	PQclear(c->error);
	c->result = c->error = NULL;
	c->text = NULL;
}

/*
 * Close, quietly: never throws, waits no longer than CANCEL_TIME for what runs
 * at the far end to be cancelled, and not at all where that was waited for in
 * vain before.  A request that was lost is made again, as the
 * statement would go on there, with its locks.
 */
static void
discard(RtbConnection *c)
{
	forget_results(c);
	if (c->pg != NULL)
	{
		if (c->busy)
			(void) rtb_connection_recover(c, CANCEL_TIME);
		PQfinish(c->pg);
	}
	if (c->wait_set != NULL)
		FreeWaitEventSet(c->wait_set);
	if (c->external_fd)
		ReleaseExternalFD();
	dlist_delete(&c->node);
	MemoryContextDelete(c->context);
}

static void
release_resources(ResourceReleasePhase phase, bool is_commit, bool is_top_level, void *arg)
{
	dlist_mutable_iter iter;

	if (phase != RESOURCE_RELEASE_BEFORE_LOCKS)
		return;
	dlist_foreach_modify(iter, &connections)
	{
		RtbConnection *c = dlist_container(RtbConnection, node, iter.cur);

		if (c->owner != NULL && c->owner == CurrentResourceOwner)
			discard(c);
	}
}

static void
close_all(int code, Datum arg)
{
	while (!dlist_is_empty(&connections))
		discard(dlist_head_element(RtbConnection, node, &connections));
}

static void
register_once(void)
{
	static bool registered = false;

	if (registered)
		return;
	RegisterResourceReleaseCallback(release_resources, NULL);
	before_shmem_exit(close_all, (Datum) 0);
	registered = true;
}

/*
 * Wait for the connection to be made, until the deadline.  False if that has
 * passed; true if it is made or has failed.
 */
static bool
await_connected(RtbConnection *c, TimestampTz deadline)
{
	PostgresPollingStatusType status = PGRES_POLLING_WRITING;

	while (status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED)
	{
		int			events = WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | WL_TIMEOUT;
		long		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
		int			seen;

		if (left <= 0)
			return false;
		events |= (status == PGRES_POLLING_READING) ? WL_SOCKET_READABLE : WL_SOCKET_WRITEABLE;
		/* the socket may be another one each time: one for each address */
		seen = WaitLatchOrSocket(MyLatch, events, PQsocket(c->pg), left, PG_WAIT_EXTENSION);
		if (seen & WL_LATCH_SET)
		{
			ResetLatch(MyLatch);
			CHECK_FOR_INTERRUPTS();
		}
		if (seen & (WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE))
			status = PQconnectPoll(c->pg);
	}
	return true;
}

/*
 * Is the far end of this socket the server that this process belongs to?  By
 * the kernel's word: a pooler, a proxy or another server is not.
 */
static bool
is_this_server(int sock)
{
	struct sockaddr_storage own = {0};
	struct sockaddr_storage peer = {0};
	socklen_t	own_size = sizeof(own);
	socklen_t	peer_size = sizeof(peer);

	if (getpeername(sock, (struct sockaddr *) &peer, &peer_size) != 0 ||
		getsockname(sock, (struct sockaddr *) &own, &own_size) != 0)
		return false;
	if (peer.ss_family == AF_UNIX)
	{
		struct ucred cred;
		socklen_t	size = sizeof(cred);

		/* whoever listened: the postmaster */
		return getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0 &&
			cred.pid == PostmasterPid;
	}
	if (peer.ss_family == AF_INET)
	{
		struct sockaddr_in *p = (struct sockaddr_in *) &peer;
		struct sockaddr_in *o = (struct sockaddr_in *) &own;

		return p->sin_addr.s_addr == o->sin_addr.s_addr && ntohs(p->sin_port) == PostPortNumber;
	}
	if (peer.ss_family == AF_INET6)
	{
		struct sockaddr_in6 *p = (struct sockaddr_in6 *) &peer;
		struct sockaddr_in6 *o = (struct sockaddr_in6 *) &own;

		return memcmp(&p->sin6_addr, &o->sin6_addr, sizeof(p->sin6_addr)) == 0 &&
			ntohs(p->sin6_port) == PostPortNumber;
	}
	return false;
}

/*
 * Does the far end check what it sends, against our encoding, without one of
 * its own?  What a SQL_ASCII database holds need not be valid here; the error of
 * that check takes the place of a row, and of the error or notice, which are lost.
 */
static bool
checks_bytes(const RtbConnection *c)
{
	const char *encoding = PQparameterStatus(c->pg, "server_encoding");

	return encoding != NULL && pg_char_to_encoding(encoding) == PG_SQL_ASCII &&
		PQclientEncoding(c->pg) != PG_SQL_ASCII;
}

/* the target's values but for the encoding, in the current context */
static const char **
values_for_bytes(const RtbTarget *target)
{
	const char **values;
	int			n = 0;

	while (target->keywords[n] != NULL)
		n++;
	values = palloc0((n + 1) * sizeof(char *));
	for (int i = 0; i < n; i++)
		values[i] = strcmp(target->keywords[i], "client_encoding") == 0 ? "SQL_ASCII" : target->values[i];
	return values;
}

/*
 * The rule of dblink: who is no superuser connects by a password that the far
 * end has asked for, as otherwise he would be let in as the server's own user.
 */
static void
check_password_used(RtbConnection *c, const RtbTarget *target)
{
	if (!target->password_required || PQconnectionUsedPassword(c->pg))
		return;
	discard(c);
	ereport(ERROR,
			(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
			 errmsg("password is required"),
			 errdetail("Server \"%s\" let this server in without asking for the password, which only a superuser may make use of.",
					   target->name),
			 errhint("The far end's authentication method must be one that asks for a password (pg_hba.conf there).")));
}

static void
make_wait_set(RtbConnection *c)
{
	c->wait_set = rtb_create_wait_event_set(c->context, 3);
	AddWaitEventToSet(c->wait_set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(c->wait_set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	c->awaited = WL_SOCKET_READABLE;
	c->socket_position = AddWaitEventToSet(c->wait_set, c->awaited, PQsocket(c->pg), NULL, NULL);
}

/*
 * Connect with these of the target's values, until the deadline, or close and
 * throw.
 */
static void
connect_with(RtbConnection *c, const RtbTarget *target, const char *const *values, TimestampTz deadline)
{
	bool		in_time;

	c->pg = PQconnectStartParams(target->keywords, values, false);
	if (c->pg == NULL)
	{
		discard(c);
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	}
	PQsetNoticeReceiver(c->pg, rtb_connection_receive_notice, c);

	in_time = PQstatus(c->pg) == CONNECTION_BAD || await_connected(c, deadline);
	if (PQstatus(c->pg) != CONNECTION_OK)
		rtb_connection_refuse(c, target, !in_time);
	check_password_used(c, target);
}

/*
 * rtb_connection_open
 *		Connect, within the target's timeout.
 *
 * To a SQL_ASCII database it connects a second time, for its bytes as they are:
 * texts that are valid are the same either way.  A SET would do until the next
 * DISCARD ALL.
 *
 * Throws 08001 with what libpq says (never a password), 2F003 if a password
 * had to be used and was not, 53000 when there are no file descriptors left.
 */
RtbConnection *
rtb_connection_open(const RtbTarget *target)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), target->timeout);
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "rtbench connection",
												  ALLOCSET_SMALL_SIZES);
	RtbConnection *c = MemoryContextAllocZero(context, sizeof(RtbConnection));

	register_once();
	c->context = context;
	c->owner = CurrentResourceOwner;
	c->name = MemoryContextStrdup(context, target->name);
	dlist_push_tail(&connections, &c->node);

	c->external_fd = AcquireExternalFD();
	if (!c->external_fd)
	{
		discard(c);
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not connect to \"%s\": too many open file descriptors", target->name),
				 errhint("Raise max_files_per_process, or close connections and foreign servers' sessions.")));
	}
	connect_with(c, target, target->values, deadline);
	if (checks_bytes(c))
	{
		PQfinish(c->pg);
		c->pg = NULL;
		c->nnotices = 0;		/* they come again */
		connect_with(c, target, values_for_bytes(target), deadline);
	}
	if (PQsetnonblocking(c->pg, 1) != 0)
		rtb_connection_lost(c);
	PQsetErrorVerbosity(c->pg, PQERRORS_DEFAULT);
	c->here = is_this_server(PQsocket(c->pg));
	c->encoding = PQclientEncoding(c->pg);
	make_wait_set(c);
	rtb_connection_tell_notices(c);
	return c;
}

/*
 * rtb_connection_keep
 *		Let the connection outlive the transaction or query that opened it.
 */
void
rtb_connection_keep(RtbConnection *c)
{
	c->owner = NULL;
}

/*
 * rtb_connection_limit
 *		From here on wait for answers no longer than that in all, 0: for ever
 *		again; for where nothing else would end a wait.  What waits then throws 57014.
 */
void
rtb_connection_limit(RtbConnection *c, int milliseconds)
{
	c->give_up = milliseconds > 0 ? TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds) : 0;
}

/*
 * rtb_connection_close
 *		Close; what still runs at the far end is cancelled.  Never throws.
 */
void
rtb_connection_close(RtbConnection *c)
{
	discard(c);
}

/*
 * rtb_connection_recover
 *		After an error: cancel what runs, read what is left of its answer.
 *
 * True if the connection can be used again, though perhaps inside a failed
 * transaction.  False if not within the time given: then close it.  Never
 * throws, and is not interrupted.
 */
bool
rtb_connection_recover(RtbConnection *c, int milliseconds)
{
	forget_results(c);
	/* who would be told of a large result may be gone with the error */
	rtb_connection_expect(c, false, NULL);
	if (PQstatus(c->pg) != CONNECTION_OK || c->given_up)
		return false;
	if (!c->busy && PQpipelineStatus(c->pg) == PQ_PIPELINE_OFF)
		return true;
	c->given_up = !rtb_connection_drain(c, milliseconds);
	return !c->given_up;
}

/* could a statement be sent? */
bool
rtb_connection_usable(const RtbConnection *c)
{
	return !c->busy && PQstatus(c->pg) == CONNECTION_OK;
}

/*
 * rtb_connection_alive
 *		Is an idle connection still there, as far as can be seen without asking?
 *		Never throws.
 */
bool
rtb_connection_alive(RtbConnection *c)
{
	if (c->busy)
		return false;
	/* what the far end said before it went, and then the end */
	for (int i = 0; i < 2; i++)
	{
		if (PQstatus(c->pg) != CONNECTION_OK || PQconsumeInput(c->pg) == 0)
			return false;
	}
	return PQstatus(c->pg) == CONNECTION_OK;
}

/* is a transaction open that was begun by a statement, or has failed since? */
bool
rtb_connection_in_block(const RtbConnection *c)
{
	PGTransactionStatusType status = PQtransactionStatus(c->pg);

	return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

/*
 * rtb_connection_reads_alike
 *		Does the far end read strings in a text as this process does, by what it
 *		reports of the settings that decide that?  Else a text could be another
 *		one there than the one that was looked at here.
 */
bool
rtb_connection_reads_alike(const RtbConnection *c)
{
	const char *standard = PQparameterStatus(c->pg, "standard_conforming_strings");

	return (standard == NULL || (strcmp(standard, "on") == 0) == RTB_STANDARD_STRINGS) &&
		PQclientEncoding(c->pg) == c->encoding;
}

/* the far backend's process, as it says; a pooler says something else */
int
rtb_connection_pid(const RtbConnection *c)
{
	return PQbackendPID(c->pg);
}

/* is the far end a backend of this very server? */
bool
rtb_connection_here(const RtbConnection *c)
{
	return c->here;
}

/*
 * rtb_connection_parameter
 *		A setting that the far end reports (server_version, in_hot_standby ...) as
 *		valid text in the current context, or NULL.
 */
const char *
rtb_connection_parameter(const RtbConnection *c, const char *name)
{
	const char *value = PQparameterStatus(c->pg, name);

	return value != NULL ? rtb_connection_text(value) : NULL;
}

/* TLS version and cipher, in the current context; NULL without TLS */
const char *
rtb_connection_tls(const RtbConnection *c)
{
	if (!PQsslInUse(c->pg))
		return NULL;
	return psprintf("%s, %s", PQsslAttribute(c->pg, "protocol"), PQsslAttribute(c->pg, "cipher"));
}
