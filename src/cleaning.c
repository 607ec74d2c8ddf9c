/*
 * cleaning.c
 *	  Which written tables are vacuumed between passes, and how they grow.
 *
 * A rolled-back pass leaves dead rows.  Tables are vacuumed before every pass,
 * so that all start from the same state; a user's tables also at the end of
 * the point, when empty pages at their end are given back.  What has grown all
 * the same is told.
 *
 * How large a table was can only be known before something wrote it, and what
 * an arm writes only once it did: so in a pass of discovery every plan that is
 * about to write a table not seen before has that table's size noted first.
 *
 * Memory: everything lies in the point's context.
 */
#include "postgres.h"

#include "cleaning.h"

#include "access/transam.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "parser/parsetree.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "own_sql.h"
#include "written.h"

/* on a user's tables VACUUM runs up to this size, unless asked for */
#define VACUUM_LIMIT_BYTES	(INT64CONST(64) * 1024 * 1024)
/* growth that is worth a note: a tenth, and more than a few new pages */
#define GROWTH_SHARE		10
#define GROWTH_BYTES		(INT64CONST(256) * 1024)

typedef struct FirstSize
{
	Oid			relid;
	int64		table;			/* as pg_table_size() */
	int64		total;			/* as pg_total_relation_size() */
} FirstSize;

/* whose discovery is under way; valid while the watcher is set */
static RtbSession *watching;

/* one of the functions on a relation's size; -1 if the relation is gone */
static int64
size_by(PGFunction function, Oid relid)
{
	LOCAL_FCINFO(fcinfo, 1);
	Datum		size;

	InitFunctionCallInfoData(*fcinfo, NULL, 1, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = ObjectIdGetDatum(relid);
	fcinfo->args[0].isnull = false;
	size = function(fcinfo);
	return fcinfo->isnull ? -1 : DatumGetInt64(size);
}

static bool
has_storage(char relkind)
{
	return relkind == RELKIND_RELATION || relkind == RELKIND_MATVIEW;
}

/* a table of the user's, which is there after the run */
static bool
is_users(const RtbRelation *rel)
{
	return has_storage(rel->relkind) && !rel->scratch && !rel->temporary;
}

/* the size as first seen, noted now if it was not before */
static const FirstSize *
first_size(RtbPoint *point, Oid relid)
{
	MemoryContext old;
	FirstSize  *size;
	ListCell   *lc;

	foreach(lc, point->sizes)
	{
		size = lfirst(lc);
		if (size->relid == relid)
			return size;
	}
	old = MemoryContextSwitchTo(point->cxt);
	size = palloc(sizeof(FirstSize));
	size->relid = relid;
	size->table = size_by(pg_table_size, relid);
	size->total = size_by(pg_total_relation_size, relid);
	point->sizes = lappend(point->sizes, size);
	MemoryContextSwitchTo(old);
	return size;
}

/*
 * rtb_cleaning_starts
 *		A plan has been started, in the watched pass, and has not written yet.
 */
void
rtb_cleaning_starts(const PlannedStmt *stmt)
{
	const RtbFixture *fixture = &watching->at->fixture;

	RTB_FOREACH_RESULT_RELATION(rti, stmt)
	{
		Oid			relid = rt_fetch(rti, stmt->rtable)->relid;
		char	   *schema;

		if (relid < FirstNormalObjectId || !has_storage(get_rel_relkind(relid)) ||
			get_rel_persistence(relid) == RELPERSISTENCE_TEMP)
			continue;
		schema = get_namespace_name(get_rel_namespace(relid));
		if (fixture->schema == NULL || schema == NULL || strcmp(schema, fixture->schema) != 0)
			(void) first_size(watching->at, relid);
	}
}

/*
 * rtb_cleaning_watch
 *		From here on plans that start belong to this session's pass: sizes of
 *		tables are noted before they are written.
 */
void
rtb_cleaning_watch(RtbSession *s)
{
	watching = s;
}

/*
 * rtb_cleaning_sizes
 *		Fill in the sizes of the user's tables among the written ones, as they
 *		were before that as far as is known.  In a transaction.
 */
void
rtb_cleaning_sizes(RtbSession *s)
{
	ListCell   *lc;

	foreach(lc, s->at->written)
	{
		RtbRelation *rel = lfirst(lc);

		if (is_users(rel) && !s->transport->far)
		{
			const FirstSize *size = first_size(s->at, rel->relid);

			rel->bytes = size->table;
			rel->total_bytes = size->total;
		}
	}
}

/*
 * rtb_cleaning_choose
 *		Choose what is vacuumed before every pass from now on: what is known to
 *		be written.  tell: say in notes what is not.
 */
void
rtb_cleaning_choose(RtbSession *s, bool tell)
{
	MemoryContext old;
	int64		bytes = 0;
	bool		users = false;
	bool		too_large;
	ListCell   *lc;

	if (!s->options.own_transactions)
	{
		if (tell)
			rtb_session_find(s, RTB_FOUND_NOTE, -1,
							 "dead rows of earlier passes stay: no VACUUM inside the caller's transaction");
		return;
	}
	if (rtb_own_is_other())
	{
		if (tell)
			rtb_session_find(s, RTB_FOUND_NOTE, -1, "not vacuumed between passes, as how that is done there is not known: what earlier passes leave behind stays");
		return;
	}
	foreach(lc, s->at->written)
	{
		const RtbRelation *rel = lfirst(lc);

		if (!has_storage(rel->relkind) || rel->scratch)
			continue;
		users = true;
		bytes += rel->bytes;
	}
	too_large = s->options.vacuum < 0 && bytes > VACUUM_LIMIT_BYTES;
	if (tell && (s->options.vacuum == 0 || (users && too_large)))
		rtb_session_find(s, RTB_FOUND_NOTE, -1,
						 "not vacuumed between passes (%s): dead rows of earlier passes stay",
						 s->options.vacuum == 0 ? "vacuum => false" : "above 64 MB; vacuum => true asks for it");
	s->at->vacuumed = NIL;
	old = MemoryContextSwitchTo(s->at->cxt);
	foreach(lc, s->at->written)
	{
		RtbRelation *rel = lfirst(lc);

		if (!has_storage(rel->relkind) || s->options.vacuum == 0 || (too_large && !rel->scratch))
			continue;
		if (rel->owned)
			s->at->vacuumed = lappend(s->at->vacuumed, rel);
		else if (tell)
			rtb_session_find(s, RTB_FOUND_NOTE, -1,
							 "%s is not vacuumed between passes: the role does not own it", rel->label);
	}
	MemoryContextSwitchTo(old);
}

/*
 * rtb_cleaning_announce
 *		Where passes write a user's tables, tell him before the timed ones begin.
 */
void
rtb_cleaning_announce(RtbSession *s)
{
	int			passes = s->at->narms * (2 + s->options.rounds);
	char	   *where = s->options.wire && s->options.wire->is_server ? psprintf(" at server \"%s\"", s->options.wire->name) : "";
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, s->at->written)
	{
		const RtbRelation *rel = lfirst(lc);

		if (rel->scratch || !has_storage(rel->relkind))
			continue;
		appendStringInfo(&buf, "%s%s, " INT64_FORMAT " kB, %s, %s", buf.len ? "\n" : "",
						 rel->label, rel->bytes / 1024, rtb_written_mode_name(rel),
						 list_member_ptr(s->at->vacuumed, rel) ? "vacuumed before every pass"
						 : "not vacuumed");
	}
	if (buf.len == 0)
		return;
	ereport(NOTICE,
			(errmsg("at least %d more passes will write tables outside a scratch schema%s and be rolled back",
					passes, where),
			 errdetail("%s", buf.data),
			 errhint("Each pass holds these locks until it is rolled back.")));
}

