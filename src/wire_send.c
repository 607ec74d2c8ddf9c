/*
 * wire_send.c
 *	  One statement of an arm, sent by the arm's protocol, and what comes back.
 *
 * A prepared statement is parsed at its first execution in a pass, or ever
 * where plans are kept, which is a round trip of its own.
 *
 * Memory: as in wire_arm_state.c.
 */
#include "postgres.h"

#include "wire_arm_private.h"

#include "utils/builtins.h"

#include "check.h"
#include "script.h"

/* ---- rows that come back ---- */

static void
returned_row(void *arg, int ncolumns, char **values, int *lengths)
{
	WireArm    *arm = arg;

	rtb_check_returned_text(arm->run->check, arm->run->with_row_hashes, ncolumns, values, lengths);
}

/*
 * An answer's rows are the pass's.  By autocommit it is also a transaction,
 * however many statements it answers: a text of several is one, and so is what
 * stands between two Syncs of a pipeline.  What a pipeline only sends has none.
 */
void
rtb_wire_count(WireArm *arm, RtbAnswer answer)
{
	if (answer.results > 0 && arm->arm->ending == RTB_ENDING_AUTOCOMMIT)
		arm->run->transactions++;
	arm->run->rows += Max(answer.affected, answer.returned);
	arm->run->rows_unknown |= answer.silent;
}

/* where returned rows go: *rows, or NULL if nobody wants them */
const RtbRows *
rtb_wire_receiver(WireArm *arm, RtbRows *rows)
{
	if (arm->run->check == NULL)
		return NULL;
	*rows = (RtbRows) {NULL, returned_row, arm};
	return rows;
}

/* ---- sending ---- */

/* a text with a row's values in it, as a client that knows no parameters writes it */
static void
append_text(StringInfo buf, const WireStatement *st, const WireStep *row)
{
	for (int i = 0; i < st->npieces; i++)
	{
		const WirePiece *piece = &st->pieces[i];
		const char *value;

		appendBinaryStringInfo(buf, piece->text, piece->length);
		if (piece->param == 0)
			continue;
		value = row->values[piece->param - 1];
		appendStringInfoString(buf, value ? quote_literal_cstr(value) : "NULL");
	}
}

/* what a pipeline or protocol multi has gathered is sent and waited for */
void
rtb_wire_flush(WireArm *arm)
{
	RtbRows		receiver;
	const RtbRows *rows = rtb_wire_receiver(arm, &receiver);

	if (arm->piped)
		rtb_wire_count(arm, rtb_connection_pipeline_end(rtb_wire, rows));
	arm->piped = false;
	if (arm->gathered > 0)
	{
		RtbAnswer	answer;

		rtb_wire_require_alike();
		rtb_connection_expect(rtb_wire, arm->ran, &arm->large);
		answer = rtb_connection_query(rtb_wire, arm->batch.data, rows);
		rtb_wire_count(arm, answer);
		if (answer.results != arm->gathered)
			ereport(ERROR,
					(errcode(ERRCODE_PROTOCOL_VIOLATION),
					 errmsg("%d statements were sent in one text, and %d answered", arm->gathered, answer.results)));
	}
	arm->gathered = 0;
	resetStringInfo(&arm->batch);
}

/* execute what was prepared; meanwhile an error may be that it is gone */
RtbAnswer
rtb_wire_execute(WireArm *arm, WireStatement *st, const RtbValues *values, const RtbRows *rows)
{
	RtbAnswer	answer;

	rtb_connection_expect(rtb_wire, arm->ran, &st->large);
	arm->executing = true;
	answer = rtb_connection_execute(rtb_wire, st->name, values, rows);
	arm->executing = false;
	return answer;
}

static void
send_prepared(WireArm *arm, WireStatement *st, const RtbValues *values, const RtbRows *rows,
			  bool pipelined)
{
	if (!st->prepared)
	{
		rtb_wire_flush(arm);
		rtb_wire_prepare(arm, st, values);
	}
	if (pipelined && !arm->piped)
		rtb_connection_pipeline_begin(rtb_wire, arm->batch_size);
	arm->piped = pipelined;
	/* in a pipeline the answer is that of the batch, when it is full */
	rtb_wire_count(arm, rtb_wire_execute(arm, st, values, rows));
}

/* does a client read it by portions?  A cursor needs a transaction. */
bool
rtb_wire_fetches(const WireArm *arm, const WireStatement *st)
{
	return arm->fetch_size > 0 && st->is_query &&
		(arm->in_block || arm->arm->ending == RTB_ENDING_ROLLBACK);
}

/* read a query by a cursor, a round trip for each portion */
RtbAnswer
rtb_wire_fetch(WireArm *arm, WireStatement *st, const RtbValues *values, const RtbRows *rows)
{
	RtbAnswer	sum = {0};
	RtbAnswer	answer;

	rtb_wire_require_alike();
	rtb_connection_expect(rtb_wire, arm->ran, &st->large);
	rtb_connection_declare(rtb_wire, "rtbench_cursor", st->text, values);
	do
	{
		answer = rtb_connection_fetch(rtb_wire, "rtbench_cursor", arm->fetch_size, rows);
		sum.returned += answer.returned;
		arm->run->control++;
	}
	while (answer.returned == arm->fetch_size);
	rtb_connection_close_cursor(rtb_wire, "rtbench_cursor");
	arm->run->control++;
	return sum;
}

