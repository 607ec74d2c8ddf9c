/*
 * connection_bulk.c
 *	  Many rows over a connection: COPY FROM STDIN, and cursors.
 *
 * Memory: rows are sent as they come; at most SEND_AT bytes of them are held
 * back by libpq, and one row more.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "connection_private.h"

/* libpq keeps what a socket does not take: wait for the far end at this much */
#define SEND_AT		65536

/*
 * rtb_connection_copy_begin
 *		Send COPY ... FROM STDIN and wait until rows may be sent.
 */
void
rtb_connection_copy_begin(RtbConnection *c, const char *text)
{
	RtbReading	reading = {.sent = RTB_SENT_QUERY};
	PGresult   *result;

	rtb_connection_require_idle(c);
	c->text = text;
	rtb_connection_sent(c, PQsendQuery(c->pg, text), RTB_MESSAGE + strlen(text) + 1, 0);
	c->traffic.statements++;
	rtb_connection_take(c, &reading, &c->expected);
	rtb_connection_flush(c);
	while ((result = rtb_connection_next(c)) != NULL)
	{
		if (PQresultStatus(result) == PGRES_COPY_IN)
		{
			c->traffic.bytes_received += RTB_MESSAGE + 1 + 2 + 2 * PQnfields(result);
			PQclear(result);
			c->copying = true;
			c->unsent = 0;
			return;
		}
		rtb_connection_read_result(c, &reading, result);
	}
	rtb_connection_answered(c);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("statement takes no rows: %s", text),
			 errhint("It must be COPY ... FROM STDIN.")));
}

/*
 * rtb_connection_copy_data
 *		Send rows, in the format that the statement asked for.
 */
void
rtb_connection_copy_data(RtbConnection *c, const char *data, int length)
{
	int			taken;

	Assert(c->copying);
	/* 0: the socket is full, and there is no memory to hold back more */
	while ((taken = PQputCopyData(c->pg, data, length)) == 0)
		rtb_connection_flush(c);
	if (taken < 0)
		rtb_connection_lost(c);
	c->traffic.bytes_sent += RTB_MESSAGE + length;
	c->unsent += length;
	if (c->unsent >= SEND_AT)
	{
		rtb_connection_flush(c);
		c->unsent = 0;
	}
}

/*
 * rtb_connection_copy_end
 *		No more rows: wait for the answer, which throws if a row was wrong.
 *		COPY is two round trips: one to begin, one for the rows.
 */
RtbAnswer
rtb_connection_copy_end(RtbConnection *c)
{
	int			taken;

	Assert(c->copying);
	while ((taken = PQputCopyEnd(c->pg, NULL)) == 0)
		rtb_connection_flush(c);
	if (taken < 0)
		rtb_connection_lost(c);
	c->traffic.bytes_sent += RTB_MESSAGE;
	c->copying = false;
	rtb_connection_trip(c);
	return rtb_connection_read_answer(c, RTB_SENT_QUERY, NULL);
}

/*
 * rtb_connection_declare
 *		Open a cursor for a query, inside a transaction: a round trip.
 */
void
rtb_connection_declare(RtbConnection *c, const char *cursor, const char *text,
					   const RtbValues *values)
{
	char	   *declare = psprintf("DECLARE %s NO SCROLL CURSOR FOR %s",
								   quote_identifier(cursor), text);

	if (values != NULL && values->n > 0)
		(void) rtb_connection_query_params(c, declare, values, NULL);
	else
		(void) rtb_connection_query(c, declare, NULL);
	pfree(declare);
}

/*
 * rtb_connection_fetch
 *		The next rows, at most fetch_size: a round trip.  Fewer are the last.
 */
RtbAnswer
rtb_connection_fetch(RtbConnection *c, const char *cursor, int fetch_size, const RtbRows *rows)
{
	char	   *fetch = psprintf("FETCH FORWARD %d FROM %s", fetch_size, quote_identifier(cursor));
	RtbAnswer	answer = rtb_connection_query(c, fetch, rows);

	pfree(fetch);
	return answer;
}

/*
 * rtb_connection_close_cursor
 *		Close a cursor: a round trip.
 */
void
rtb_connection_close_cursor(RtbConnection *c, const char *cursor)
{
	char	   *close = psprintf("CLOSE %s", quote_identifier(cursor));

	(void) rtb_connection_query(c, close, NULL);
	pfree(close);
}
