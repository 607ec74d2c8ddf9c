/*
 * row_hashes.c
 *	  How many rows each of two row sets has alone.
 *
 * Memory: two sorts of work_mem each, what exceeds it is on disk; everything
 * is gone on return.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "compat.h"
#include "digest.h"

/* one side of the merge: its sort, and the hash that is next */
typedef struct Side
{
	Tuplesortstate *sort;
	bool		done;
	pg_uuid_t	next;
} Side;

/*
 * The row type of a tuplestore of row hashes: one uuid column.  Made once for
 * the process, since it is asked for with every row; not to be changed or freed.
 */
TupleDesc
rtb_row_hash_tupdesc(void)
{
	static TupleDesc desc = NULL;

	if (desc == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
		TupleDesc	made = CreateTemplateTupleDesc(1);

		TupleDescInitEntry(made, 1, "row_hash", UUIDOID, -1, 0);
		RTB_TUPDESC_FINISH(made);
		MemoryContextSwitchTo(old);
		desc = made;
	}
	return desc;
}

/*
 * rtb_row_hash_put
 *		Add a row's hash to a tuplestore of row hashes.
 */
void
rtb_row_hash_put(Tuplestorestate *hashes, RtbHash128 hash)
{
	pg_uuid_t	uuid;
	Datum		value = UUIDPGetDatum(&uuid);
	bool		isnull = false;

	StaticAssertStmt(sizeof(uuid.data) == sizeof(RtbHash128), "a row's hash fits a uuid");
	memcpy(uuid.data, &hash, sizeof(hash));
	tuplestore_putvalues(hashes, rtb_row_hash_tupdesc(), &value, &isnull);
}

/*
 * Sort what is left to read of a tuplestore of row hashes.
 */
static Tuplesortstate *
sort_hashes(Tuplestorestate *hashes)
{
	TypeCacheEntry *type = lookup_type_cache(UUIDOID, TYPECACHE_LT_OPR);
	TupleDesc	desc = rtb_row_hash_tupdesc();
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	Tuplesortstate *sort = tuplesort_begin_datum(UUIDOID, type->lt_opr, InvalidOid, false,
												 work_mem, NULL, TUPLESORT_NONE);

	while (tuplestore_gettupleslot(hashes, true, false, slot))
	{
		bool		isnull;
		Datum		hash = slot_getattr(slot, 1, &isnull);

		CHECK_FOR_INTERRUPTS();
		Assert(!isnull);
		tuplesort_putdatum(sort, hash, isnull);
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplesort_performsort(sort);
	return sort;
}

static void
advance(Side *side)
{
	Datum		hash;
	bool		isnull;

	if (!RTB_TUPLESORT_GETDATUM(side->sort, &hash, &isnull))
	{
		side->done = true;
		return;
	}
	side->next = *DatumGetUUIDP(hash);
	pfree(DatumGetPointer(hash));
}

/*
 * Count the rows that each of two sets has and the other lacks; a row that one
 * has three times and the other once counts twice.
 *
 * Reads both tuplestores from their read position, which is their beginning
 * unless somebody read them, to their end.  Throws when cancelled.
 */
void
rtb_row_hashes_compare(Tuplestorestate *a, Tuplestorestate *b,
					   uint64 *only_a, uint64 *only_b)
{
	Side		side_a = {sort_hashes(a)};
	Side		side_b = {sort_hashes(b)};

	*only_a = *only_b = 0;
	advance(&side_a);
	advance(&side_b);
	while (!side_a.done || !side_b.done)
	{
		int			order;

		CHECK_FOR_INTERRUPTS();
		if (side_a.done || side_b.done)
			order = side_a.done ? 1 : -1;
		else
			order = memcmp(side_a.next.data, side_b.next.data, UUID_LEN);

		if (order < 0)
			(*only_a)++;
		else if (order > 0)
			(*only_b)++;
		if (order <= 0)
			advance(&side_a);
		if (order >= 0)
			advance(&side_b);
	}
	tuplesort_end(side_a.sort);
	tuplesort_end(side_b.sort);
}
