/*
 * rebuild.c
 *	  A fixture built anew after a commit, and proven equal to the first one.
 *
 * What an arm commits no rollback takes back.  Where any arm of a point
 * commits, the scratch schema is dropped and set up again before the next pass
 * of any arm, so that all start from the same state; its tables are digested
 * each time and must have the same rows as the first time.
 *
 * The schema keeps its name, and so do the tables; their OIDs change, in
 * whatever process it happens, so that those remembered are looked up again.
 *
 * Memory: what is remembered lies in the point's context.
 */
#include "postgres.h"

#include "rebuild.h"

#include "lib/stringinfo.h"

#include "other_engine.h"
#include "own_sql.h"
#include "written.h"

/* tables of the scratch schema as RtbRelation *; in a transaction, SPI connected */
static List *
scratch_tables(RtbSession *s)
{
	char	   *params[1] = {s->at->fixture.schema};
	List	   *oids = NIL;
	RtbOwnRows    *rows;
	int			nest;

	if (rtb_own_is_other())
		return rtb_engine_tables(s->at->fixture.schema, s->options.ignore_columns);
	nest = rtb_own_begin();
	rows = rtb_own_rows("SELECT c.oid::bigint FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n"
								  " ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = ANY ('{r,m}')",
									1, params);

	for (int i = 0; i < rows->n; i++)
		oids = lappend_oid(oids, (Oid) rtb_own_row_int64(rows, i, 1));
	rtb_own_end(nest);
	return rtb_written_describe(oids, s->at->fixture.schema, s->options.ignore_columns);
}

/* what each table holds: list of RtbTableState *, by label, in the point's context */
static List *
digest_tables(RtbSession *s)
{
	List	   *states = NIL;
	int			nest = rtb_digest_pin_settings();
	ListCell   *lc;

	rtb_set_local("row_security", "on");
	foreach(lc, scratch_tables(s))
	{
		const RtbRelation *rel = lfirst(lc);
		RtbTableState *state;
		RtbDigest	digest;
		MemoryContext old = MemoryContextSwitchTo(s->at->cxt);

		state = palloc0(sizeof(RtbTableState));
		state->label = pstrdup(rel->label);
		MemoryContextSwitchTo(old);
		rtb_digest_init(&digest);
		s->transport->digest(rtb_written_query(rel, 0), &digest, NULL);
		MemoryContextSwitchTo(s->at->cxt);
		state->digest = rtb_digest_text(&digest);
		states = lappend(states, state);
		MemoryContextSwitchTo(old);
	}
	rtb_digest_unpin_settings(nest);
	return states;
}

static const RtbTableState *
find_state(List *states, const char *label)
{
	ListCell   *lc;

	foreach(lc, states)
	{
		if (strcmp(((RtbTableState *) lfirst(lc))->label, label) == 0)
			return lfirst(lc);
	}
	return NULL;
}

/* names of tables that are in one list and not, or otherwise, in the other */
static void
append_changed(StringInfo buf, List *states, List *others, bool missing_only)
{
	ListCell   *lc;

	foreach(lc, states)
	{
		const RtbTableState *state = lfirst(lc);
		const RtbTableState *other = find_state(others, state->label);

		if (other == NULL || (!missing_only && strcmp(state->digest, other->digest) != 0))
			appendStringInfo(buf, "%s%s", buf->len ? ", " : "", state->label);
	}
}

/* is the rebuilt fixture the first one again? */
static void
prove_equal(RtbSession *s)
{
	MemoryContext old = CurrentMemoryContext;
	StringInfoData buf;
	List	   *now;

	s->transport->begin(NULL);
	now = digest_tables(s);
	s->transport->rollback();
	MemoryContextSwitchTo(old);
	initStringInfo(&buf);
	append_changed(&buf, s->at->state, now, false);
	append_changed(&buf, now, s->at->state, true);
	if (buf.len > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
				 errmsg("the setup does not build the same rows every time"),
				 errdetail("After an arm committed and the fixture was built anew, these tables were not as before: %s.",
						   buf.data),
				 errhint("Leave random numbers and the clock out of the setup, or name the columns in ignore_columns.")));
	list_free_deep(now);
}

/*
 * rtb_rebuild_remember
 *		Remember what the point's fixture holds, if any of its arms commits.
 *		Called once, right after it was built.
 */
