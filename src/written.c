/*
 * written.c
 *	  Which relations a pass wrote, and what may be done with them.
 *
 * A relation was written if this process holds a lock of RowExclusive or a
 * stronger mode on it before the pass is rolled back.  That includes
 * cascades, trigger targets, partitions, COPY, TRUNCATE and sequences, and
 * leaves undone subtransactions out; the statistics views do neither.
 */
#include "postgres.h"

#include "compat.h"
#include "written.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_largeobject.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "digest.h"
#include "own_sql.h"

#define WEAK_MODES (LOCKBIT_ON(AccessShareLock) | LOCKBIT_ON(RowShareLock))

/*
 * Is this a lock of ours on a user's relation, strong enough to write?  Of the
 * catalogs only the one that holds users' data counts, large objects; it is
 * locked so for reading, too, which needs no transaction id.
 */
static bool
is_write_lock(const LockInstanceData *lock)
{
	return lock->pid == MyProcPid &&
		lock->locktag.locktag_type == LOCKTAG_RELATION &&
		lock->locktag.locktag_field1 == MyDatabaseId &&
		(lock->holdMask & ~WEAK_MODES) != 0 &&
		(lock->locktag.locktag_field2 >= FirstNormalObjectId ||
		 (lock->locktag.locktag_field2 == LargeObjectRelationId &&
		  TransactionIdIsValid(GetTopTransactionIdIfAny())));
}

/*
 * rtb_written_locked
 *		Relations of users that this process may have written in the running
 *		transaction, as a list of Oid in the current memory context.
 */
List *
rtb_written_locked(void)
{
	LockData   *data = GetLockStatusData();
	List	   *oids = NIL;

	for (int i = 0; i < data->nelements; i++)
	{
		if (is_write_lock(&data->locks[i]))
			oids = list_append_unique_oid(oids, data->locks[i].locktag.locktag_field2);
	}
	return oids;
}

/*
 * rtb_written_changed
 *		Of these relations, those whose rows or definition this process may have
 *		changed: a list of Oid in the current memory context.
 *
 * A table that a new foreign key references, or that gets a trigger for it,
 * is locked in a mode between the two.
 */
List *
rtb_written_changed(List *oids)
{
	LockData   *data = GetLockStatusData();
	List	   *changed = NIL;

	for (int i = 0; i < data->nelements; i++)
	{
		const LockInstanceData *lock = &data->locks[i];

		if (is_write_lock(lock) && list_member_oid(oids, lock->locktag.locktag_field2) &&
			(lock->holdMask & (LOCKBIT_ON(RowExclusiveLock) | LOCKBIT_ON(AccessExclusiveLock))) != 0)
			changed = list_append_unique_oid(changed, lock->locktag.locktag_field2);
	}
	return changed;
}

/*
 * rtb_written_modes
 *		The strongest mode in which this process holds each of these relations,
 *		0 if it doesn't: a list of int in the current memory context.
 */
List *
rtb_written_modes(List *oids)
{
	LockData   *data = GetLockStatusData();
	List	   *modes = NIL;
	ListCell   *lc;

	foreach(lc, oids)
	{
		int			strongest = 0;

		for (int i = 0; i < data->nelements; i++)
		{
			if (!is_write_lock(&data->locks[i]) ||
				data->locks[i].locktag.locktag_field2 != lfirst_oid(lc))
				continue;
			for (int mode = 1; mode < MAX_LOCKMODES; mode++)
			{
				if (data->locks[i].holdMask & LOCKBIT_ON(mode))
					strongest = Max(strongest, mode);
			}
		}
		modes = lappend_int(modes, strongest);
	}
	return modes;
}

/*
 * rtb_written_mode_name
 *		The mode as pg_locks names it.
 */
const char *
rtb_written_mode_name(const RtbRelation *rel)
{
	return GetLockmodeName(DEFAULT_LOCKMETHOD, rel->mode > 0 ? rel->mode : RowExclusiveLock);
}

/*
 * rtb_written_made
 *		Of relations that are locked, the tables and materialized views that
 *		this transaction made in the given subtransaction or later and that are
 *		still there; temporary ones, which are a means, left out.
 *
 * No other transaction will ever see them, so that only the pass itself can
 * tell what is in them.
 */
List *
rtb_written_made(List *locked, SubTransactionId since)
{
	List	   *made = NIL;
	ListCell   *lc;

	foreach(lc, locked)
	{
		Relation	rel = RelationIdGetRelation(lfirst_oid(lc));

		if (rel == NULL)
			continue;			/* dropped again */
		if (rel->rd_createSubid >= since &&
			(rel->rd_rel->relkind == RELKIND_RELATION || rel->rd_rel->relkind == RELKIND_MATVIEW) &&
			rel->rd_rel->relpersistence != RELPERSISTENCE_TEMP)
			made = lappend_oid(made, RelationGetRelid(rel));
		RelationClose(rel);
	}
	return made;
}

