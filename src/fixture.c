/*
 * fixture.c
 *	  A point's fixture in a scratch schema of its own, and its starting state.
 *
 * Memory: everything lies in the context current at the call.
 */
#include "postgres.h"

#include "fixture.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "other_engine.h"
#include "own_sql.h"
#include "scratch.h"
#include "written.h"

/* tables that VACUUM may read whole before every pass */
#define RTB_SMALL_TABLE_BYTES	(INT64CONST(8) * 1024 * 1024)

static char *
far_path(const char *first)
{
	const char *path = rtb_own_row_text(rtb_own_rows("SHOW search_path", 0, NULL), 0, 1);

	/* what shows an empty one are two quotes, or nothing */
	return path[0] == '\0' || strcmp(path, "\"\"") == 0 ? pstrdup(first) : psprintf("%s, %s", first, path);
}

static char *
passes_path(const RtbFixture *fixture)
{
	const char *first = fixture->temporary ? "pg_temp" : quote_identifier(fixture->schema);

	const char *rest = namespace_search_path;

	if (rtb_own_is_far())
		return far_path(first);
	if (rest == NULL || rest[0] == '\0')
		return pstrdup(first);
	return psprintf("%s, %s", first, rest);
}

static void
run_setup(const RtbFixture *fixture, const RtbTransport *transport, const RtbWork *work)
{
	int			nest = rtb_own_nest();
	ListCell   *lc;

	rtb_set_local("search_path", fixture->path);
	foreach(lc, work->setup)
	{
		CHECK_FOR_INTERRUPTS();
		transport->sql(lfirst(lc));
	}
	rtb_own_end(nest);
}

/*
 * Temporary relations that the setup made: the caller's session may have had
 * others before.
 */
static List *
find_temporary(SubTransactionId since, MemoryContext cxt)
{
	List	   *relations = NIL;
	int			nest = rtb_own_begin();
	uint64		n = rtb_own_query("SELECT oid::bigint FROM pg_catalog.pg_class"
								  " WHERE relnamespace = pg_catalog.pg_my_temp_schema() AND relkind IN ('r', 'p', 'S')",
								  0, NULL, NULL, NULL);

	for (uint64 i = 0; i < n; i++)
	{
		Relation	rel = RelationIdGetRelation((Oid) rtb_own_int64(i, 1));
		MemoryContext old;

		if (rel == NULL)
			continue;
		if (rel->rd_createSubid >= since)
		{
			old = MemoryContextSwitchTo(cxt);
			relations = lappend_oid(relations, RelationGetRelid(rel));
			MemoryContextSwitchTo(old);
		}
		RelationClose(rel);
	}
	rtb_own_end(nest);
	return relations;
}

/* the fixture's tables, as one list for VACUUM or ANALYZE; autovacuum kept out */
static char *
settle_tables(const RtbFixture *fixture, bool autovacuum_off)
{
	char	   *params[2] = {fixture->temporary ? "" : fixture->schema, rtb_oids_text(fixture->relations)};
	char	   *list = NULL;
	int			nest = rtb_own_begin();
	RtbOwnRows    *rows = rtb_own_rows("SELECT pg_catalog.format('%I.%I', n.nspname, c.relname), c.relkind = ANY ('{r,m}')"
					  "  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
					  " WHERE c.relkind = ANY ('{r,m,p}')"
					  "   AND (n.nspname = $1 OR c.oid = ANY ($2::oid[])) ORDER BY c.oid",
					  2, params);
	if (rows->n > 0)
	{
		StringInfoData buf;

		initStringInfo(&buf);
		for (int i = 0; i < rows->n; i++)
		{
			char	   *name = rtb_own_row_text(rows, i, 1);

			if (autovacuum_off && rtb_own_row_bool(rows, i, 2))
				rtb_own_rows(psprintf("ALTER TABLE %s SET (autovacuum_enabled = off, toast.autovacuum_enabled = off)",
									  name), 0, NULL);
			appendStringInfo(&buf, "%s%s", i ? ", " : "", name);
		}
		list = buf.data;
	}
	rtb_own_end(nest);
	return list;
}

