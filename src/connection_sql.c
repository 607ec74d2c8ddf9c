/*
 * connection_sql.c
 *	  rtbench.ask(): what a statement costs over a connection, there and now.
 *
 * Memory: the function's own context; the connection is closed before it
 * returns, and by the transaction's end otherwise.
 */
#include "postgres.h"

#include <math.h>
#include <time.h>

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/builtins.h"

#include "connection_ask.h"
#include "result_row.h"

PG_FUNCTION_INFO_V1(rtb_ask);

#define CURSOR	"rtbench_cursor"
#define MAX_BATCH	1000000
#define DIGITS		4			/* of a time */
#define RECOVER_TIME	500		/* ms for the far end to end what an error here has left */

typedef struct AskArguments
{
	char	   *statement;
	char	   *transport;
	char	   *server;			/* or NULL */
	RtbProtocol protocol;
	int64		times;
	int			batch;
	int			fetch_size;		/* 0: none */
	char	   *copy_row;		/* or NULL */
	double		round_trip_ms;
	bool		transaction;
} AskArguments;

static void
require(bool good, const char *what, const char *hint)
{
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg_internal("%s", what),
				 errhint("%s", hint)));
}

/* an argument's text; error if it is null */
static char *
text_argument(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name)));
	return text_to_cstring(PG_GETARG_TEXT_PP(n));
}

static void
read_arguments(FunctionCallInfo fcinfo, AskArguments *a)
{
	a->statement = text_argument(fcinfo, 0, "statement");
	a->transport = text_argument(fcinfo, 1, "transport");
	a->server = PG_ARGISNULL(2) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(2));
	a->protocol = rtb_protocol_read(text_argument(fcinfo, 3, "protocol"), true);
	a->times = PG_ARGISNULL(4) ? 0 : PG_GETARG_INT32(4);
	a->batch = PG_ARGISNULL(5) ? 0 : PG_GETARG_INT32(5);
	a->fetch_size = PG_ARGISNULL(6) ? 0 : PG_GETARG_INT32(6);
	a->copy_row = PG_ARGISNULL(7) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(7));
	a->round_trip_ms = PG_ARGISNULL(8) ? 0 : PG_GETARG_FLOAT8(8);
	a->transaction = PG_ARGISNULL(9) || PG_GETARG_BOOL(9);

	require(a->server != NULL || rtb_target_is_loopback(a->transport),
			psprintf("transport \"%s\" is no connection", a->transport),
			"Valid transports are unix, tcp and tls; or name a foreign server: server => '...'.");
	require(a->times >= 1, "times must be 1 or more", "It is the number of executions.");
	require(a->batch >= 1 && a->batch <= MAX_BATCH, "batch must be from 1 to 1000000",
			"It is the number of statements sent together by the protocols pipeline and multi.");
	require(PG_ARGISNULL(6) || a->fetch_size >= 1, "fetch_size must be 1 or more",
			"It is the number of rows that one round trip fetches from a cursor.");
	require(a->fetch_size == 0 || a->protocol == RTB_PROTOCOL_SIMPLE, "fetch_size needs protocol simple",
			"Say protocol => 'simple': cursors are opened, fetched and closed by statements.");
	require(a->fetch_size == 0 || a->transaction, "fetch_size needs a transaction",
			"A cursor ends with its transaction.");
	require(a->protocol != RTB_PROTOCOL_COPY || a->copy_row != NULL, "protocol copy needs copy_row",
			"It is a row in COPY's text format; :n in it is the number of the row.");
	require(a->round_trip_ms >= 0 && a->round_trip_ms <= 60000, "round_trip_ms must be from 0 to 60000",
			"It is waited after each round trip, in milliseconds.");
	require(a->round_trip_ms == 0 || a->round_trip_ms >= 0.001, "round_trip_ms must be 0, or 0.001 or more",
			"A microsecond is the shortest wait.");
}

/*
 * The statement as a cursor's query, all rows fetched.
 */
static RtbAnswer
run_cursor(RtbConnection *c, const AskArguments *a)
{
	RtbAnswer	sum = {0};
	bool		large = false;

	for (int64 i = 0; i < a->times; i++)
	{
		RtbAnswer	answer;

		rtb_connection_expect(c, i > 0, &large);
		rtb_connection_declare(c, CURSOR, a->statement, NULL);
		do
		{
			answer = rtb_connection_fetch(c, CURSOR, a->fetch_size, NULL);
			sum.returned += answer.returned;
			sum.results += answer.results;
		} while (answer.returned == a->fetch_size);
		rtb_connection_close_cursor(c, CURSOR);
	}
	rtb_connection_expect(c, false, NULL);
	return sum;
}

