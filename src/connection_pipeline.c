/*
 * connection_pipeline.c
 *	  Statements sent without waiting for each: one round trip a batch.
 *
 * Between begin and end, rtb_connection_query_params and rtb_connection_execute
 * only send.  After an error the far end skips the rest of the batch.  The far
 * end's own answers wait in the sockets, and beyond that in its process, until
 * the batch is synced: a batch takes memory here for what could not be sent.
 */
#include "postgres.h"

#include "connection_private.h"

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
		elog(ERROR, "could not begin a pipeline: %s", pchomp(PQerrorMessage(c->pg)));
	c->batch = batch;
	c->queued = 0;
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

	if (c->queued == 0)
		return reading.answer;
	rtb_connection_sent(c, PQpipelineSync(c->pg), RTB_MESSAGE, 0);
	c->queued = 0;
	rtb_connection_flush(c);
	for (;;)
	{
		result = rtb_connection_next(c);
		if (result == NULL)
		{
			/* of one statement: the next one's follow, unless nothing will */
			if (PQstatus(c->pg) != CONNECTION_OK)
				break;
			continue;
		}
		if (PQresultStatus(result) == PGRES_PIPELINE_SYNC)
		{
			PQclear(result);
			break;
		}
		rtb_connection_read_result(c, &reading, result);
	}
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
		elog(ERROR, "could not end a pipeline: %s", pchomp(PQerrorMessage(c->pg)));
	c->batch = 0;
	return answer;
}