static List *
read_sequences(const RtbFixture *fixture, MemoryContext cxt)
{
	char	   *params[2] = {fixture->temporary ? "" : fixture->schema, rtb_oids_text(fixture->relations)};
	List	   *sequences = NIL;
	int			nest = rtb_own_begin();
	RtbOwnRows    *rows = rtb_own_rows("SELECT c.oid::bigint, pg_catalog.format('SELECT last_value, is_called FROM %I.%I', n.nspname, c.relname), c.relname::text"
					  "  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
					  " WHERE c.relkind = 'S' AND (n.nspname = $1 OR c.oid = ANY ($2::oid[])) ORDER BY c.oid",
					  2, params);
	for (int i = 0; i < rows->n; i++)
	{
		RtbSequence *seq = MemoryContextAllocZero(cxt, sizeof(RtbSequence));
		RtbOwnRows    *state = rtb_own_rows(rtb_own_row_text(rows, i, 2), 0, NULL);
		MemoryContext old;

		seq->relid = (Oid) rtb_own_row_int64(rows, i, 1);
		seq->last_value = rtb_own_row_int64(state, 0, 1);
		seq->is_called = rtb_own_row_bool(state, 0, 2);
		seq->name = MemoryContextStrdup(cxt, rtb_own_row_text(rows, i, 3));
		old = MemoryContextSwitchTo(cxt);
		sequences = lappend(sequences, seq);
		MemoryContextSwitchTo(old);
	}
	rtb_own_end(nest);
	return sequences;
}

/* a relation that the running transaction found in the catalogs: its name, or NULL */
static char *
name_of_dropped(Oid relid)
{
	Relation	classes = table_open(RelationRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	char	   *name = NULL;

	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(classes, ClassOidIndexId, true, SnapshotAny, 1, &key);
	while (name == NULL && (tuple = systable_getnext(scan)) != NULL)
	{
		if (!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data)))
			name = pstrdup(quote_identifier(NameStr(((Form_pg_class) GETSTRUCT(tuple))->relname)));
	}
	systable_endscan(scan);
	table_close(classes, AccessShareLock);
	return name;
}

static void
refuse_outside(Oid relid, Oid scratch)
{
	Oid			schema = get_rel_namespace(relid);
	char		kind = get_rel_relkind(relid);
	char	   *name;

	/* toast tables go with theirs; of sequences values are used up, no more */
	if (OidIsValid(schema) &&
		(schema == scratch || IsToastNamespace(schema) || kind == RELKIND_SEQUENCE))
		return;
	if (kind == RELKIND_INDEX || kind == RELKIND_PARTITIONED_INDEX)
		relid = IndexGetRelation(relid, false);
	name = OidIsValid(schema) ? quote_qualified_identifier(get_namespace_name(schema), get_rel_name(relid)) :
		name_of_dropped(relid);
	if (name == NULL)
		return;					/* made and dropped by the setup */
	if (OidIsValid(schema) && isTempOrTempToastNamespace(schema))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a setup cannot make temporary tables: %s", quote_identifier(get_rel_name(relid))),
				 errdetail("One of many sessions would see them."),
				 errhint("Leave out TEMPORARY, since everything that a setup makes is dropped, or use transport => 'caller'.")));
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a setup cannot change or drop %s, which is not in its scratch schema", name),
			 errdetail("What a setup does is committed, and nothing would bring %s back.", name),
			 errhint("Let the setup make a table of its own (CREATE TABLE ... AS), let the arms' \"before\" do it, which is rolled back, or use transport => 'caller'.")));
}

/*
 * What a setup has done is committed, so it may do it in the scratch schema
 * only: nothing would bring another table's rows back.
 */
static void
refuse_changes_outside(const RtbFixture *fixture, List *before)
{
	Oid			scratch = get_namespace_oid(fixture->schema, true);
	List	   *changed = rtb_written_changed(rtb_written_locked());
	ListCell   *lc;

	/* a table before its indexes and the views on it */
	list_sort(changed, list_oid_cmp);
	foreach(lc, changed)
	{
		if (!list_member_oid(before, lfirst_oid(lc)))
			refuse_outside(lfirst_oid(lc), scratch);
	}
}

/*
 * The same at a far end, by what its own session can tell.  A table that is
 * gone may have been anybody's.
 */
