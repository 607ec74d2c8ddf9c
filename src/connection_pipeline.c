/*
 * connection_pipeline.c
 *	  Statements sent without waiting for each: one round trip a batch.
 *
 * Between begin and end, rtb_connection_query_params and rtb_connection_execute
 * only send.  After an error the far end skips the rest of the batch.  The far
 * end's own answers wait in the sockets, and beyond that in its process, until
 * the batch is synced: a batch takes memory here for what could not be sent.
 *
 * Each statement's result is taken as it is expected to be, whole or row by row:
 * of statements in a row that are alike this is kept once.
 */
#include "postgres.h"

#include "connection_private.h"

#define FIRST_AWAITED	8

/*
 * rtb_connection_pipeline_begin
 *		From now on wait after every batch of so many statements.
 */
void
rtb_connection_pipeline_begin(RtbConnection *c, int batch)
{
	Assert(batch > 0);
	rtb_connection_require_idle(c);
	if (PQenterPipelineMode(c->pg) != 1)
		elog(ERROR, "could not begin a pipeline: %s", rtb_connection_message(c));
	c->batch = batch;
	c->queued = c->nawaited = 0;
}

/* room for what is expected of one more statement */
static void
grow_awaited(RtbConnection *c)
{
	int			n = Max(2 * c->max_awaited, FIRST_AWAITED);

	c->awaited_results = c->awaited_results == NULL ?
		MemoryContextAlloc(c->context, n * sizeof(RtbExpected)) :
		repalloc(c->awaited_results, n * sizeof(RtbExpected));
	c->max_awaited = n;
}

/*
 * One more statement has been sent, whose result will be as is expected now.
 */
void
rtb_connection_await(RtbConnection *c)
{
	RtbExpected *last = c->nawaited > 0 ? &c->awaited_results[c->nawaited - 1] : NULL;

	if (likely(last != NULL && last->large == c->expected.large && last->whole == c->expected.whole))
	{
		last->statements++;
		return;
	}
	if (unlikely(c->nawaited == c->max_awaited))
		grow_awaited(c);
	c->awaited_results[c->nawaited] = c->expected;
	c->awaited_results[c->nawaited++].statements = 1;
}

/* the next statement's answer begins, if there is one */
static void
take_next(RtbConnection *c, RtbReading *reading, int *awaited)
{
	RtbExpected *next = &c->awaited_results[*awaited];

	if (*awaited == c->nawaited)
		return;
	rtb_connection_take(c, reading, next);
	if (--next->statements == 0)
		++*awaited;
}

/*
 * rtb_connection_pipeline_sync
 *		Wait for what has been sent; the answer is that of all of it.
 */
RtbAnswer
rtb_connection_pipeline_sync(RtbConnection *c, const RtbRows *rows)
{
	RtbReading	reading = {.sent = RTB_SENT_EXECUTE,.rows = rows};
	PGresult   *result;
	int			awaited = 0;

	if (c->queued == 0)
		return reading.answer;
	rtb_connection_sent(c, PQpipelineSync(c->pg), RTB_MESSAGE, 0);
	c->queued = 0;
	rtb_connection_flush(c);
	take_next(c, &reading, &awaited);
	for (;;)
	{
		result = rtb_connection_next(c);
		if (result == NULL)
		{
			/* of one statement: the next one's follow, unless nothing will */
			if (PQstatus(c->pg) != CONNECTION_OK)
				break;
			take_next(c, &reading, &awaited);
			continue;
		}
		if (PQresultStatus(result) == PGRES_PIPELINE_SYNC)
		{
			PQclear(result);
			break;
		}
		rtb_connection_read_result(c, &reading, result);
	}
	c->nawaited = 0;
	rtb_connection_answered(c);
	return reading.answer;
}

/*
 * rtb_connection_pipeline_end
 *		Wait for the rest of the last batch; from now on wait for each statement.
 */
RtbAnswer
rtb_connection_pipeline_end(RtbConnection *c, const RtbRows *rows)
{
	RtbAnswer	answer = rtb_connection_pipeline_sync(c, rows);

	if (PQexitPipelineMode(c->pg) != 1)
		elog(ERROR, "could not end a pipeline: %s", rtb_connection_message(c));
	c->batch = 0;
	return answer;
}
