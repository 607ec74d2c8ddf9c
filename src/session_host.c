/*
 * session_host.c
 *	  A session wherever it runs: in a worker, or in this backend.
 *
 * This is the caller's side, which turns calls into requests; the worker's is
 * session_worker.c.  Passes, findings and step times come back as replies, one
 * each, while the request still runs.
 */
#include "postgres.h"

#include "session_host.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "pass.h"
#include "run_message.h"
#include "session_requests.h"
#include "wire_message.h"
#include "worker.h"

/* how long an already cancelled caller waits for its finished points to be kept */
#define RTB_RESCUE_MS	5000

struct RtbHost
{
	RtbSessionSink sink;
	RtbWorker  *worker;			/* NULL: the session runs here */
	RtbSession *session;		/* here */
	int64		answer;			/* of a request that has a number for a reply */
	StringInfo	description;	/* of a point, asked for */
	RtbFarFacts facts;			/* asked for */
};

static void
take_reply(void *arg, char kind, StringInfo body)
{
	RtbHost    *host = arg;

	switch (kind)
	{
		case REPLY_PASS:
			host->sink.pass(host->sink.arg, rtb_pass_read(body));
			break;
		case REPLY_FINDING:
			host->sink.finding(host->sink.arg, rtb_finding_read(body));
			break;
		case REPLY_STEP:
			host->sink.step(host->sink.arg, rtb_step_time_read(body));
			break;
		case REPLY_POINT:
			host->description = makeStringInfo();
			appendBinaryStringInfo(host->description, body->data + body->cursor,
								   body->len - body->cursor);
			break;
		case REPLY_FACTS:
			host->facts = rtb_wire_facts_read(body);
			break;
		case REPLY_PRICE:
		case REPLY_KEPT:
			host->answer = pq_getmsgint64(body);
			break;
		default:
			elog(ERROR, "unexpected reply \"%c\"", kind);
	}
}

static void
request(RtbHost *host, char kind, StringInfo body)
{
	rtb_worker_request(host->worker, kind, body ? body->data : "", body ? body->len : 0,
					   take_reply, host);
}

/*
 * rtb_host_open
 *		Start a session: in a worker if options say own_transactions.
 *
 * In the current memory context.  Throws if no worker can be had.
 */
RtbHost *
rtb_host_open(const RtbSessionOptions *options, const RtbSessionSink *sink)
{
	RtbHost    *host = palloc0(sizeof(RtbHost));
	StringInfoData buf;
	ListCell   *lc;

	host->sink = *sink;
	if (!options->own_transactions)
	{
		host->session = rtb_session_open(options, sink);
		return host;
	}
	host->worker = rtb_worker_start();
	if (options->wire != NULL)
		rtb_worker_goes_far(host->worker);
	initStringInfo(&buf);
	pq_sendbyte(&buf, options->compare_returned);
	pq_sendint32(&buf, options->baseline);
	pq_sendint32(&buf, options->vacuum);
	pq_sendint32(&buf, options->rounds);
	pq_sendint64(&buf, options->budget_ms);
	rtb_wire_options_write(&buf, options->wire);
	pq_sendint32(&buf, list_length(options->ignore_columns));
	foreach(lc, options->ignore_columns)
		pq_sendbytes(&buf, lfirst(lc), strlen(lfirst(lc)) + 1);
	request(host, REQUEST_OPEN, &buf);
	return host;
}

/*
 * rtb_host_empty_price
 *		Nanoseconds of the cheapest of 1,000 empty statements.
 */
int64
rtb_host_empty_price(RtbHost *host)
{
	if (host->worker == NULL)
		return rtb_session_empty_price(host->session);
	request(host, REQUEST_PRICE, NULL);
	return host->answer;
}

/*
 * rtb_host_facts
 *		What the far end of a session over a connection says of itself, in the
 *		current context.
 */
RtbFarFacts
rtb_host_facts(RtbHost *host)
{
	request(host, REQUEST_FACTS, NULL);
	return host->facts;
}

/*
 * rtb_host_point
 *		Take up a new point; this host's session keeps its fixture.
 */
void
rtb_host_point(RtbHost *host, const char *document)
{
	StringInfoData buf;

	if (host->worker == NULL)
	{
		rtb_session_point(host->session, document);
		return;
	}
	initStringInfo(&buf);
	pq_sendbytes(&buf, document, strlen(document) + 1);
	request(host, REQUEST_POINT, &buf);
	pfree(buf.data);
}

/*
 * rtb_host_pilot
 *		The untimed passes at the point.
 */
void
rtb_host_pilot(RtbHost *host, int64 pass_timeout_ms)
{
	StringInfoData buf;

	if (host->worker == NULL)
	{
		host->session->options.pass_timeout_ms = pass_timeout_ms;
		rtb_session_pilot(host->session);
		return;
	}
	initStringInfo(&buf);
	pq_sendint64(&buf, pass_timeout_ms);
	request(host, REQUEST_PILOT, &buf);
	pfree(buf.data);
}

