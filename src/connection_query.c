/*
 * connection_query.c
 *	  Statements over a connection, each sent and waited for.
 *
 * An answer is always read to its end before an error in it is thrown, so that
 * the connection can be used again.  Only an interrupt, and an error thrown by
 * whoever takes the rows, leave it busy: rtb_connection_recover is for that.
 *
 * Bytes are counted from the lengths of the protocol's messages, as its
 * description has them: one system call less than asking the kernel, and the
 * same over a socket of any kind.
 *
 * Memory: of libpq's results one is held at a time, of those that may be large
 * one row: see rtb_connection_expect.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "connection_private.h"

/* parse without name and text; bind without portal's and statement's names and values;
 * describe and execute of the unnamed portal; sync: with their terminating zeros */
#define PARSE_BYTES		(RTB_MESSAGE + 1 + 1 + 2)
#define BIND_BYTES		(RTB_MESSAGE + 1 + 1 + 2 + 2 + 4)
#define RUN_BYTES		((RTB_MESSAGE + 1 + 1) + (RTB_MESSAGE + 1 + 4))
#define SYNC_BYTES		RTB_MESSAGE

static int64
values_size(const RtbValues *values)
{
	int64		size = 0;

	for (int i = 0; values != NULL && i < values->n; i++)
		size += 4 + (values->values[i] != NULL ? strlen(values->values[i]) : 0);
	return size;
}

static int64
types_size(const RtbValues *values)
{
	return (values != NULL && values->types != NULL) ? 4 * (int64) values->n : 0;
}

/*
 * libpq has taken a statement, or not; so many bytes of it, and of what will
 * surely answer it beside its result.
 */
void
rtb_connection_sent(RtbConnection *c, int sent, int64 bytes, int64 answer_bytes)
{
	if (unlikely(sent != 1))
	{
		if (PQstatus(c->pg) != CONNECTION_OK)
			rtb_connection_lost(c);
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("could not send a statement over connection \"%s\"", c->name),
				 errdetail_internal("%s", rtb_connection_message(c))));
	}
	c->busy = true;
	rtb_connection_heard(c);
	c->traffic.bytes_sent += bytes;
	c->traffic.bytes_received += answer_bytes;
}

/*
 * The next result; NULL at the end of a statement's.
 */
PGresult *
rtb_connection_next(RtbConnection *c)
{
	while (PQisBusy(c->pg))
	{
		rtb_connection_wait(c, WL_SOCKET_READABLE);
		if (PQconsumeInput(c->pg) == 0)
			rtb_connection_lost(c);
	}
	return PQgetResult(c->pg);
}

static void
need_columns(RtbConnection *c, int ncolumns)
{
	if (likely(ncolumns <= c->ncolumns))
		return;
	c->values = MemoryContextAlloc(c->context, ncolumns * sizeof(char *));
	c->lengths = MemoryContextAlloc(c->context, ncolumns * sizeof(int));
	c->ncolumns = ncolumns;
}

static void
take_columns(RtbConnection *c, RtbReading *reading, PGresult *result)
{
	int			ncolumns = PQnfields(result);

	reading->described = true;
	need_columns(c, ncolumns);
	c->traffic.bytes_received += RTB_MESSAGE + 2;
	for (int i = 0; i < ncolumns; i++)
	{
		c->values[i] = PQfname(result, i);
		c->traffic.bytes_received += strlen(c->values[i]) + 1 + 18;
	}
	if (reading->rows != NULL && reading->rows->columns != NULL)
		reading->rows->columns(reading->rows->arg, ncolumns, c->values);
}

static void
take_rows(RtbConnection *c, RtbReading *reading, PGresult *result)
{
	const RtbRows *rows = reading->rows;
	int			nrows = PQntuples(result);
	int			ncolumns = PQnfields(result);
	int64		bytes = 0;

	if (!reading->described)
		take_columns(c, reading, result);
	for (int row = 0; row < nrows; row++)
	{
		bytes += RTB_MESSAGE + 2 + 4 * ncolumns;
		for (int i = 0; i < ncolumns; i++)
		{
			c->lengths[i] = PQgetlength(result, row, i);
			bytes += c->lengths[i];
			if (rows != NULL)
				c->values[i] = PQgetisnull(result, row, i) ? NULL : PQgetvalue(result, row, i);
		}
		if (rows != NULL)
			rows->row(rows->arg, ncolumns, c->values, c->lengths);
	}
	reading->answer.returned += nrows;
	reading->nrows += nrows;
	reading->bytes += bytes;
	c->traffic.bytes_received += bytes;
}

