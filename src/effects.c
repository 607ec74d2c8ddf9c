/*
 * effects.c
 *	  What the server's statistics counters tell of a pass: HOT updates, and
 *	  reads of the system catalogs.
 *
 * Each process adds up what it does to a relation before it reports it, and
 * rtbench's worker reports nothing during a pass: the difference of two
 * readings is the pass's own.  A scan of an index of a system catalog is what
 * happens when neither the catalog cache nor the relation cache had an answer.
 *
 * Memory: the list of catalog indexes lies in TopMemoryContext.
 */
#include "postgres.h"

#include "effects.h"

#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

#include "own_sql.h"
#include "written.h"

static List *catalog_indexes = NIL;

static void
find_catalog_indexes(void)
{
	int			nest = rtb_own_begin();
	uint64		n = rtb_own_query("SELECT c.oid::bigint FROM pg_catalog.pg_class c"
								  " WHERE c.relkind = 'i' AND c.relnamespace = 'pg_catalog'::regnamespace",
								  0, NULL, NULL, NULL);
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	for (uint64 i = 0; i < n; i++)
		catalog_indexes = lappend_oid(catalog_indexes, (Oid) rtb_own_int64(i, 1));
	MemoryContextSwitchTo(old);
	SPI_freetuptable(SPI_tuptable);
	rtb_own_end(nest);
}

static int64
counter(PGFunction function, Oid relid)
{
	return DatumGetInt64(DirectFunctionCall1(function, ObjectIdGetDatum(relid)));
}

/*
 * rtb_effects_read
 *		The counters as they stand; in a transaction with SPI connected.
 *
 * Their own reading goes through the caches and may read catalogs the first
 * time, which the list made then keeps out of later readings.
 */
void
rtb_effects_read(List *written, RtbEffects *effects)
{
	ListCell   *lc;

	if (catalog_indexes == NIL)
		find_catalog_indexes();
	memset(effects, 0, sizeof(RtbEffects));
	foreach(lc, written)
	{
		const RtbRelation *rel = lfirst(lc);

		if (rel->relkind != RELKIND_RELATION)
			continue;
		effects->updates += counter(pg_stat_get_xact_tuples_updated, rel->relid);
		effects->hot_updates += counter(pg_stat_get_xact_tuples_hot_updated, rel->relid);
	}
	foreach(lc, catalog_indexes)
		effects->catalog_reads += counter(pg_stat_get_xact_numscans, lfirst_oid(lc));
}
