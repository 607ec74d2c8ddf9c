/*
 * check.c
 *	  Digesting what a pass left behind or returned, and telling differences.
 *
 * A check has parts: a table each, or the check query's rows, or the rows
 * that the arm returned (one part for each number of columns, because an
 * arm's statements may return rows of several shapes).  Parts of two checks
 * are matched by label.  Everything lies in the context given to
 * rtb_check_create.
 */
#include "postgres.h"

#include "check.h"

#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "other_engine.h"
#include "own_sql.h"
#include "rebuild.h"
#include "written.h"

/* rows an arm returned, one digest for each width */
typedef struct ReturnedReceiver
{
	DestReceiver pub;
	RtbCheck   *check;
	MemoryContext cxt;
	bool		with_row_hashes;
	DestReceiver *current;
	List	   *widths;			/* of int, */
	List	   *receivers;		/* and their receivers */
} ReturnedReceiver;

/*
 * rtb_check_create
 *		An empty check in cxt.
 */
RtbCheck *
rtb_check_create(MemoryContext cxt)
{
	return MemoryContextAllocZero(cxt, sizeof(RtbCheck));
}

/* a part in the check's own context, which the digest remembers */
static RtbCheckPart *
add_part(RtbCheck *check, const char *label, bool with_row_hashes)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(check));
	RtbCheckPart *part = palloc0(sizeof(RtbCheckPart));

	part->label = pstrdup(label);
	rtb_digest_init(&part->digest);
	if (with_row_hashes)
		part->row_hashes = tuplestore_begin_heap(false, true, work_mem);
	check->parts = lappend(check->parts, part);
	MemoryContextSwitchTo(old);
	return part;
}

static RtbCheckPart *
find_part(const RtbCheck *check, const char *label)
{
	ListCell   *lc;

	foreach(lc, check->parts)
	{
		RtbCheckPart *part = lfirst(lc);

		if (strcmp(part->label, label) == 0)
			return part;
	}
	return NULL;
}

/* the part of returned rows of so many columns, made at the first of them */
static RtbCheckPart *
returned_part(RtbCheck *check, int ncolumns, bool with_row_hashes)
{
	char		label[64];
	RtbCheckPart *part;

	snprintf(label, sizeof(label), "returned rows of %d column%s", ncolumns, ncolumns == 1 ? "" : "s");
	part = find_part(check, label);
	if (part == NULL)
	{
		part = add_part(check, label, with_row_hashes);
		part->returned = true;
	}
	return part;
}

/*
 * rtb_check_returned_text
 *		A returned row that came as text.
 */
void
rtb_check_returned_text(RtbCheck *check, bool with_row_hashes, int ncolumns, char **values,
						int *lengths)
{
	RtbCheckPart *part = returned_part(check, ncolumns, with_row_hashes);
	RtbHash128	hash = rtb_digest_add_text_row(&part->digest, ncolumns, values, lengths);

	if (part->row_hashes != NULL)
		rtb_row_hash_put(part->row_hashes, hash);
}

static void
returned_startup(DestReceiver *self, int operation, TupleDesc desc)
{
	ReturnedReceiver *r = (ReturnedReceiver *) self;
	MemoryContext old = MemoryContextSwitchTo(r->cxt);
	ListCell   *lw;
	ListCell   *lr;

	r->current = NULL;
	forboth(lw, r->widths, lr, r->receivers)
	{
		if (lfirst_int(lw) == desc->natts)
			r->current = lfirst(lr);
	}
	if (r->current == NULL)
	{
		RtbCheckPart *part = returned_part(r->check, desc->natts, r->with_row_hashes);

		r->current = rtb_digest_receiver(&part->digest, part->row_hashes);
		r->widths = lappend_int(r->widths, desc->natts);
		r->receivers = lappend(r->receivers, r->current);
	}
	MemoryContextSwitchTo(old);
	r->current->rStartup(r->current, operation, desc);
}

static bool
returned_receive(TupleTableSlot *slot, DestReceiver *self)
{
	ReturnedReceiver *r = (ReturnedReceiver *) self;

	return r->current->receiveSlot(slot, r->current);
}

