/*
 * pass.c
 *	  Passes, findings and step times to and from flat messages.
 *
 * Both ends are processes of one server, so integers travel in network order
 * by pqformat's functions and nothing is versioned.  A string is its length,
 * -1 for NULL, and its bytes in the database's encoding.
 *
 * Memory: what is read is palloc'd in the current context.
 */
#include "postgres.h"

#include "pass.h"

#include "libpq/pqformat.h"

static void
write_string(StringInfo buf, const char *string)
{
	if (string == NULL)
	{
		pq_sendint32(buf, (uint32) -1);
		return;
	}
	pq_sendint32(buf, strlen(string));
	appendBinaryStringInfo(buf, string, strlen(string));
}

static char *
read_string(StringInfo buf)
{
	int32		length = (int32) pq_getmsgint(buf, 4);

	if (length < 0)
		return NULL;
	/* checks that so many bytes are left */
	return pnstrdup(pq_getmsgbytes(buf, length), length);
}

static bool
read_bool(StringInfo buf)
{
	return pq_getmsgbyte(buf) != 0;
}

static int32
read_int32(StringInfo buf)
{
	return (int32) pq_getmsgint(buf, 4);
}

/*
 * Append a pass to buf.  Throws only when memory runs out.
 */
void
rtb_pass_write(StringInfo buf, const RtbPass *pass)
{
	pq_sendbyte(buf, pass->kind);
	pq_sendint32(buf, pass->session);
	pq_sendint32(buf, pass->round);
	pq_sendint32(buf, pass->position);
	pq_sendbyte(buf, pass->control);
	pq_sendbyte(buf, pass->has_point);
	pq_sendint64(buf, pass->point);
	pq_sendint32(buf, pass->arm);

	pq_sendint64(buf, pass->elapsed_ns);
	pq_sendint64(buf, pass->cpu_ns);
	pq_sendint64(buf, pass->repetitions);
	pq_sendbyte(buf, pass->below_resolution);

	pq_sendint64(buf, pass->round_trips);
	pq_sendint64(buf, pass->bytes_sent);
	pq_sendint64(buf, pass->bytes_received);
	pq_sendint64(buf, pass->statements);
	pq_sendint64(buf, pass->fired);
	pq_sendint64(buf, pass->loop_queries);
	pq_sendint64(buf, pass->rows);
	pq_sendint64(buf, pass->plannings);
	pq_sendint64(buf, pass->buffers_hit);
	pq_sendint64(buf, pass->buffers_read);
	pq_sendint64(buf, pass->wal_records);
	pq_sendint64(buf, pass->wal_fpi);
	pq_sendint64(buf, pass->wal_bytes);
	pq_sendint64(buf, pass->xids);
	pq_sendint64(buf, pass->transactions);
	pq_sendint64(buf, pass->commit_ns);
	pq_sendint64(buf, pass->subxact_overflowed);
	pq_sendint64(buf, pass->updates);
	pq_sendint64(buf, pass->hot_updates);
	pq_sendint64(buf, pass->core);
	pq_sendint64(buf, pass->far_core);
	pq_sendint64(buf, pass->catalog_reads);
	write_string(buf, pass->plan_shape);
	write_string(buf, pass->fired_shape);

	write_string(buf, pass->digest);
	write_string(buf, pass->returned);

	write_string(buf, pass->sqlstate);
	write_string(buf, pass->message);
	write_string(buf, pass->hint);
	pq_sendint32(buf, pass->failed_step);
	pq_sendint64(buf, pass->failed_statement);
}

/*
 * Read a pass from buf's cursor, palloc'd in the current context.  Throws
 * ERRCODE_PROTOCOL_VIOLATION if the message ends too soon.
 */
