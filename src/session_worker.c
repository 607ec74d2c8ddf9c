/*
 * session_worker.c
 *	  A session in a worker: requests turned back into calls of session.c.
 *
 * Passes, findings and step times go back as replies, one each, while the
 * request still runs.
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

/* the worker's session; lives in TopMemoryContext until the process ends */
static RtbSession *worker_session = NULL;

static void
reply_pass(void *arg, const RtbPass *pass)
{
	StringInfoData buf;

	initStringInfo(&buf);
	rtb_pass_write(&buf, pass);
	rtb_worker_reply(REPLY_PASS, buf.data, buf.len);
	pfree(buf.data);
}

static void
reply_finding(void *arg, const RtbFinding *finding)
{
	StringInfoData buf;

	initStringInfo(&buf);
	rtb_finding_write(&buf, finding);
	rtb_worker_reply(REPLY_FINDING, buf.data, buf.len);
	pfree(buf.data);
}

static void
reply_step(void *arg, const RtbStepTime *step)
{
	StringInfoData buf;

	initStringInfo(&buf);
	rtb_step_time_write(&buf, step);
	rtb_worker_reply(REPLY_STEP, buf.data, buf.len);
	pfree(buf.data);
}

static void
reply_number(char kind, int64 number)
{
	StringInfoData buf;

	initStringInfo(&buf);
	pq_sendint64(&buf, number);
	rtb_worker_reply(kind, buf.data, buf.len);
	pfree(buf.data);
}

static void
serve_open(StringInfo body)
{
	static const RtbSessionSink sink = {reply_pass, reply_finding, reply_step, NULL};
	RtbSessionOptions options = {0};
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	options.own_transactions = true;
	options.compare_returned = pq_getmsgbyte(body);
	options.baseline = pq_getmsgint(body, 4);
	options.vacuum = pq_getmsgint(body, 4);
	options.rounds = pq_getmsgint(body, 4);
	options.budget_ms = pq_getmsgint64(body);
	options.wire = rtb_wire_options_read(body);
	for (int n = pq_getmsgint(body, 4); n > 0; n--)
		options.ignore_columns = lappend(options.ignore_columns,
										 pstrdup(pq_getmsgrawstring(body)));
	worker_session = rtb_session_open(&options, &sink);
	MemoryContextSwitchTo(old);
}

static void
serve_describe(void)
{
	StringInfoData buf;

	initStringInfo(&buf);
	rtb_session_describe(worker_session, &buf);
	rtb_worker_reply(REPLY_POINT, buf.data, buf.len);
	pfree(buf.data);
}

static void
serve_facts(void)
{
	StringInfoData buf;

	initStringInfo(&buf);
	rtb_wire_facts_write(&buf);
	rtb_worker_reply(REPLY_FACTS, buf.data, buf.len);
	pfree(buf.data);
}

static void
serve_round(StringInfo body)
{
	RtbPassKind kind = pq_getmsgbyte(body);
	int			session = pq_getmsgint(body, 4);
	int			round = pq_getmsgint(body, 4);
	int			norder = pq_getmsgint(body, 4);
	int		   *order = palloc(sizeof(int) * Max(norder, 1));

	for (int i = 0; i < norder; i++)
		order[i] = (int32) pq_getmsgint(body, 4);
	rtb_session_round(worker_session, kind, session, round, norder, order);
	pfree(order);
}

static void
serve_keep(StringInfo body)
{
	RtbRun	   *run = rtb_run_read(body);

	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	rtb_ledger_write(run);
	PopActiveSnapshot();
	CommitTransactionCommand();
	reply_number(REPLY_KEPT, run->run);
}

static void
serve(char kind, StringInfo body)
{
	switch (kind)
	{
		case REQUEST_OPEN:
			serve_open(body);
			break;
		case REQUEST_PRICE:
			reply_number(REPLY_PRICE, rtb_session_empty_price(worker_session));
			break;
		case REQUEST_FACTS:
			serve_facts();
			break;
		case REQUEST_POINT:
			rtb_session_point(worker_session, pq_getmsgrawstring(body));
			break;
		case REQUEST_PILOT:
			worker_session->options.pass_timeout_ms = pq_getmsgint64(body);
			rtb_session_pilot(worker_session);
			break;
		case REQUEST_DESCRIBE:
			serve_describe();
			break;
		case REQUEST_ATTACH:
			{
				const char *document = pq_getmsgrawstring(body);

				rtb_session_attach(worker_session, document, body);
				break;
			}
		case REQUEST_ENTER:
			rtb_session_enter(worker_session, pq_getmsgint(body, 4));
			break;
		case REQUEST_ROUND:
			worker_session->options.pass_timeout_ms = pq_getmsgint64(body);
			serve_round(body);
			break;
		case REQUEST_LEAVE:
			rtb_session_leave(worker_session);
			break;
		case REQUEST_KEEP:
			serve_keep(body);
			break;
		default:
			elog(ERROR, "unexpected request \"%c\"", kind);
	}
}

/*
 * rtb_host_init
 *		At module load: what a worker does with requests.
 */
void
rtb_host_init(void)
{
	const char	kinds[] = {REQUEST_OPEN, REQUEST_PRICE, REQUEST_FACTS, REQUEST_POINT, REQUEST_PILOT, REQUEST_DESCRIBE,
		REQUEST_ATTACH, REQUEST_ENTER, REQUEST_ROUND, REQUEST_LEAVE, REQUEST_KEEP, '\0'};

	rtb_worker_set_handler(kinds, serve);
}