static void
returned_shutdown(DestReceiver *self)
{
	ReturnedReceiver *r = (ReturnedReceiver *) self;

	if (r->current != NULL)
		r->current->rShutdown(r->current);
	r->current = NULL;
}

static void
returned_destroy(DestReceiver *self)
{
	ReturnedReceiver *r = (ReturnedReceiver *) self;
	ListCell   *lc;

	foreach(lc, r->receivers)
	{
		DestReceiver *inner = lfirst(lc);

		inner->rDestroy(inner);
	}
	pfree(r);
}

/*
 * rtb_check_returned_receiver
 *		A receiver that digests the rows of any number of statements.
 */
DestReceiver *
rtb_check_returned_receiver(RtbCheck *check, bool with_row_hashes)
{
	MemoryContext cxt = GetMemoryChunkContext(check);
	ReturnedReceiver *r = MemoryContextAllocZero(cxt, sizeof(ReturnedReceiver));

	r->pub.rStartup = returned_startup;
	r->pub.receiveSlot = returned_receive;
	r->pub.rShutdown = returned_shutdown;
	r->pub.rDestroy = returned_destroy;
	r->pub.mydest = DestNone;
	r->check = check;
	r->cxt = cxt;
	r->with_row_hashes = with_row_hashes;
	return (DestReceiver *) r;
}

static void
take_query(RtbSession *s, RtbCheck *check, const char *label, const char *query,
		   bool with_row_hashes)
{
	RtbCheckPart *part = add_part(check, label, with_row_hashes);

	s->transport->digest(query, &part->digest, part->row_hashes);
}

/* an arm may have changed the role; it is put back when the pass is rolled back */
static void
as_caller(RtbSession *s)
{
	SetUserIdAndSecContext(s->userid, s->sec_context);
	/* in this order: the first takes away what the login's settings make of the second */
	if (s->transport->far && !rtb_own_is_other())
		(void) rtb_own_rows("SET SESSION AUTHORIZATION DEFAULT; RESET ROLE", 0, NULL);
}

/*
 * rtb_check_discover
 *		Note the tables that a pass made, inside its transaction: they are
 *		digested too, and no other transaction could tell that they were there.
 */
void
rtb_check_discover(RtbSession *s, List *made)
{
	ListCell   *lc;

	if (made == NIL)
		return;
	as_caller(s);
	foreach(lc, rtb_written_describe(made, s->at->fixture.schema, s->options.ignore_columns))
	{
		const RtbRelation *rel = lfirst(lc);
		MemoryContext old = MemoryContextSwitchTo(s->at->cxt);

		if (!list_member(s->at->made, makeString(rel->label)))
			s->at->made = lappend(s->at->made, makeString(pstrdup(rel->label)));
		MemoryContextSwitchTo(old);
	}
}

/* tables that the running transaction has made, in the pass */
static List *
made_in_pass(RtbSession *s)
{
	List	   *locked;
	List	   *modes;

	s->transport->locked(&locked, &modes);
	return s->transport->made(locked, s->pass_subid);
}

/*
 * The written tables as this pass left them: where arms change the catalogs
 * some may have other columns, some be gone, and some be new.
 */
static List *
tables_of_pass(RtbSession *s, bool committed)
{
	List	   *oids = NIL;
	ListCell   *lc;

	if (rtb_own_is_other())
		return rtb_engine_tables(s->at->fixture.schema, s->options.ignore_columns);
	if (!s->at->catalogs_change)
		return s->at->written;
	if (committed)
		return rtb_written_describe(rtb_rebuild_left(s), s->at->fixture.schema, s->options.ignore_columns);
	foreach(lc, s->at->written)
		oids = lappend_oid(oids, ((RtbRelation *) lfirst(lc))->relid);
	oids = list_concat_unique_oid(oids, made_in_pass(s));
	return rtb_written_describe(oids, s->at->fixture.schema, s->options.ignore_columns);
}

