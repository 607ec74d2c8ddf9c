/*
 * point_message.c
 *	  What a session found out about a point, for another session.
 *
 * The pilot discovers what the arms write and how sameness is checked; later
 * sessions, in fresh processes, run their passes on the same terms.
 */
#include "postgres.h"

#include "point_message.h"

#include "message_text.h"
#include "written.h"

static void
write_relation(StringInfo buf, const RtbRelation *rel, bool vacuumed)
{
	pq_sendint32(buf, rel->relid);
	pq_sendbyte(buf, rel->relkind);
	pq_sendbyte(buf, rel->scratch);
	pq_sendbyte(buf, rel->temporary);
	pq_sendbyte(buf, rel->owned);
	pq_sendbyte(buf, vacuumed);
	rtb_send_text(buf, rel->name);
	rtb_send_text(buf, rel->label);
	rtb_send_text(buf, rel->columns);
	rtb_send_text(buf, rel->unreadable);
	pq_sendint64(buf, rel->bytes);
	pq_sendfloat8(buf, rel->tuples);
}

static RtbRelation *
read_relation(StringInfo buf, bool *vacuumed)
{
	RtbRelation *rel = palloc0(sizeof(RtbRelation));

	rel->relid = pq_getmsgint(buf, 4);
	rel->relkind = pq_getmsgbyte(buf);
	rel->scratch = pq_getmsgbyte(buf);
	rel->temporary = pq_getmsgbyte(buf);
	rel->owned = pq_getmsgbyte(buf);
	*vacuumed = pq_getmsgbyte(buf);
	rel->name = rtb_get_text(buf);
	rel->label = rtb_get_text(buf);
	rel->columns = rtb_get_text(buf);
	rel->unreadable = rtb_get_text(buf);
	rel->bytes = pq_getmsgint64(buf);
	rel->tuples = pq_getmsgfloat8(buf);
	return rel;
}

/*
 * rtb_point_write
 *		Append what was found out about a point.
 */
void
rtb_point_write(StringInfo buf, const RtbPoint *point)
{
	ListCell   *lc;

	rtb_send_text(buf, point->fixture.schema);
	rtb_send_text(buf, point->fixture.path);
	pq_sendint32(buf, list_length(point->fixture.sequences));
	foreach(lc, point->fixture.sequences)
	{
		const RtbSequence *seq = lfirst(lc);

		pq_sendint32(buf, seq->relid);
		rtb_send_text(buf, seq->name);
		pq_sendint64(buf, seq->last_value);
		pq_sendbyte(buf, seq->is_called);
	}
	pq_sendint32(buf, list_length(point->written));
	foreach(lc, point->written)
		write_relation(buf, lfirst(lc), list_member_ptr(point->vacuumed, lfirst(lc)));
	pq_sendbyte(buf, point->commits);
	pq_sendint32(buf, list_length(point->state));
	foreach(lc, point->state)
	{
		rtb_send_text(buf, ((RtbTableState *) lfirst(lc))->label);
		rtb_send_text(buf, ((RtbTableState *) lfirst(lc))->digest);
	}
	pq_sendbyte(buf, point->sequences_advanced);
	pq_sendbyte(buf, point->catalogs_change);
	pq_sendbyte(buf, point->check_mode);
	pq_sendbyte(buf, point->check_returned);
	pq_sendint64(buf, point->check_ns);
	for (int i = 0; i < point->narms; i++)
		pq_sendbyte(buf, point->failed[i]);
}

/*
 * rtb_point_read
 *		Take it over into a point that has its work; in the current context.
 */
void
rtb_point_read(StringInfo buf, RtbPoint *point)
{
	point->fixture.schema = rtb_get_text(buf);
	point->fixture.path = rtb_get_text(buf);
	for (int n = pq_getmsgint(buf, 4); n > 0; n--)
	{
		RtbSequence *seq = palloc0(sizeof(RtbSequence));

		seq->relid = pq_getmsgint(buf, 4);
		seq->name = rtb_get_text(buf);
		seq->last_value = pq_getmsgint64(buf);
		seq->is_called = pq_getmsgbyte(buf);
		point->fixture.sequences = lappend(point->fixture.sequences, seq);
	}
	for (int n = pq_getmsgint(buf, 4); n > 0; n--)
	{
		bool		vacuumed;
		RtbRelation *rel = read_relation(buf, &vacuumed);

		point->written = lappend(point->written, rel);
		if (vacuumed)
			point->vacuumed = lappend(point->vacuumed, rel);
	}
	point->commits = pq_getmsgbyte(buf);
	for (int n = pq_getmsgint(buf, 4); n > 0; n--)
	{
		RtbTableState *state = palloc0(sizeof(RtbTableState));

		state->label = rtb_get_text(buf);
		state->digest = rtb_get_text(buf);
		point->state = lappend(point->state, state);
	}
	point->sequences_advanced = pq_getmsgbyte(buf);
	point->catalogs_change = pq_getmsgbyte(buf);
	point->check_mode = pq_getmsgbyte(buf);
	point->check_returned = pq_getmsgbyte(buf);
	point->check_ns = pq_getmsgint64(buf);
	for (int i = 0; i < point->narms; i++)
		point->failed[i] = pq_getmsgbyte(buf);
}
