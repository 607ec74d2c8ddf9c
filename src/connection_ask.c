/*
 * connection_ask.c
 *	  One statement, sent over a connection again and again by one protocol.
 *
 * :n in the statement is the number of the execution: a literal where the
 * protocol has no parameters, $1 where it has.
 *
 * Memory: an RtbAsk and its buffer lie in the context that is current when it
 * is made; running it allocates nothing else.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/builtins.h"

#include "connection_ask.h"
#include "reference.h"
#include "script.h"

#define NUMBER	"n"				/* the only parameter */

struct RtbAsk
{
	RtbConnection *c;
	RtbProtocol protocol;
	int			batch;
	const char *statement;		/* as it is sent, where it is always the same */
	int			npieces;		/* 1: the number is not in it */
	char	  **pieces;			/* between them stands the number */
	bool		has_comment;
	char		name[32];		/* prepared under */
	bool		asked;			/* before: its results are small, or: */
	bool		large;			/* one of them was */
	StringInfoData text;
};

/*
 * Cut a statement where the number stands in it.
 */
static void
cut_statement(RtbAsk *ask, const char *statement)
{
	int			ntokens;
	RtbToken   *tokens = rtb_script_tokens(statement, &ntokens);
	int			done = 0;

	ask->pieces = palloc((ntokens + 1) * sizeof(char *));
	for (int t = 0; t + 1 < ntokens; t++)
	{
		RtbReference ref;

		if (tokens[t].code != ':' || !rtb_reference_read(statement, &tokens[t], &ref))
			continue;
		if (ref.style != 0 || strcmp(ref.name, NUMBER) != 0)
			rtb_reference_unknown(statement, &ref, list_make1(NUMBER));
		rtb_reference_check_alone(statement, &ref, &tokens[t + 1]);
		ask->pieces[ask->npieces++] = pnstrdup(statement + done, ref.start - done);
		done = ref.end;
	}
	ask->pieces[ask->npieces++] = pstrdup(statement + done);
}

/*
 * The same of a row of COPY, which is no SQL: wherever :n stands.
 */
static void
cut_row(RtbAsk *ask, const char *row)
{
	const char *number;

	ask->pieces = palloc((strlen(row) / 2 + 1) * sizeof(char *));
	while ((number = strstr(row, ":" NUMBER)) != NULL)
	{
		ask->pieces[ask->npieces++] = pnstrdup(row, number - row);
		row = number + 2;
	}
	ask->pieces[ask->npieces++] = psprintf("%s\n", row);
}

static void
append_filled(RtbAsk *ask, const char *number)
{
	appendStringInfoString(&ask->text, ask->pieces[0]);
	for (int i = 1; i < ask->npieces; i++)
	{
		appendStringInfoString(&ask->text, number);
		appendStringInfoString(&ask->text, ask->pieces[i]);
	}
}

/*
 * Through a pooler the session there is another client's before and after:
 * names must not meet, and their length must not make bytes differ.
 */