/*
 * Which statements tell that they have changed rows, and which do not say what
 * others have done for them.  A tag's first letter rules most out: this is read
 * for each statement.
 */
static void
read_tag(RtbConnection *c, RtbReading *reading, const char *tag, int64 rows)
{
	switch (tag[0])
	{
		case 'I':				/* INSERT, UPDATE: what else begins so has no rows */
		case 'U':
			c->traffic.changed |= rows > 0;
			break;
		case 'M':
			c->traffic.changed |= rows > 0 && strncmp(tag, "MERGE", 5) == 0;
			break;
		case 'C':
			c->traffic.changed |= rows > 0 && strncmp(tag, "COPY", 4) == 0;
			reading->answer.silent |= strcmp(tag, "CALL") == 0;
			break;
		case 'D':
			c->traffic.changed |= rows > 0 && strncmp(tag, "DELETE", 6) == 0;
			reading->answer.silent |= strcmp(tag, "DO") == 0;
			break;
		default:
			break;
	}
}

static void
complete(RtbConnection *c, RtbReading *reading, PGresult *result)
{
	const char *tag;
	int64		rows;

	if (unlikely(reading->nrows > RTB_MANY_ROWS || reading->bytes > RTB_MANY_BYTES) && reading->large != NULL)
		*reading->large = true;
	reading->nrows = reading->bytes = 0;
	reading->described = false;
	reading->answer.results++;
	if (reading->sent == RTB_SENT_PARSE)
		return;					/* nothing has been run */
	tag = PQcmdStatus(result);
	rows = strtoll(PQcmdTuples(result), NULL, 10);
	reading->answer.affected += rows;
	c->traffic.bytes_received += RTB_MESSAGE + strlen(tag) + 1;
	read_tag(c, reading, tag, rows);
}

/*
 * Rows of COPY TO STDOUT: counted, in portions as they come, and let go.
 */
static void
skip_copy_out(RtbConnection *c, PGresult *result)
{
	char	   *data;
	int			length;

	c->traffic.bytes_received += RTB_MESSAGE + 1 + 2 + 2 * PQnfields(result);
	while ((length = PQgetCopyData(c->pg, &data, 1)) >= 0)
	{
		if (length > 0)
		{
			c->traffic.bytes_received += RTB_MESSAGE + length;
			PQfreemem(data);
			continue;
		}
		rtb_connection_wait(c, WL_SOCKET_READABLE);
		if (PQconsumeInput(c->pg) == 0)
			rtb_connection_lost(c);
	}
	c->traffic.bytes_received += RTB_MESSAGE;
}

/*
 * Take one result, which is freed.
 */
void
rtb_connection_read_result(RtbConnection *c, RtbReading *reading, PGresult *result)
{
	c->result = result;
	switch (PQresultStatus(result))
	{
		case PGRES_SINGLE_TUPLE:
			take_rows(c, reading, result);
			break;
		case PGRES_TUPLES_OK:
			take_rows(c, reading, result);
			complete(c, reading, result);
			break;
		case PGRES_COMMAND_OK:
			if (reading->sent == RTB_SENT_EXECUTE)
				c->traffic.bytes_received += RTB_MESSAGE;	/* NoData */
			complete(c, reading, result);
			break;
		case PGRES_EMPTY_QUERY:
			reading->answer.results++;
			c->traffic.bytes_received += RTB_MESSAGE +
				(reading->sent == RTB_SENT_EXECUTE ? RTB_MESSAGE : 0);
			break;
		case PGRES_COPY_OUT:
			skip_copy_out(c, result);
			break;
		case PGRES_COPY_IN:
			/* what the far end answers would read like a cancelled query */
			c->refused_copy = true;
			(void) PQputCopyEnd(c->pg, "no rows");
			rtb_connection_flush(c);
			break;
		case PGRES_PIPELINE_ABORTED:
			break;				/* for the error before it */
		default:
			c->traffic.bytes_received += rtb_connection_report_size(result);
			if (c->error == NULL)
			{
				c->error = result;
				c->result = NULL;
				return;
			}
			break;
	}
	c->result = NULL;
	PQclear(result);
}

/*
 * An answer has been read to its end: count the trip, tell notices, throw the
 * error if there was one.
 */