static void
refuse_changes_far(const RtbFixture *fixture, List *before)
{
	char	   *params[2] = {fixture->schema, rtb_oids_text(before)};
	RtbOwnRows *rows;

	rows = rtb_own_rows("SELECT CASE WHEN c.oid IS NULL THEN 'a table' ELSE pg_catalog.format('%I.%I', n.nspname, c.relname) END"
						" FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_class c ON c.oid = l.relation"
						" LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
						" WHERE l.pid = pg_catalog.pg_backend_pid() AND l.locktype = 'relation' AND l.relation >= 16384"
						" AND l.mode = ANY ('{RowExclusiveLock,AccessExclusiveLock}') AND l.relation <> ALL ($2::oid[])"
						" AND (c.oid IS NULL OR n.nspname <> $1 AND n.nspname <> 'pg_toast' AND c.relkind = ANY ('{r,p,m,v,f}'))"
						" ORDER BY 1 LIMIT 1", 2, params);
	if (rows->n == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a setup cannot change or drop %s, which is not in its scratch schema",
					rtb_own_row_text(rows, 0, 1)),
			 errdetail("What a setup does is committed, and nothing would bring it back."),
			 errhint("Let the setup make a table of its own (CREATE TABLE ... AS), or let the arms' \"before\" do it, which is rolled back.")));
}

/*
 * The same on an engine that does not tell what a transaction has written.
 */
static void
set_up_other(RtbFixture *fixture, const RtbTransport *transport, const RtbWork *work, MemoryContext cxt)
{
	/* needed after the transaction, whose own context may be the current one */
	MemoryContext kept = AllocSetContextCreate(cxt, "rtbench tables to analyze", ALLOCSET_SMALL_SIZES);
	MemoryContext old;
	List	   *tables;

	run_setup(fixture, transport, work);
	old = MemoryContextSwitchTo(kept);
	tables = rtb_engine_tables(fixture->schema, NIL);
	MemoryContextSwitchTo(old);
	fixture->sequences = rtb_engine_sequences(fixture->schema, cxt);
	transport->commit();
	rtb_engine_analyze(tables);
	MemoryContextDelete(kept);
}

/*
 * Run the setup in the scratch schema that the running transaction of our own
 * has made, commit, and vacuum.
 */
static void
set_up(RtbFixture *fixture, const RtbTransport *transport, const RtbWork *work, MemoryContext cxt)
{
	List	   *before;
	List	   *modes;
	char	   *tables;
	char	   *vacuum = NULL;

	if (rtb_own_is_other())
	{
		set_up_other(fixture, transport, work, cxt);
		return;
	}
	/* what an earlier setup had made, if this one is in its place */
	transport->locked(&before, &modes);
	run_setup(fixture, transport, work);
	transport->settle();
	if (transport->far)
		refuse_changes_far(fixture, before);
	else
		refuse_changes_outside(fixture, before);
	tables = settle_tables(fixture, true);
	if (tables != NULL)
		vacuum = MemoryContextStrdup(cxt, psprintf("VACUUM (ANALYZE, PARALLEL 0) %s", tables));
	fixture->sequences = read_sequences(fixture, cxt);
	transport->commit();
	if (vacuum == NULL)
		return;
	transport->toplevel(vacuum);
	pfree(vacuum);
}

/*
 * rtb_fixture_rebuild
 *		Drop all that is in the scratch schema and run the setup again.
 *
 * With transactions of its own only, outside any.  The schema is a new one of
 * the same name and comment; if this fails, the old one is still there.
 */
void
rtb_fixture_rebuild(RtbFixture *fixture, const RtbTransport *transport, const RtbWork *work)
{
	MemoryContext cxt = CurrentMemoryContext;

	list_free_deep(fixture->sequences);
	fixture->sequences = NIL;
	transport->begin(NULL);
	rtb_scratch_recreate(fixture->schema);
	set_up(fixture, transport, work, cxt);
	MemoryContextSwitchTo(cxt);
}

/*
 * rtb_fixture_create
 *		Make the scratch schema and run the setup in it.
 *
 * With transactions of its own everything is committed, vacuumed and
 * analyzed when this returns.  In a caller's transaction it must be called in
 * a subtransaction that the caller of this function rolls back later; tables
 * are analyzed only.  Throws 42501 with the ways out if the role may not
 * create schemas, and whatever the setup throws.
 */