static void
prepare(RtbAsk *ask)
{
	uint64		random;

	if (!pg_strong_random(&random, sizeof(random)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	snprintf(ask->name, sizeof(ask->name), "rtb_%016llx", (unsigned long long) random);
	rtb_connection_prepare(ask->c, ask->name, ask->statement, NULL);
}

/*
 * rtb_ask_create
 *		Get ready to send; what is prepared is prepared now.  batch is of
 *		pipelines and multi; copy_row of copy, a row in its text format.
 */
RtbAsk *
rtb_ask_create(RtbConnection *c, const char *statement, RtbProtocol protocol, int batch,
			   const char *copy_row)
{
	RtbAsk	   *ask = palloc0(sizeof(RtbAsk));

	ask->c = c;
	ask->protocol = protocol;
	ask->batch = batch;
	initStringInfo(&ask->text);
	ask->statement = statement;
	ask->has_comment = strstr(statement, "--") != NULL;
	if (protocol == RTB_PROTOCOL_COPY)
		cut_row(ask, copy_row);
	else
		cut_statement(ask, statement);

	if (protocol == RTB_PROTOCOL_EXTENDED || protocol == RTB_PROTOCOL_PREPARED || protocol == RTB_PROTOCOL_PIPELINE)
	{
		append_filled(ask, "$1");
		ask->statement = pstrdup(ask->text.data);
	}
	if (protocol == RTB_PROTOCOL_PREPARED || protocol == RTB_PROTOCOL_PIPELINE)
		prepare(ask);
	return ask;
}

static void
add_answer(RtbAnswer *sum, RtbAnswer answer)
{
	sum->returned += answer.returned;
	sum->affected += answer.affected;
	sum->results += answer.results;
}

/* how the results of the next message will be: nothing is known of the first */
static void
expect(RtbAsk *ask)
{
	rtb_connection_expect(ask->c, ask->asked, &ask->large);
	ask->asked = true;
}

/* whole batches, each in one string; of the rest one that is smaller */
static RtbAnswer
run_multi(RtbAsk *ask, int64 first, int64 times)
{
	RtbAnswer	sum = {0};
	char		number[MAXINT8LEN + 1];

	for (int64 done = 0; done < times;)
	{
		int64		end = Min(done + ask->batch, times);

		resetStringInfo(&ask->text);
		for (; done < end; done++)
		{
			CHECK_FOR_INTERRUPTS();
			pg_lltoa(first + done, number);
			append_filled(ask, number);
			/* a comment to the end of the line must not take the next one */
			appendStringInfoString(&ask->text, ask->has_comment ? "\n;" : ";");
		}
		expect(ask);
		add_answer(&sum, rtb_connection_query(ask->c, ask->text.data, NULL));
	}
	return sum;
}

static RtbAnswer
run_copy(RtbAsk *ask, int64 first, int64 times)
{
	char		number[MAXINT8LEN + 1];

	rtb_connection_copy_begin(ask->c, ask->statement);
	for (int64 i = 0; i < times; i++)
	{
		CHECK_FOR_INTERRUPTS();
		resetStringInfo(&ask->text);
		pg_lltoa(first + i, number);
		append_filled(ask, number);
		rtb_connection_copy_data(ask->c, ask->text.data, ask->text.len);
	}
	return rtb_connection_copy_end(ask->c);
}

static RtbAnswer
run_parameterised(RtbAsk *ask, int64 first, int64 times)
{
	RtbAnswer	sum = {0};
	char		number[MAXINT8LEN + 1];
	const char *value = number;
	const RtbValues values = {.n = ask->npieces > 1 ? 1 : 0,.values = &value};

	for (int64 i = 0; i < times; i++)
	{
		/* what a pipeline takes may be sent much later */
		CHECK_FOR_INTERRUPTS();
		pg_lltoa(first + i, number);
		expect(ask);
		if (ask->protocol == RTB_PROTOCOL_EXTENDED)
			add_answer(&sum, rtb_connection_query_params(ask->c, ask->statement, &values, NULL));
		else
			add_answer(&sum, rtb_connection_execute(ask->c, ask->name, &values, NULL));
	}
	return sum;
}

static RtbAnswer
run_simple(RtbAsk *ask, int64 first, int64 times)
{
	RtbAnswer	sum = {0};
	char		number[MAXINT8LEN + 1];

	for (int64 i = 0; i < times; i++)
	{
		resetStringInfo(&ask->text);
		pg_lltoa(first + i, number);
		append_filled(ask, number);
		expect(ask);
		add_answer(&sum, rtb_connection_query(ask->c, ask->text.data, NULL));
	}
	return sum;
}

static RtbAnswer
run_protocol(RtbAsk *ask, int64 first, int64 times)
{
	RtbAnswer	sum;

	switch (ask->protocol)
	{
		case RTB_PROTOCOL_SIMPLE:
			return run_simple(ask, first, times);
		case RTB_PROTOCOL_MULTI:
			return run_multi(ask, first, times);
		case RTB_PROTOCOL_COPY:
			return run_copy(ask, first, times);
		case RTB_PROTOCOL_PIPELINE:
			rtb_connection_pipeline_begin(ask->c, ask->batch);
			sum = run_parameterised(ask, first, times);
			add_answer(&sum, rtb_connection_pipeline_end(ask->c, NULL));
			return sum;
		default:
			return run_parameterised(ask, first, times);
	}
}

/*
 * rtb_ask_run
 *		Send it so many times, numbered from first; the answers' sum.
 */
RtbAnswer
rtb_ask_run(RtbAsk *ask, int64 first, int64 times)
{
	RtbAnswer	sum = run_protocol(ask, first, times);

	rtb_connection_expect(ask->c, false, NULL);
	return sum;
}

/*
 * rtb_ask_finish
 *		Give back what was prepared, in the transaction in which it was: behind
 *		a transaction pooler there may be another session after it.
 */
void
rtb_ask_finish(RtbAsk *ask)
{
	char		deallocate[sizeof(ask->name) + 16];

	if (ask->name[0] == '\0')
		return;
	snprintf(deallocate, sizeof(deallocate), "DEALLOCATE %s", ask->name);
	(void) rtb_connection_query(ask->c, deallocate, NULL);
	ask->name[0] = '\0';
}