void
rtb_rebuild_remember(RtbSession *s)
{
	MemoryContext old = CurrentMemoryContext;

	s->at->commits = rtb_work_commits(s->at->work);
	if (!s->at->commits)
		return;
	s->transport->begin(NULL);
	s->at->state = digest_tables(s);
	s->transport->rollback();
	MemoryContextSwitchTo(old);
}

/*
 * rtb_rebuild_if_dirty
 *		Build the fixture anew if a pass has written since it was built.
 *		Outside any transaction.  Throws what the setup throws, and an error if
 *		it does not build the same rows.
 */
void
rtb_rebuild_if_dirty(RtbSession *s)
{
	MemoryContext old = CurrentMemoryContext;

	if (!s->at->dirty)
		return;
	MemoryContextSwitchTo(s->at->cxt);
	rtb_fixture_rebuild(&s->at->fixture, s->transport, s->at->work);
	MemoryContextSwitchTo(old);
	prove_equal(s);
	rtb_rebuild_refresh(s);
	s->at->dirty = false;
}

/* among rows of names and OIDs; InvalidOid for a name that is not there */
static Oid
oid_of(const RtbOwnRows *rows, const char *name)
{
	for (int i = 0; i < rows->n; i++)
	{
		if (strcmp(rtb_own_row_text(rows, i, 1), name) == 0)
			return (Oid) rtb_own_row_int64(rows, i, 2);
	}
	return InvalidOid;
}

/*
 * rtb_rebuild_refresh
 *		Look up the OIDs of scratch relations again, if they may have changed.
 *		Outside any transaction.
 */
void
rtb_rebuild_refresh(RtbSession *s)
{
	MemoryContext old = CurrentMemoryContext;
	char	   *params[1] = {s->at->fixture.schema};
	RtbOwnRows    *rows;
	ListCell   *lc;
	int			nest;

	/* another engine's are known by their names */
	if (!s->at->commits || s->at->fixture.schema == NULL || rtb_own_is_other())
		return;
	s->transport->begin(NULL);
	nest = rtb_own_begin();
	rows = rtb_own_rows("SELECT c.relname::text, c.oid::bigint FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n"
						" ON n.oid = c.relnamespace WHERE n.nspname = $1", 1, params);
	foreach(lc, s->at->written)
	{
		RtbRelation *rel = lfirst(lc);

		if (rel->scratch)
			rel->relid = oid_of(rows, rel->label);
	}
	foreach(lc, s->at->fixture.sequences)
	{
		RtbSequence *seq = lfirst(lc);

		seq->relid = oid_of(rows, seq->name);
	}
	rtb_own_end(nest);
	s->transport->rollback();
	MemoryContextSwitchTo(old);
}

/*
 * rtb_rebuild_made
 *		Tables that a pass that committed has made: list of Oid in the current
 *		context.  In a transaction, SPI connected.
 */
List *
rtb_rebuild_made(RtbSession *s)
{
	List	   *made = NIL;
	ListCell   *lc;

	/* of another engine all tables are digested, new ones too */
	if (rtb_own_is_other())
		return NIL;
	foreach(lc, scratch_tables(s))
	{
		const RtbRelation *rel = lfirst(lc);

		if (find_state(s->at->state, rel->label) == NULL)
			made = lappend_oid(made, rel->relid);
	}
	return made;
}

static bool
is_written(const RtbSession *s, const char *label)
{
	ListCell   *lc;

	foreach(lc, s->at->written)
	{
		if (strcmp(((RtbRelation *) lfirst(lc))->label, label) == 0)
			return true;
	}
	return false;
}

/*
 * rtb_rebuild_left
 *		Tables that a pass that committed has made or written: list of Oid in the
 *		current context.  Of the scratch schema by their names, as it may have put
 *		another table in the place of one.  In a transaction, SPI connected.
 */
List *
rtb_rebuild_left(RtbSession *s)
{
	List	   *left = NIL;
	ListCell   *lc;

	foreach(lc, s->at->written)
	{
		const RtbRelation *rel = lfirst(lc);

		if (!rel->scratch)
			left = lappend_oid(left, rel->relid);
	}
	foreach(lc, scratch_tables(s))
	{
		const RtbRelation *rel = lfirst(lc);

		if (find_state(s->at->state, rel->label) == NULL || is_written(s, rel->label))
			left = lappend_oid(left, rel->relid);
	}
	return left;
}