void
rtb_fixture_create(RtbFixture *fixture, const RtbTransport *transport, const RtbWork *work)
{
	MemoryContext cxt = CurrentMemoryContext;
	SubTransactionId since = GetCurrentSubTransactionId();
	char	   *tables;

	memset(fixture, 0, sizeof(RtbFixture));
	if (work->setup == NIL)
		return;

	if (transport->own_transactions)
	{
		transport->begin(NULL);
		fixture->schema = rtb_scratch_create(transport, cxt);
		fixture->temporary = fixture->schema == NULL;
		fixture->path = MemoryContextStrdup(cxt, passes_path(fixture));
		set_up(fixture, transport, work, cxt);
	}
	else
	{
		SPI_connect();
		fixture->schema = rtb_scratch_create(transport, cxt);
		fixture->temporary = fixture->schema == NULL;
		fixture->path = MemoryContextStrdup(cxt, passes_path(fixture));
		run_setup(fixture, transport, work);
		transport->settle();
		if (fixture->temporary)
			fixture->relations = find_temporary(since, cxt);
		tables = settle_tables(fixture, false);
		if (tables != NULL)
			rtb_own_rows(psprintf("ANALYZE %s", tables), 0, NULL);
		fixture->sequences = read_sequences(fixture, cxt);
		SPI_finish();
	}
	MemoryContextSwitchTo(cxt);
}

/*
 * rtb_fixture_drop
 *		Drop the scratch schema now; in a caller's transaction the rollback of
 *		the point's subtransaction does it.
 */
void
rtb_fixture_drop(RtbFixture *fixture, const RtbTransport *transport)
{
	if (fixture->schema == NULL || !transport->own_transactions)
		return;
	rtb_scratch_drop(fixture->schema);
	fixture->schema = NULL;
}

static void
vacuum_some(const RtbTransport *transport, List *relations, bool whole, bool truncate)
{
	StringInfoData buf;
	ListCell   *lc;

	if (relations == NIL)
		return;
	initStringInfo(&buf);
	foreach(lc, relations)
		appendStringInfo(&buf, "%s%s", foreach_current_index(lc) > 0 ? ", " : "",
						 ((const RtbRelation *) lfirst(lc))->name);
	transport->toplevel(psprintf("VACUUM (INDEX_CLEANUP on, TRUNCATE %s, DISABLE_PAGE_SKIPPING %s, PARALLEL 0) %s",
								 truncate ? "on" : "off", whole ? "on" : "off", buf.data));
}

/*
 * rtb_fixture_vacuum
 *		Bring relations back to a state without dead rows, outside the clock.
 *
 * INDEX_CLEANUP on: below 2 % of pages VACUUM would leave the index entries.
 * Small tables are read whole: from the pages that changed VACUUM guesses the
 * number of rows, and the guesses of many passes go astray (2,000 became 1,600
 * in 24 of them), which the planner believes.
 *
 * at_end: read all of them whole, so that the number of rows is right, and
 * give back empty pages at the end, which takes a moment's ACCESS EXCLUSIVE
 * lock where nobody else holds one.
 */
void
rtb_fixture_vacuum(const RtbTransport *transport, List *relations, bool at_end)
{
	MemoryContext cxt = CurrentMemoryContext;
	List	   *small = NIL;
	List	   *large = NIL;
	ListCell   *lc;

	foreach(lc, relations)
	{
		RtbRelation *rel = lfirst(lc);

		if (rel->relkind != RELKIND_RELATION && rel->relkind != RELKIND_MATVIEW)
			continue;
		if (at_end || rel->bytes <= RTB_SMALL_TABLE_BYTES)
			small = lappend(small, rel);
		else
			large = lappend(large, rel);
	}
	vacuum_some(transport, small, true, at_end);
	vacuum_some(transport, large, false, at_end);
	MemoryContextSwitchTo(cxt);
	list_free(small);
	list_free(large);
}

/*
 * rtb_fixture_reset_sequences
 *		Set scratch sequences back to what the setup left.
 *
 * Where transactions are the transport's own outside any, in a caller inside
 * his.
 */
void
rtb_fixture_reset_sequences(RtbFixture *fixture, const RtbTransport *transport)
{
	MemoryContext cxt = CurrentMemoryContext;
	bool		own = transport->own_transactions;
	ListCell   *lc;
	int			nest;

	if (fixture->sequences == NIL)
		return;
	if (own)
		transport->begin(NULL);
	else
		SPI_connect();
	nest = rtb_own_begin();
	foreach(lc, fixture->sequences)
	{
		const RtbSequence *seq = lfirst(lc);

		char	   *call = rtb_own_is_other() ? psprintf("setval(%s", quote_literal_cstr(seq->name))
			: psprintf("pg_catalog.setval('%u'::pg_catalog.regclass", seq->relid);

		rtb_own_rows(psprintf("SELECT %s, " INT64_FORMAT ", %s)",
							  call, seq->last_value, seq->is_called ? "true" : "false"), 0, NULL);
	}
	rtb_own_end(nest);
	if (own)
		transport->commit();
	else
		SPI_finish();
	MemoryContextSwitchTo(cxt);
}