static Datum
ask_result(FunctionCallInfo fcinfo, RtbConnection *c, const AskArguments *a, RtbAnswer answer,
		   const RtbTraffic *traffic, double microseconds, double cpu_microseconds,
		   const RtbDelivered *delivered)
{
	TupleDesc	desc;
	RtbRow		row = {0};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	rtb_row_add_bigint(&row, answer.returned);
	rtb_row_add_bigint(&row, answer.affected);
	rtb_row_add_bigint(&row, traffic->statements);
	rtb_row_add_bigint(&row, traffic->round_trips);
	rtb_row_add_bigint(&row, traffic->bytes_sent);
	rtb_row_add_bigint(&row, traffic->bytes_received);
	rtb_row_add_bigint(&row, traffic->notices);
	rtb_row_add_significant(&row, microseconds / a->times, DIGITS);
	rtb_row_add_significant(&row, cpu_microseconds / a->times, DIGITS);
	rtb_row_add_significant(&row, delivered->waits > 0 ? delivered->delivered_ns / 1e6 / delivered->waits : NAN, DIGITS);
	rtb_row_add_text(&row, rtb_connection_parameter(c, "server_version"));
	rtb_row_add_text(&row, rtb_connection_tls(c));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), row.values, row.nulls));
}

/* microseconds of processor time that this process has used */
static double
own_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

/*
 * Ask, between BEGIN and ROLLBACK if it is to be a transaction, and make the
 * result.
 */
static Datum
run_ask(FunctionCallInfo fcinfo, RtbConnection *c, const AskArguments *a)
{
	RtbAsk	   *ask = NULL;
	RtbAnswer	answer;
	const RtbTraffic *traffic;
	RtbDistance *distance;
	instr_time	start;
	instr_time	took;
	double		cpu;
	Datum		result;

	if (a->transaction)
		(void) rtb_connection_query(c, "BEGIN", NULL);
	if (a->fetch_size == 0)
		ask = rtb_ask_create(c, a->statement, a->protocol, a->batch, a->copy_row);
	distance = rtb_distance_create(a->round_trip_ms, true);
	rtb_connection_distance(c, distance);

	rtb_connection_begin_pass(c);
	cpu = own_cpu();
	INSTR_TIME_SET_CURRENT(start);
	answer = ask != NULL ? rtb_ask_run(ask, 1, a->times) : run_cursor(c, a);
	INSTR_TIME_SET_CURRENT(took);
	cpu = own_cpu() - cpu;
	traffic = rtb_connection_end_pass(c);

	INSTR_TIME_SUBTRACT(took, start);
	result = ask_result(fcinfo, c, a, answer, traffic, INSTR_TIME_GET_DOUBLE(took) * 1e6, cpu,
						rtb_distance_delivered(distance));
	rtb_connection_distance(c, NULL);
	rtb_distance_free(distance);
	if (ask != NULL)
		rtb_ask_finish(ask);
	if (a->transaction)
		(void) rtb_connection_query(c, "ROLLBACK", NULL);
	return result;
}

/*
 * rtbench.ask(statement, transport, server, protocol, times, ...)
 */
Datum
rtb_ask(PG_FUNCTION_ARGS)
{
	AskArguments a;
	RtbConnection *c;
	Datum		result;

	read_arguments(fcinfo, &a);
	c = rtb_connection_open(a.server != NULL ? rtb_target_server(a.server) :
							rtb_target_loopback(a.transport));
	PG_TRY();
	{
		result = run_ask(fcinfo, c, &a);
	}
	PG_CATCH();
	{
		/* an end that the far side is told of, rather than a cut */
		if (rtb_connection_recover(c, RECOVER_TIME))
			ereport(DEBUG1,
					(errmsg_internal("connection \"%s\" is idle again", a.server != NULL ? a.server : a.transport)));
		rtb_connection_close(c);
		PG_RE_THROW();
	}
	PG_END_TRY();
	rtb_connection_close(c);
	return result;
}
