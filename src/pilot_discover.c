/*
 * pilot_discover.c
 *	  The pilot's first pass of each arm: what does it write?
 *
 * Memory: what is found lies in the point's context.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "cleaning.h"
#include "other_engine.h"
#include "own_sql.h"
#include "pilot.h"
#include "rebuild.h"
#include "session.h"
#include "written.h"

/*
 * Run body in a transaction with SPI connected, wherever this session runs.
 */
void
rtb_pilot_in_transaction(RtbSession *s, void (*body) (RtbPilot *), RtbPilot *p)
{
	MemoryContext old = CurrentMemoryContext;

	s->transport->begin(NULL);
	body(p);
	s->transport->rollback();
	MemoryContextSwitchTo(old);
}

/* an arm's locks into the union of all */
static void
add_locked(RtbPilot *p, List *locked, List *modes)
{
	ListCell   *lo;
	ListCell   *lm;

	forboth(lo, locked, lm, modes)
	{
		ListCell   *known;
		int			place = -1;

		foreach(known, p->locked)
		{
			if (lfirst_oid(known) == lfirst_oid(lo))
				place = foreach_current_index(known);
		}
		if (place < 0)
		{
			p->locked = lappend_oid(p->locked, lfirst_oid(lo));
			p->modes = lappend_int(p->modes, lfirst_int(lm));
		}
		else
			lfirst_int(list_nth_cell(p->modes, place)) =
				Max(list_nth_int(p->modes, place), lfirst_int(lm));
	}
}

static int
mode_on(const RtbPilot *p, Oid relid)
{
	ListCell   *lo;
	ListCell   *lm;

	forboth(lo, p->locked, lm, p->modes)
	{
		if (lfirst_oid(lo) == relid)
			return lfirst_int(lm);
	}
	return 0;
}

/* where fixtures are built anew only names last: what was locked, by its present OIDs */
static void
take_known(RtbPilot *p)
{
	ListCell   *lc;

	p->locked = p->modes = NIL;
	foreach(lc, p->s->at->written)
	{
		const RtbRelation *rel = lfirst(lc);

		p->locked = lappend_oid(p->locked, rel->relid);
		p->modes = lappend_int(p->modes, rel->mode);
	}
}

/*
 * Is a table of that label among those written?
 */
bool
rtb_pilot_is_written(const RtbSession *s, const char *label)
{
	ListCell   *lc;

	foreach(lc, s->at->written)
	{
		if (strcmp(((RtbRelation *) lfirst(lc))->label, label) == 0)
			return true;
	}
	return false;
}

/* what was committed is not told by locks any more, and nobody looks there: any table of the setup may have been written */
static void
add_fixture(RtbPilot *p)
{
	List	   *oids = rtb_written_in_schema(p->s->at->fixture.schema);
	List	   *modes = NIL;

	for (int i = 0; i < list_length(oids); i++)
		modes = lappend_int(modes, RowExclusiveLock);
	add_locked(p, oids, modes);
}

static void
describe_written(RtbPilot *p)
{
	RtbSession *s = p->s;
	List	   *known = s->at->written;
	ListCell   *lc;

	MemoryContextSwitchTo(s->at->cxt);
	if (rtb_own_is_other())
	{
		s->at->written = rtb_engine_tables(s->at->fixture.schema, s->options.ignore_columns);
		s->at->sequences_advanced = s->at->fixture.sequences != NIL;
		return;
	}
	if (s->at->commits && s->transport->far && !rtb_wire_counts() && s->at->fixture.schema != NULL)
		add_fixture(p);
	s->at->written = rtb_written_describe(p->locked, s->at->fixture.schema, s->options.ignore_columns);
	foreach(lc, s->at->written)
	{
		RtbRelation *rel = lfirst(lc);

		rel->scratch |= list_member_oid(s->at->fixture.relations, rel->relid);
		rel->mode = mode_on(p, rel->relid);
	}
	/* one that this arm has dropped for good is there again for the next one */
	foreach(lc, s->at->commits ? known : NIL)
	{
		RtbRelation *rel = lfirst(lc);

		if (rel->scratch && !rtb_pilot_is_written(s, rel->label))
			s->at->written = lappend(s->at->written, rel);
	}
	rtb_cleaning_sizes(s);
}

/*
 * The first pass of each arm: what does it write, and what else does it do?
 */
void
rtb_pilot_discover(RtbPilot *p)
{
	RtbSession *s = p->s;

	for (int i = 0; i < s->at->narms; i++)
	{
		RtbPassRequest rq = {.kind = RTB_PASS_DISCOVERY, .arm = i, .session = 1};
		List	   *locked = NIL;
		List	   *modes = NIL;
		bool		wrote = false;
		MemoryContext old;

		rq.locked = &locked;
		rq.modes = &modes;
		rq.counts = &p->counts[i];
		rq.wrote = &wrote;
		s->at->leaked_locks = 0;
		s->at->leaked_statements = 0;
		rtb_session_emit(s, rtb_session_pass(s, &rq));
		rtb_pilot_note_leaks(s, i);
		if (s->at->failed[i])
			continue;
		rtb_pilot_note_counts(s, i, rq.counts);
		rtb_pilot_note_sending(s, i);
		rtb_pilot_note_advice(s, i);
		if (rtb_session_keeps_plans(s, i))
			rtb_session_find(s, RTB_FOUND_NOTE, i,
							 "plans kept from earlier passes: parsing and planning of these statements are not measured");
		p->wrote |= wrote;
		s->at->catalogs_change |= rq.counts->ddl || s->at->made != NIL;
		old = MemoryContextSwitchTo(s->at->cxt);
		if (s->at->commits)
			take_known(p);
		add_locked(p, locked, modes);
		MemoryContextSwitchTo(old);
		rtb_pilot_in_transaction(s, describe_written, p);
		/* so that the next arm does not begin with what this one left */
		if (p->wrote)
			rtb_cleaning_choose(s, false);
	}
	rtb_rebuild_if_dirty(s);
}