/*
 * A vacuumed table has its old size again, but index pages that VACUUM emptied
 * cannot be reused while a snapshot from before that is around, as the
 * caller's is: in a long run indexes grow with every pass.
 */
static void
tell_growth(RtbSession *s)
{
	ListCell   *lc;

	foreach(lc, s->at->written)
	{
		const RtbRelation *rel = lfirst(lc);
		int64		now = is_users(rel) ? size_by(pg_total_relation_size, rel->relid) : -1;
		int64		growth = now - rel->total_bytes;

		if (now < 0 || growth <= rel->total_bytes / GROWTH_SHARE || growth <= GROWTH_BYTES)
			continue;
		rtb_session_find(s, RTB_FOUND_NOTE, -1,
						 "%s grew from " INT64_FORMAT " kB to " INT64_FORMAT " kB with its indexes%s",
						 rel->label, rel->total_bytes / 1024, now / 1024,
						 list_member_ptr(s->at->vacuumed, rel)
						 ? ", which the next VACUUM lets them reuse and REINDEX gives back"
						 : ": VACUUM it");
	}
}

/*
 * rtb_cleaning_finish
 *		After the last pass of a point: leave no dead rows in a user's tables,
 *		give back empty pages at their end, and tell what has grown.
 */
void
rtb_cleaning_finish(RtbSession *s)
{
	MemoryContext old = CurrentMemoryContext;
	List	   *users = NIL;
	bool		any = false;
	ListCell   *lc;

	foreach(lc, s->at->written)
		any |= is_users(lfirst(lc));
	if (!any)
		return;
	foreach(lc, s->at->vacuumed)
	{
		if (is_users(lfirst(lc)))
			users = lappend(users, lfirst(lc));
	}
	rtb_fixture_vacuum(s->transport, users, true);
	if (s->transport->far)
		return;
	s->transport->begin(NULL);
	tell_growth(s);
	s->transport->rollback();
	MemoryContextSwitchTo(old);
}