typedef struct AdvisoryLock
{
	LOCKTAG		tag;
	LOCKMODE	mode;
	int64		holds;			/* by the session, not by the transaction */
} AdvisoryLock;

/*
 * How many times over the session holds an advisory lock that this process
 * holds: only the lock's local entry knows, and one more hold leads to it.
 */
static int64
session_holds(const AdvisoryLock *lock)
{
	LOCALLOCK  *local = NULL;
	int64		holds = 0;

	(void) rtb_compat_lock_acquire(&lock->tag, lock->mode, &local);
	for (int i = 0; local != NULL && i < local->numLockOwners; i++)
	{
		if (local->lockOwners[i].owner == NULL)
			holds = local->lockOwners[i].nLocks;
	}
	LockRelease(&lock->tag, lock->mode, true);
	return holds - 1;
}

/*
 * rtb_advisory_locks
 *		Advisory locks that this process holds, in the current context.
 */
List *
rtb_advisory_locks(void)
{
	LockData   *data = GetLockStatusData();
	List	   *locks = NIL;

	for (int i = 0; i < data->nelements; i++)
	{
		LockInstanceData *lock = &data->locks[i];

		if (lock->pid != MyProcPid || lock->locktag.locktag_type != LOCKTAG_ADVISORY)
			continue;
		for (LOCKMODE mode = 1; mode < MAX_LOCKMODES; mode++)
		{
			if (lock->holdMask & LOCKBIT_ON(mode))
			{
				AdvisoryLock *held = palloc(sizeof(AdvisoryLock));

				held->tag = lock->locktag;
				held->mode = mode;
				held->holds = session_holds(held);
				locks = lappend(locks, held);
			}
		}
	}
	return locks;
}

/* how many times over a lock is held according to a list */
static int64
holds_in_list(List *locks, const AdvisoryLock *lock)
{
	ListCell   *lc;

	foreach(lc, locks)
	{
		const AdvisoryLock *other = lfirst(lc);

		if (other->mode == lock->mode && memcmp(&other->tag, &lock->tag, sizeof(LOCKTAG)) == 0)
			return other->holds;
	}
	return 0;
}

/*
 * rtb_advisory_locks_release
 *		Give back what the session holds of advisory locks beyond what it held
 *		before; returns of how many locks.
 */
int
rtb_advisory_locks_release(List *before)
{
	int			released = 0;
	ListCell   *lc;

	foreach(lc, rtb_advisory_locks())
	{
		AdvisoryLock *lock = lfirst(lc);
		int64		more = lock->holds - holds_in_list(before, lock);

		released += more > 0;
		for (; more > 0; more--)
			LockRelease(&lock->tag, lock->mode, true);
	}
	return released;
}

/*
 * rtb_advisory_locks_regain
 *		Take session-level advisory locks as many times over as they were held
 *		before.  False if somebody else was quicker.
 */
bool
rtb_advisory_locks_regain(List *before)
{
	List	   *now = rtb_advisory_locks();
	bool		all = true;
	ListCell   *lc;

	foreach(lc, before)
	{
		AdvisoryLock *lock = lfirst(lc);

		for (int64 less = lock->holds - holds_in_list(now, lock); less > 0; less--)
		{
			if (LockAcquire(&lock->tag, lock->mode, true, true) != LOCKACQUIRE_NOT_AVAIL)
				continue;
			all = false;
			break;
		}
	}
	return all;
}

/*
 * rtb_oids_text
 *		A list of Oid as an SQL array in text form, in the current memory context.
 */
char *
rtb_oids_text(List *oids)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, oids)
		appendStringInfo(&buf, "%c%u", buf.len ? ',' : '{', lfirst_oid(lc));
	appendStringInfoString(&buf, buf.len ? "}" : "{}");
	return buf.data;
}

/*
 * rtb_texts_text
 *		A list of char * as an SQL array in text form, every element quoted.
 */
char *
rtb_texts_text(List *texts)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, texts)
	{
		appendStringInfoString(&buf, buf.len ? ",\"" : "{\"");
		for (const char *c = lfirst(lc); *c; c++)
		{
			if (*c == '"' || *c == '\\')
				appendStringInfoChar(&buf, '\\');
			appendStringInfoChar(&buf, *c);
		}
		appendStringInfoChar(&buf, '"');
	}
	appendStringInfoString(&buf, buf.len ? "}" : "{}");
	return buf.data;
}

/*
 * Tables of two passes are matched by their labels, so no two of one pass may
 * have the same: names are quoted, and a temporary table has its schema's
 * where a fixture may have one of its name.  Labels are quoted here, as
 * another server may do it differently.
 */