void
rtb_connection_answered(RtbConnection *c)
{
	PGresult   *error = c->error;

	if (unlikely(PQstatus(c->pg) != CONNECTION_OK))
		rtb_connection_lost(c);
	c->busy = false;
	c->traffic.bytes_received += RTB_READY;
	rtb_connection_trip(c);
	if (unlikely(c->nnotices > 0))
		rtb_connection_tell_notices(c);
	if (unlikely(error != NULL))
		rtb_connection_throw(c);
	c->text = NULL;
}

/*
 * Read the answer to what has been sent outside a pipeline.
 */
RtbAnswer
rtb_connection_read_answer(RtbConnection *c, RtbSent sent, const RtbRows *rows)
{
	RtbReading	reading = {.sent = sent,.rows = rows};
	PGresult   *result;

	if (sent != RTB_SENT_PARSE)
		rtb_connection_take(c, &reading, &c->expected);
	rtb_connection_flush(c);
	while ((result = rtb_connection_next(c)) != NULL)
		rtb_connection_read_result(c, &reading, result);
	rtb_connection_answered(c);
	return reading.answer;
}

/*
 * rtb_connection_query
 *		One string by the simple protocol, of one statement or several.
 *
 * Throws the far end's error with its SQLSTATE, 08006 if the connection is
 * lost; so do all that follow here and in the other files.
 */
RtbAnswer
rtb_connection_query(RtbConnection *c, const char *text, const RtbRows *rows)
{
	rtb_connection_require_idle(c);
	c->text = text;
	rtb_connection_sent(c, PQsendQuery(c->pg, text), RTB_MESSAGE + strlen(text) + 1, 0);
	c->traffic.statements++;
	return rtb_connection_read_answer(c, RTB_SENT_QUERY, rows);
}

/*
 * A statement with values has been sent: wait for it, or for the batch to be
 * full.
 */
static RtbAnswer
run_or_queue(RtbConnection *c, const RtbRows *rows)
{
	c->traffic.statements++;
	if (c->batch == 0)
	{
		c->traffic.bytes_sent += SYNC_BYTES;
		return rtb_connection_read_answer(c, RTB_SENT_EXECUTE, rows);
	}
	c->text = NULL;
	rtb_connection_await(c);
	if (++c->queued == c->batch)
		return rtb_connection_pipeline_sync(c, rows);
	return (RtbAnswer) {0};
}

/*
 * rtb_connection_query_params
 *		One statement by the extended protocol, parsed each time.
 *
 * In a pipeline it is only sent; the answer is then that of the whole batch,
 * when this statement fills it, and empty otherwise.
 */
RtbAnswer
rtb_connection_query_params(RtbConnection *c, const char *text, const RtbValues *values,
							const RtbRows *rows)
{
	int			n = values != NULL ? values->n : 0;

	if (c->batch == 0)
		rtb_connection_require_idle(c);
	c->text = text;
	rtb_connection_sent(c,
						PQsendQueryParams(c->pg, text, n, n > 0 ? values->types : NULL,
										  n > 0 ? values->values : NULL, NULL, NULL, 0),
						PARSE_BYTES + strlen(text) + types_size(values) +
						BIND_BYTES + values_size(values) + RUN_BYTES,
						2 * RTB_MESSAGE);
	return run_or_queue(c, rows);
}

/*
 * rtb_connection_prepare
 *		Prepare a statement: a round trip of its own.  Of values only the types
 *		are looked at.
 */
void
rtb_connection_prepare(RtbConnection *c, const char *name, const char *text,
					   const RtbValues *values)
{
	rtb_connection_require_idle(c);
	c->text = text;
	rtb_connection_sent(c,
						PQsendPrepare(c->pg, name, text, values != NULL ? values->n : 0,
									  values != NULL ? values->types : NULL),
						PARSE_BYTES + strlen(name) + strlen(text) + types_size(values) + SYNC_BYTES,
						RTB_MESSAGE);
	(void) rtb_connection_read_answer(c, RTB_SENT_PARSE, NULL);
}

/*
 * rtb_connection_execute
 *		Run what rtb_connection_prepare has prepared; in a pipeline as
 *		rtb_connection_query_params.
 */
RtbAnswer
rtb_connection_execute(RtbConnection *c, const char *name, const RtbValues *values,
					   const RtbRows *rows)
{
	int			n = values != NULL ? values->n : 0;

	if (c->batch == 0)
		rtb_connection_require_idle(c);
	rtb_connection_sent(c,
						PQsendQueryPrepared(c->pg, name, n, n > 0 ? values->values : NULL,
											NULL, NULL, 0),
						BIND_BYTES + strlen(name) + values_size(values) + RUN_BYTES,
						RTB_MESSAGE);
	return run_or_queue(c, rows);
}