/* one statement, by the protocol; statements that control transactions are sent at once */
void
rtb_wire_send(WireArm *arm, WireStatement *st, int nparams, const WireStep *row)
{
	RtbValues	values = {nparams, NULL, row ? (const char *const *) row->values : NULL};
	RtbRows		receiver;
	const RtbRows *rows = rtb_wire_receiver(arm, &receiver);
	StringInfoData text;

	arm->run->statement_no++;
	if (rtb_wire_fetches(arm, st))
	{
		rtb_wire_flush(arm);
		rtb_wire_count(arm, rtb_wire_fetch(arm, st, &values, rows));
		return;
	}
	switch (arm->protocol)
	{
		case RTB_PROTOCOL_UNSET:
		case RTB_PROTOCOL_PREPARED:
			send_prepared(arm, st, &values, rows, false);
			break;
		case RTB_PROTOCOL_PIPELINE:
			send_prepared(arm, st, &values, rows, true);
			break;
		case RTB_PROTOCOL_EXTENDED:
			rtb_connection_expect(rtb_wire, arm->ran, &st->large);
			rtb_wire_count(arm, rtb_connection_query_params(rtb_wire, st->text, &values, rows));
			break;
		case RTB_PROTOCOL_SIMPLE:
			rtb_wire_require_alike();
			rtb_connection_expect(rtb_wire, arm->ran, &st->large);
			if (nparams == 0)
			{
				rtb_wire_count(arm, rtb_connection_query(rtb_wire, st->text, rows));
				break;
			}
			initStringInfo(&text);
			append_text(&text, st, row);
			rtb_wire_count(arm, rtb_connection_query(rtb_wire, text.data, rows));
			break;
		case RTB_PROTOCOL_MULTI:
			append_text(&arm->batch, st, row);
			appendStringInfoString(&arm->batch, st->has_comment ? "\n;" : ";");
			if (++arm->gathered >= arm->batch_size)
				rtb_wire_flush(arm);
			break;
		case RTB_PROTOCOL_COPY: /* no arm's: rtb_protocol_read() */
			elog(ERROR, "unexpected protocol");
	}
}

/*
 * A text of several statements, as one message, by whatever protocol: only the
 * simple one has such messages.
 */
void
rtb_wire_send_text(WireArm *arm, WireStep *step)
{
	RtbRows		receiver;

	arm->run->statement_no += step->nstatements;
	if (arm->protocol != RTB_PROTOCOL_MULTI)
	{
		rtb_wire_flush(arm);
		rtb_wire_require_alike();
		rtb_connection_expect(rtb_wire, arm->ran, &step->large);
		rtb_wire_count(arm, rtb_connection_query(rtb_wire, step->step->text, rtb_wire_receiver(arm, &receiver)));
		return;
	}
	appendStringInfo(&arm->batch, "%s\n;", step->step->text);
	arm->gathered += step->nstatements;
	if (arm->gathered >= arm->batch_size)
		rtb_wire_flush(arm);
}

/*
 * Can a generated text stand before others in one message?  It must be one
 * statement, as many results are waited for as texts were gathered, and nothing
 * of it may swallow the next: a quote without its end would turn what follows
 * inside out.  Many texts show that without being scanned, which takes time
 * inside the clock; scanning throws where something has no end.  Semicolons at
 * its end do no harm: what stands between two of them is nothing, and nothing
 * answers it.
 */
static bool
is_one_statement(const char *text)
{
	int			ntokens;
	RtbToken   *tokens;
	bool		ended = false;

	if (strpbrk(text, ";'\"$") == NULL && strstr(text, "--") == NULL && strstr(text, "/*") == NULL)
		return text[strspn(text, " \t\n\r\f\v")] != '\0';
	tokens = rtb_script_tokens(text, &ntokens);
	for (int i = 0; i < ntokens; i++)
	{
		if (ended && tokens[i].code != ';')
			return false;
		ended |= tokens[i].code == ';';
	}
	return ntokens > 0 && tokens[0].code != ';';
}

/*
 * A text that a query has generated, without parameters.  Protocol multi gathers
 * those of one statement; all others are a message of their own, as only the
 * simple protocol takes any text.
 */
void
rtb_wire_send_generated(WireArm *arm, WireStep *step, const char *text)
{
	RtbRows		receiver;

	if (arm->protocol == RTB_PROTOCOL_MULTI && is_one_statement(text))
	{
		appendStringInfo(&arm->batch, "%s\n;", text);
		if (++arm->gathered >= arm->batch_size)
			rtb_wire_flush(arm);
		return;
	}
	rtb_wire_flush(arm);
	rtb_connection_expect(rtb_wire, arm->ran, &step->large);
	rtb_wire_count(arm, rtb_connection_query(rtb_wire, text, rtb_wire_receiver(arm, &receiver)));
}

/* what controls transactions: at once, whatever the protocol */
void
rtb_wire_send_control(WireArm *arm, const char *text)
{
	rtb_wire_flush(arm);
	(void) rtb_connection_query(rtb_wire, text, NULL);
}
