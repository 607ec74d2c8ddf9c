/*
 * run_message.c
 *	  A whole run as a message body, and back.
 *
 * For the one case in which another process keeps the run: the caller's
 * transaction is about to be rolled back.  What is read lies in the current
 * memory context.
 */
#include "postgres.h"

#include "run_message.h"

#include "message_text.h"

static void
write_texts(StringInfo buf, List *texts)
{
	ListCell   *lc;

	pq_sendint32(buf, list_length(texts));
	foreach(lc, texts)
		rtb_send_text(buf, lfirst(lc));
}

static List *
read_texts(StringInfo buf)
{
	List	   *texts = NIL;

	for (int n = pq_getmsgint(buf, 4); n > 0; n--)
		texts = lappend(texts, rtb_get_text(buf));
	return texts;
}

static void
write_jsonb(StringInfo buf, const Jsonb *jb)
{
	pq_sendint32(buf, jb ? (int) VARSIZE(jb) : 0);
	if (jb)
		pq_sendbytes(buf, (const char *) jb, VARSIZE(jb));
}

static Jsonb *
read_jsonb(StringInfo buf)
{
	int			size = pq_getmsgint(buf, 4);
	Jsonb	   *jb;

	if (size == 0)
		return NULL;
	jb = palloc(size);
	memcpy(jb, pq_getmsgbytes(buf, size), size);
	return jb;
}

/*
 * rtb_run_write
 *		Append a run with its passes, findings and steps to a message body.
 *		Texts are raw bytes: both ends are backends of one database.
 */
void
rtb_run_write(StringInfo buf, const RtbRun *run)
{
	ListCell   *lc;

	pq_sendint64(buf, run->run);
	pq_sendint64(buf, run->together);
	rtb_send_text(buf, run->server);
	rtb_send_text(buf, run->label);
	rtb_send_text(buf, run->scenario);
	rtb_send_text(buf, run->transport);
	rtb_send_text(buf, run->scope);
	write_texts(buf, run->arms);
	write_texts(buf, run->descriptions);
	pq_sendint32(buf, list_length(run->points));
	foreach(lc, run->points)
		pq_sendint64(buf, *(int64 *) lfirst(lc));
	rtb_send_text(buf, run->swept);
	pq_sendint32(buf, run->baseline);
	pq_sendfloat8(buf, run->margin);
	pq_sendint64(buf, run->max_time_us);
	pq_sendint64(buf, run->seed);
	pq_sendint64(buf, run->started_at);
	pq_sendint64(buf, run->finished_at);
	pq_sendbyte(buf, run->complete);
	rtb_send_text(buf, run->server_version);
	write_jsonb(buf, run->options);
	write_jsonb(buf, run->settings);
	write_jsonb(buf, run->machine);
	write_jsonb(buf, run->documents);
	pq_sendint32(buf, list_length(run->passes));
	foreach(lc, run->passes)
		rtb_pass_write(buf, lfirst(lc));
	pq_sendint32(buf, list_length(run->findings));
	foreach(lc, run->findings)
		rtb_finding_write(buf, lfirst(lc));
	pq_sendint32(buf, list_length(run->steps));
	foreach(lc, run->steps)
		rtb_step_time_write(buf, lfirst(lc));
}

/*
 * rtb_run_read
 *		The run that rtb_run_write() appended; throws on a malformed body.
 */
RtbRun *
rtb_run_read(StringInfo buf)
{
	RtbRun	   *run = palloc0(sizeof(RtbRun));

	run->run = pq_getmsgint64(buf);
	run->together = pq_getmsgint64(buf);
	run->server = rtb_get_text(buf);
	run->label = rtb_get_text(buf);
	run->scenario = rtb_get_text(buf);
	run->transport = rtb_get_text(buf);
	run->scope = rtb_get_text(buf);
	run->arms = read_texts(buf);
	run->descriptions = read_texts(buf);
	for (int n = pq_getmsgint(buf, 4); n > 0; n--)
	{
		int64	   *point = palloc(sizeof(int64));

		*point = pq_getmsgint64(buf);
		run->points = lappend(run->points, point);
	}
	run->swept = rtb_get_text(buf);
	run->baseline = pq_getmsgint(buf, 4);
	run->margin = pq_getmsgfloat8(buf);
	run->max_time_us = pq_getmsgint64(buf);
	run->seed = pq_getmsgint64(buf);
	run->started_at = pq_getmsgint64(buf);
	run->finished_at = pq_getmsgint64(buf);
	run->complete = pq_getmsgbyte(buf);
	run->server_version = rtb_get_text(buf);
	run->options = read_jsonb(buf);
	run->settings = read_jsonb(buf);
	run->machine = read_jsonb(buf);
	run->documents = read_jsonb(buf);
	for (int n = pq_getmsgint(buf, 4); n > 0; n--)
		run->passes = lappend(run->passes, rtb_pass_read(buf));
	for (int n = pq_getmsgint(buf, 4); n > 0; n--)
		run->findings = lappend(run->findings, rtb_finding_read(buf));
	for (int n = pq_getmsgint(buf, 4); n > 0; n--)
		run->steps = lappend(run->steps, rtb_step_time_read(buf));
	return run;
}