static const char describe_sql[] =
"SELECT c.oid::bigint, c.relkind::text, n.nspname = $2, c.relpersistence = 't',"
"       pg_catalog.format('%I.%I', n.nspname, c.relname),"
"       CASE WHEN n.nspname = $2 OR $2 = '' AND c.relpersistence = 't' THEN NULL"
"            WHEN c.relpersistence = 't' THEN 'pg_temp'"
"            ELSE n.nspname::text END, c.relname::text,"
"       (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY a.attnum)"
"          FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0"
"           AND NOT a.attisdropped AND a.attname <> ALL ($3::text[])),"
"       CASE WHEN c.relkind = 'f' THEN 'it is a foreign table'"
"            WHEN NOT pg_catalog.has_schema_privilege(n.oid, 'USAGE')"
"                 THEN pg_catalog.format('no USAGE on schema %I', n.nspname)"
"            WHEN EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid"
"                  AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> ALL ($3::text[])"
"                  AND NOT pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT'))"
"                 THEN 'no SELECT privilege'"
"            WHEN pg_catalog.row_security_active(c.oid) THEN 'row-level security hides rows' END,"
"       pg_catalog.pg_has_role(c.relowner, 'USAGE'),"
"       CASE WHEN c.relkind = ANY ('{r,m}') THEN pg_catalog.pg_table_size(c.oid) ELSE 0 END,"
"       c.reltuples::float8::bigint,"
"       (SELECT pg_catalog.string_agg(i.n::text, ' ') FROM pg_catalog.unnest($3::text[]) WITH ORDINALITY i (name, n)"
"         WHERE EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0"
"                 AND NOT a.attisdropped AND a.attname = i.name))"
"  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
" WHERE c.oid = ANY ($1::oid[]) AND c.relkind = ANY ('{r,m,f,S}') AND n.nspname <> 'rtbench'"
" ORDER BY n.nspname, c.relname";

/* numbers from 1, with spaces between them, as a set from 0 */
static Bitmapset *
numbers(const char *text)
{
	Bitmapset  *set = NULL;
	char	   *end;

	for (; text != NULL && *text != '\0'; text = end)
		set = bms_add_member(set, (int) strtol(text, &end, 10) - 1);
	return set;
}

/*
 * rtb_written_describe
 *		What the catalogs say of written relations that still exist.
 *
 * Tables, materialized views, foreign tables and sequences only: partitioned
 * parents and views hold no rows of their own.  In a transaction with SPI
 * connected; the result lies in the context that was current at the call.
 */
List *
rtb_written_describe(List *oids, const char *scratch, List *ignore_columns)
{
	char	   *params[3];
	List	   *relations = NIL;
	RtbOwnRows    *rows;
	int			nest;

	params[0] = rtb_oids_text(oids);
	params[1] = scratch ? pstrdup(scratch) : "";
	params[2] = rtb_texts_text(ignore_columns);
	nest = rtb_own_begin();
	rows = rtb_own_rows(describe_sql, 3, params);
	for (int i = 0; i < rows->n; i++)
	{
		RtbRelation *rel = palloc0(sizeof(RtbRelation));

		rel->relid = (Oid) rtb_own_row_int64(rows, i, 1);
		rel->relkind = rtb_own_row_text(rows, i, 2)[0];
		rel->scratch = rtb_own_row_bool(rows, i, 3);
		rel->temporary = rtb_own_row_bool(rows, i, 4);
		rel->name = rtb_own_row_text(rows, i, 5);
		rel->label = rtb_digest_label(rtb_own_row_text(rows, i, 6), rtb_own_row_text(rows, i, 7));
		rel->columns = rtb_own_row_text(rows, i, 8);
		rel->unreadable = rtb_own_row_text(rows, i, 9);
		rel->owned = rtb_own_row_bool(rows, i, 10);
		rel->bytes = rtb_own_row_int64(rows, i, 11);
		rel->tuples = (double) rtb_own_row_int64(rows, i, 12);
		rel->ignored = numbers(rtb_own_row_text(rows, i, 13));
		relations = lappend(relations, rel);
	}
	rtb_own_end(nest);
	return relations;
}

/*
 * rtb_written_in_schema
 *		The tables of a scratch schema: list of Oid, in the current context.
 *		Where rtb_written_describe() may be called.
 */
List *
rtb_written_in_schema(const char *schema)
{
	char	   *params[1] = {pstrdup(schema)};
	List	   *oids = NIL;
	int			nest = rtb_own_begin();
	RtbOwnRows *rows = rtb_own_rows("SELECT c.oid::bigint FROM pg_catalog.pg_class c"
									" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
									" WHERE n.nspname = $1 AND c.relkind = ANY ('{r,m}') ORDER BY c.oid", 1, params);

	for (int i = 0; i < rows->n; i++)
		oids = lappend_oid(oids, (Oid) rtb_own_row_int64(rows, i, 1));
	rtb_own_end(nest);
	return oids;
}

/*
 * rtb_written_query
 *		The query for a table's rows, at most so many if limit is not 0.
 *
 * Its own rows only: tables that inherit are relations of their own.  Another
 * engine knows of no inheritance, and not the word.
 */
char *
rtb_written_query(const RtbRelation *rel, int limit)
{
	return psprintf("SELECT %s FROM %s%s%s", rel->columns ? rel->columns : "",
					rtb_own_is_other() ? "" : "ONLY ", rel->name,
					limit > 0 ? psprintf(" LIMIT %d", limit) : "");
}