/* one table; what is unreadable is told at discovery */
static void
take_table(RtbSession *s, RtbCheck *check, const RtbRelation *rel, bool with_row_hashes)
{
	char	   *query;

	if (rel->relkind == RELKIND_SEQUENCE || rel->unreadable != NULL ||
		find_part(check, rel->label) != NULL)
		return;
	query = rtb_written_query(rel, 0);
	take_query(s, check, rel->label, query, with_row_hashes);
	pfree(query);
}

/*
 * rtb_check_take
 *		Digest what a pass left, inside its transaction or, if it has committed,
 *		after it, with the clock standing still.
 *
 * Role, search_path and the settings that text forms depend on are put back
 * first: an arm may have changed them.  They stay so until the rollback.
 */
void
rtb_check_take(RtbSession *s, RtbCheck *check, bool with_row_hashes, bool committed)
{
	ListCell   *lc;
	int			nest;

	if (s->at->check_mode == RTB_CHECK_RETURNED)
		return;
	as_caller(s);
	nest = rtb_digest_pin_settings();
	rtb_set_local("row_security", "on");
	if (s->at->check_mode == RTB_CHECK_QUERY)
	{
		rtb_set_local("search_path", s->at->fixture.path ? s->at->fixture.path : s->caller_path);
		take_query(s, check, "check query", s->at->work->check_query, with_row_hashes);
	}
	else
	{
		foreach(lc, tables_of_pass(s, committed))
			take_table(s, check, lfirst(lc), with_row_hashes);
	}
	rtb_digest_unpin_settings(nest);
}

/*
 * rtb_check_finish
 *		The text over all parts.
 */
void
rtb_check_finish(RtbCheck *check)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(check));
	RtbDigest	total;
	ListCell   *lc;

	rtb_digest_init(&total);
	foreach(lc, check->parts)
	{
		const RtbCheckPart *part = lfirst(lc);

		/* a statement that returned no row is as good as none */
		if (part->returned && part->digest.rows == 0)
			continue;
		rtb_digest_combine(&total, part->label, &part->digest);
	}
	check->text = rtb_digest_text(&total);
	MemoryContextSwitchTo(old);
}

/*
 * rtb_check_free
 *		Give back what a context's reset would not: row hashes may lie in files.
 */
void
rtb_check_free(RtbCheck *check)
{
	ListCell   *lc;

	foreach(lc, check->parts)
	{
		RtbCheckPart *part = lfirst(lc);

		if (part->row_hashes != NULL)
			tuplestore_end(part->row_hashes);
		part->row_hashes = NULL;
	}
}

/*
 * rtb_check_part
 *		The part of a label, NULL if there is none.
 */
RtbCheckPart *
rtb_check_part(const RtbCheck *check, const char *label)
{
	ListCell   *lc;

	foreach(lc, check->parts)
	{
		RtbCheckPart *part = lfirst(lc);

		if (strcmp(part->label, label) == 0)
			return part;
	}
	return NULL;
}

bool
rtb_check_equal(const RtbCheck *a, const RtbCheck *b)
{
	return strcmp(a->text, b->text) == 0;
}

/*
 * rtb_check_count_alone
 *		How many rows each side has alone, over all parts that differ.
 *
 * Both must have been taken with row hashes.  Needs a transaction.
 */
void
rtb_check_count_alone(RtbCheck *a, RtbCheck *b, uint64 *only_a, uint64 *only_b)
{
	ListCell   *lc;

	*only_a = 0;
	*only_b = 0;
	foreach(lc, a->parts)
	{
		RtbCheckPart *part = lfirst(lc);
		RtbCheckPart *other = rtb_check_part(b, part->label);
		uint64		alone = 0;
		uint64		alone_other = 0;

		if (other == NULL)
			alone = part->digest.rows;
		else if (!rtb_digest_equal(&part->digest, &other->digest))
			rtb_row_hashes_compare(part->row_hashes, other->row_hashes, &alone, &alone_other);
		*only_a += alone;
		*only_b += alone_other;
	}
	foreach(lc, b->parts)
	{
		const RtbCheckPart *part = lfirst(lc);

		if (rtb_check_part(a, part->label) == NULL)
			*only_b += part->digest.rows;
	}
}