/*
 * rtb_host_describe
 *		What another session must know of the point; in the current context.
 */
StringInfo
rtb_host_describe(RtbHost *host)
{
	if (host->worker == NULL)
	{
		StringInfo	buf = makeStringInfo();

		rtb_session_describe(host->session, buf);
		return buf;
	}
	host->description = NULL;
	request(host, REQUEST_DESCRIBE, NULL);
	return host->description;
}

/*
 * rtb_host_attach
 *		Take up a point whose fixture another session keeps.  Workers only.
 */
void
rtb_host_attach(RtbHost *host, const char *document, StringInfo description)
{
	StringInfoData buf;

	initStringInfo(&buf);
	pq_sendbytes(&buf, document, strlen(document) + 1);
	appendBinaryStringInfo(&buf, description->data, description->len);
	request(host, REQUEST_ATTACH, &buf);
	pfree(buf.data);
}

/*
 * rtb_host_enter
 *		Go back to a point that this host's session took up before.
 */
void
rtb_host_enter(RtbHost *host, int place)
{
	StringInfoData buf;

	if (host->worker == NULL)
	{
		rtb_session_enter(host->session, place);
		return;
	}
	initStringInfo(&buf);
	pq_sendint32(&buf, place);
	request(host, REQUEST_ENTER, &buf);
	pfree(buf.data);
}

/*
 * rtb_host_round
 *		One round of passes at the point.
 */
void
rtb_host_round(RtbHost *host, int64 pass_timeout_ms, RtbPassKind kind, int session, int round,
			   int norder, const int *order)
{
	StringInfoData buf;

	if (host->worker == NULL)
	{
		host->session->options.pass_timeout_ms = pass_timeout_ms;
		rtb_session_round(host->session, kind, session, round, norder, order);
		return;
	}
	initStringInfo(&buf);
	pq_sendint64(&buf, pass_timeout_ms);
	pq_sendbyte(&buf, kind);
	pq_sendint32(&buf, session);
	pq_sendint32(&buf, round);
	pq_sendint32(&buf, norder);
	for (int i = 0; i < norder; i++)
		pq_sendint32(&buf, order[i]);
	request(host, REQUEST_ROUND, &buf);
	pfree(buf.data);
}

/*
 * rtb_host_leave
 *		Done with the point: its fixture is dropped if this session keeps it.
 */
void
rtb_host_leave(RtbHost *host)
{
	if (host->worker == NULL)
		rtb_session_leave(host->session);
	else
		request(host, REQUEST_LEAVE, NULL);
}

/*
 * rtb_host_close
 *		End of the session, after its last point was left.
 */
void
rtb_host_close(RtbHost *host)
{
	if (host->worker == NULL)
		rtb_session_close(host->session);
	else
		rtb_worker_stop(host->worker);
}

/*
 * rtb_host_unwind
 *		After an error: out of what the session began in this transaction, so
 *		that statements can run in it again.
 */
void
rtb_host_unwind(RtbHost *host)
{
	if (host->session != NULL)
		rtb_session_unwind(host->session);
}

/*
 * rtb_host_abandon
 *		After an error: end the session, whatever it is doing.  Does not throw; NULL
 *		is allowed.
 */
void
rtb_host_abandon(RtbHost *host)
{
	if (host == NULL)
		return;
	rtb_worker_stop(host->worker);
	host->worker = NULL;
}

/*
 * rtb_host_serves
 *		Is this process one in which a session runs on behalf of another?
 */
bool
rtb_host_serves(void)
{
	return rtb_in_worker();
}

/* true if the worker has written the run; host->answer is its id then */
static bool
keep_run(RtbHost *host, const StringInfoData *run)
{
	return rtb_worker_request_within(host->worker, REQUEST_KEEP, run->data, run->len,
									 take_reply, host, RTB_RESCUE_MS);
}

/*
 * rtb_host_rescue
 *		Have a worker write the run, because this transaction will be rolled
 *		back.  Returns its id, or 0 if that was not possible in a few seconds.
 *
 * After an error, which the caller of this has put aside, and
 * rtb_host_unwind().  It is the session's worker that writes if it still
 * reacts, else one of its own.  Throws if no worker can be had.
 */
int64
rtb_host_rescue(RtbHost *host, const RtbRun *run)
{
	StringInfoData buf;

	initStringInfo(&buf);
	rtb_run_write(&buf, run);
	/* one that was idle may be gone unnoticed */
	if (host->worker != NULL && rtb_worker_cancel(host->worker) && keep_run(host, &buf))
		return host->answer;
	rtb_host_abandon(host);
	host->worker = rtb_worker_start();
	return keep_run(host, &buf) ? host->answer : 0;
}
