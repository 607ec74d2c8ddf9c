/*
 * load_worker.c
 *	  What a worker of a load is asked for: to connect, to keep the fixture, to
 *	  be a session.
 *
 * Memory: the fixture and the session live in TopMemoryContext until the
 * process ends.
 */
#include "postgres.h"

#include "load_private.h"

#include "access/xact.h"
#include "libpq/pqformat.h"
#include "utils/memutils.h"

#include "fixture.h"
#include "message_text.h"
#include "scratch.h"
#include "wire_message.h"
#include "worker.h"

static RtbFixture fixture;
static RtbLoadSession *session = NULL;

/* ---- connecting ---- */

/* the first one could connect, so it is a matter of how many there are */
static void
explain_number(void *arg)
{
	if (geterrcode() == ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION)
		errhint("The load needs %d connections at the far end, one for each session and one that keeps the fixture: raise max_connections there (or the limit of the role, the database or the pooler), or ask for fewer sessions.",
				*(int *) arg);
}

static void
connect_far(StringInfo body)
{
	RtbWireOptions *options = rtb_wire_options_read(body);
	int64		round_trip_us = pq_getmsgint64(body);
	int			connections = pq_getmsgint(body, 4);	/* 0: the first one */
	ErrorContextCallback callback;
	StringInfoData reply;

	callback.callback = explain_number;
	callback.arg = &connections;
	callback.previous = error_context_stack;
	if (connections > 0)
		error_context_stack = &callback;
	StartTransactionCommand();
	rtb_wire_open(options);
	CommitTransactionCommand();
	error_context_stack = callback.previous;
	/* many sessions that spin would take the processors from the server */
	rtb_wire_distance(round_trip_us, false);

	initStringInfo(&reply);
	pq_sendint32(&reply, rtb_connection_here(rtb_wire) ? rtb_connection_pid(rtb_wire) : 0);
	pq_sendbyte(&reply, rtb_wire_counts());
	pq_sendbyte(&reply, rtb_wire_pooled());
	if (connections == 0)
		rtb_wire_facts_write(&reply);
	rtb_worker_reply(RTB_LOAD_CONNECT, reply.data, reply.len);
}

/* ---- the fixture's keeper ---- */

static const RtbTransport *
transport(void)
{
	return rtb_wire != NULL ? &rtb_wire_transport : &rtb_spi_worker_transport;
}

/* the connection has been idle all the time, and may have been ended */
static void
drop_fixture(void)
{
	if (rtb_wire != NULL)
		rtb_wire_reopen(RTB_CONNECT_TIMEOUT);
	rtb_fixture_drop(&fixture, transport());
}

static void
build_fixture(StringInfo body)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	RtbWork    *work = rtb_work_parse(pq_getmsgrawstring(body));
	StringInfoData reply;

	rtb_scratch_expect(pq_getmsgint64(body));
	/* whose they are on another server is not as sure: rtbench.cleanup() does it there */
	if (rtb_wire == NULL || !rtb_wire_options.is_server)
		rtb_scratch_sweep(transport());
	rtb_fixture_create(&fixture, transport(), work);
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
		case RTB_LOAD_CONNECT:
			connect_far(body);
			break;
		case RTB_LOAD_FIXTURE:
			build_fixture(body);
			break;
		case RTB_LOAD_DROP:
			drop_fixture();
			break;
		case RTB_LOAD_SEAT:
			session = rtb_load_take_seat(body);
			break;
		case RTB_LOAD_GO:
			rtb_load_go(session);
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
	const char	kinds[] = {RTB_LOAD_CONNECT, RTB_LOAD_FIXTURE, RTB_LOAD_DROP, RTB_LOAD_SEAT, RTB_LOAD_GO, '\0'};

	rtb_worker_set_handler(kinds, serve);
}
