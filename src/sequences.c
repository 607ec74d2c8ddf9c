/*
 * sequences.c
 *	  What an arm does to sequences: how far each one moves in a pass.
 *
 * The rows that arms leave may be equal and their sequences not: TRUNCATE ...
 * RESTART IDENTITY sets them back and DELETE does not, so the next row gets
 * another id.  A sequence that was set back by one arm only is different work;
 * other numbers of values drawn are told, no more, since gaps are normal.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "sequences.h"

#include "common/int.h"
#include "lib/stringinfo.h"

#include "own_sql.h"
#include "written.h"

/* names that a phrase has at most */
#define NAMES_TOLD	3

/*
 * A sequence that has not been used stands before its first value.  The CASE
 * keeps the privilege's function, which throws, away from other relations.
 */
static const char positions_sql[] =
"SELECT c.oid::bigint, pg_catalog.pg_sequence_last_value(c.oid) IS NOT NULL,"
"       coalesce(pg_catalog.pg_sequence_last_value(c.oid), s.seqstart), s.seqincrement"
"  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_sequence s ON s.seqrelid = c.oid"
" WHERE CASE WHEN c.relkind = 'S' AND c.oid = ANY ($1::oid[])"
"            THEN pg_catalog.has_sequence_privilege(c.oid, 'USAGE, SELECT') ELSE false END";

/*
 * rtb_sequences_read
 *		Where the sequences among written relations stand: an array with one
 *		entry for each relation, not known for what is no sequence, is gone, or
 *		may not be read.
 */
RtbSequencePosition *
rtb_sequences_read(List *written)
{
	RtbSequencePosition *positions = palloc0(sizeof(RtbSequencePosition) * Max(list_length(written), 1));
	List	   *oids = NIL;
	char	   *params[1];
	RtbOwnRows    *rows;
	int			nest;
	ListCell   *lc;

	foreach(lc, written)
	{
		const RtbRelation *rel = lfirst(lc);

		if (rel->relkind == 'S')
			oids = lappend_oid(oids, rel->relid);
	}
	if (oids == NIL)
		return positions;
	params[0] = rtb_oids_text(oids);
	nest = rtb_own_begin();
	rows = rtb_own_rows(positions_sql, 1, params);
	for (int i = 0; i < rows->n; i++)
	{
		foreach(lc, written)
		{
			RtbSequencePosition *position = &positions[foreach_current_index(lc)];

			if (((RtbRelation *) lfirst(lc))->relid != (Oid) rtb_own_row_int64(rows, i, 1))
				continue;
			position->known = true;
			position->called = rtb_own_row_bool(rows, i, 2);
			position->value = rtb_own_row_int64(rows, i, 3);
			position->increment = rtb_own_row_int64(rows, i, 4);
		}
	}
	rtb_own_end(nest);
	return positions;
}

/*
 * rtb_sequences_moves
 *		How many values each of n sequences handed out between two readings;
 *		negative where it was set back.
 */
void
rtb_sequences_moves(int n, const RtbSequencePosition *before,
					const RtbSequencePosition *after, int64 *moves)
{
	for (int i = 0; i < n; i++)
	{
		int64		distance;

		moves[i] = RTB_MOVE_UNKNOWN;
		if (!before[i].known || !after[i].known || after[i].increment == 0 ||
			pg_sub_s64_overflow(after[i].value, before[i].value, &distance))
			continue;
		/* the value itself is handed out only once it was called */
		moves[i] = distance / after[i].increment + after[i].called - before[i].called;
	}
}

static void
append_name(StringInfo buf, const char *text, int n)
{
	if (n <= NAMES_TOLD)
		appendStringInfo(buf, "%s%s", n > 1 ? ", " : "", text);
}

static void
append_rest(StringInfo buf, int n)
{
	if (n > NAMES_TOLD)
		appendStringInfo(buf, " and %d more", n - NAMES_TOLD);
}

/* the sequences that one arm sets back and the other leaves elsewhere */
static char *
set_back_by(List *written, const int64 *arm, const int64 *other)
{
	StringInfoData buf;
	ListCell   *lc;
	int			n = 0;

	initStringInfo(&buf);
	foreach(lc, written)
	{
		int			i = foreach_current_index(lc);

		if (arm[i] == RTB_MOVE_UNKNOWN || other[i] == RTB_MOVE_UNKNOWN ||
			arm[i] >= 0 || arm[i] == other[i])
			continue;
		append_name(&buf, ((RtbRelation *) lfirst(lc))->label, ++n);
	}
	append_rest(&buf, n);
	return n > 0 ? buf.data : NULL;
}

/*
 * rtb_sequences_set_back
 *		Which sequences one of two arms sets back and the other does not, or
 *		not as far: a phrase, or NULL.
 */
char *
rtb_sequences_set_back(List *written, const int64 *arm, const char *arm_name,
					   const int64 *base, const char *base_name)
{
	char	   *by_arm = set_back_by(written, arm, base);
	char	   *by_base = set_back_by(written, base, arm);
	StringInfoData buf;

	if (by_arm == NULL && by_base == NULL)
		return NULL;
	initStringInfo(&buf);
	if (by_arm != NULL)
		appendStringInfo(&buf, "%s sets back %s", arm_name, by_arm);
	if (by_base != NULL)
		appendStringInfo(&buf, "%s%s sets back %s", by_arm ? ", " : "", base_name, by_base);
	return buf.data;
}

/*
 * rtb_sequences_drawn
 *		Of which sequences two arms that set none back draw other numbers of
 *		values: a phrase, or NULL.
 */
char *
rtb_sequences_drawn(List *written, const int64 *arm, const char *arm_name,
					const int64 *base, const char *base_name)
{
	StringInfoData buf;
	ListCell   *lc;
	int			n = 0;

	initStringInfo(&buf);
	foreach(lc, written)
	{
		int			i = foreach_current_index(lc);

		/* an unknown move is negative too */
		if (arm[i] < 0 || base[i] < 0 || arm[i] == base[i])
			continue;
		append_name(&buf, psprintf("%s " INT64_FORMAT " against " INT64_FORMAT,
								   ((RtbRelation *) lfirst(lc))->label, arm[i], base[i]), ++n);
	}
	append_rest(&buf, n);
	if (n == 0)
		return NULL;
	return psprintf("values drawn from sequences by %s and %s: %s", arm_name, base_name, buf.data);
}