RtbPass *
rtb_pass_read(StringInfo buf)
{
	RtbPass    *pass = palloc0(sizeof(RtbPass));

	pass->kind = pq_getmsgbyte(buf);
	pass->session = read_int32(buf);
	pass->round = read_int32(buf);
	pass->position = read_int32(buf);
	pass->control = read_bool(buf);
	pass->has_point = read_bool(buf);
	pass->point = pq_getmsgint64(buf);
	pass->arm = read_int32(buf);

	pass->elapsed_ns = pq_getmsgint64(buf);
	pass->cpu_ns = pq_getmsgint64(buf);
	pass->repetitions = pq_getmsgint64(buf);
	pass->below_resolution = read_bool(buf);

	pass->round_trips = pq_getmsgint64(buf);
	pass->bytes_sent = pq_getmsgint64(buf);
	pass->bytes_received = pq_getmsgint64(buf);
	pass->statements = pq_getmsgint64(buf);
	pass->fired = pq_getmsgint64(buf);
	pass->loop_queries = pq_getmsgint64(buf);
	pass->rows = pq_getmsgint64(buf);
	pass->plannings = pq_getmsgint64(buf);
	pass->buffers_hit = pq_getmsgint64(buf);
	pass->buffers_read = pq_getmsgint64(buf);
	pass->wal_records = pq_getmsgint64(buf);
	pass->wal_fpi = pq_getmsgint64(buf);
	pass->wal_bytes = pq_getmsgint64(buf);
	pass->xids = pq_getmsgint64(buf);
	pass->transactions = pq_getmsgint64(buf);
	pass->commit_ns = pq_getmsgint64(buf);
	pass->subxact_overflowed = pq_getmsgint64(buf);
	pass->updates = pq_getmsgint64(buf);
	pass->hot_updates = pq_getmsgint64(buf);
	pass->core = pq_getmsgint64(buf);
	pass->far_core = pq_getmsgint64(buf);
	pass->catalog_reads = pq_getmsgint64(buf);
	pass->plan_shape = read_string(buf);
	pass->fired_shape = read_string(buf);

	pass->digest = read_string(buf);
	pass->returned = read_string(buf);

	pass->sqlstate = read_string(buf);
	pass->message = read_string(buf);
	pass->hint = read_string(buf);
	pass->failed_step = read_int32(buf);
	pass->failed_statement = pq_getmsgint64(buf);
	return pass;
}

/* Append a finding to buf; as rtb_pass_write(). */
void
rtb_finding_write(StringInfo buf, const RtbFinding *finding)
{
	pq_sendbyte(buf, finding->kind);
	pq_sendbyte(buf, finding->has_point);
	pq_sendint64(buf, finding->point);
	pq_sendint32(buf, finding->arm);
	write_string(buf, finding->detail);
}

/* Read a finding; as rtb_pass_read(). */
RtbFinding *
rtb_finding_read(StringInfo buf)
{
	RtbFinding *finding = palloc0(sizeof(RtbFinding));

	finding->kind = pq_getmsgbyte(buf);
	finding->has_point = read_bool(buf);
	finding->point = pq_getmsgint64(buf);
	finding->arm = read_int32(buf);
	finding->detail = read_string(buf);
	return finding;
}

/* Append a step's times to buf; as rtb_pass_write(). */
void
rtb_step_time_write(StringInfo buf, const RtbStepTime *step)
{
	pq_sendbyte(buf, step->has_point);
	pq_sendint64(buf, step->point);
	pq_sendint32(buf, step->arm);
	pq_sendint32(buf, step->step);
	write_string(buf, step->statement);
	pq_sendint64(buf, step->calls);
	pq_sendint64(buf, step->first_ns);
	pq_sendint64(buf, step->second_ns);
	pq_sendint64(buf, step->third_ns);
	pq_sendint64(buf, step->later_ns);
	pq_sendint64(buf, step->prepare_ns);
	pq_sendint64(buf, step->custom_plans);
	pq_sendint64(buf, step->generic_plans);
	pq_sendint64(buf, step->custom_ns);
	pq_sendint64(buf, step->generic_ns);
}

/* Read a step's times; as rtb_pass_read(). */
RtbStepTime *
rtb_step_time_read(StringInfo buf)
{
	RtbStepTime *step = palloc0(sizeof(RtbStepTime));

	step->has_point = read_bool(buf);
	step->point = pq_getmsgint64(buf);
	step->arm = read_int32(buf);
	step->step = read_int32(buf);
	step->statement = read_string(buf);
	step->calls = pq_getmsgint64(buf);
	step->first_ns = pq_getmsgint64(buf);
	step->second_ns = pq_getmsgint64(buf);
	step->third_ns = pq_getmsgint64(buf);
	step->later_ns = pq_getmsgint64(buf);
	step->prepare_ns = pq_getmsgint64(buf);
	step->custom_plans = pq_getmsgint64(buf);
	step->generic_plans = pq_getmsgint64(buf);
	step->custom_ns = pq_getmsgint64(buf);
	step->generic_ns = pq_getmsgint64(buf);
	return step;
}
