/*
 * unseen.c
 *	  Relations that the caller sees and a worker cannot: those that his own
 *	  transaction made, and temporary ones.
 *
 * Memory: what is returned lies in the current context, the rest in SPI's.
 */
#include "postgres.h"

#include "unseen.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "own_sql.h"

/*
 * Longest names first: "lines_old" before "lines".  A literal with a backslash
 * is E'', which is read alike whatever standard_conforming_strings is.
 */
static const char candidates_sql[] =
"SELECT pg_catalog.format('%I.%I', n.nspname, c.relname), c.relname::text, c.relpersistence = 't', c.xmin"
"  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
" WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.oid >= 16384"
"   AND (c.relpersistence <> 't' OR n.oid = pg_catalog.pg_my_temp_schema())"
"   AND $1 ~ ('(^|[^[:alnum:]_$])' || pg_catalog.regexp_replace(c.relname, '([^[:alnum:]_])', E'\\\\\\\\\\\\1', 'g') || '($|[^[:alnum:]_$])')"
" ORDER BY pg_catalog.length(c.relname) DESC, c.oid";

/*
 * rtb_unseen_hint
 *		The way out where a worker did not find a relation, if the caller has
 *		one of a name that stands in the worker's message (which may be in any
 *		language) and that only he can see; NULL otherwise.  It begins with
 *		"Only" and is one sentence.
 *
 * In a transaction of the caller's; palloc'd in the current context.
 */
char *
rtb_unseen_hint(const char *message)
{
	MemoryContext cxt = CurrentMemoryContext;
	Oid			types[1] = {TEXTOID};
	Datum		values[1];
	char	   *hint = NULL;
	int			nest;
	uint64		n;

	if (message == NULL)
		return NULL;
	SPI_connect();
	nest = rtb_own_begin();
	values[0] = CStringGetTextDatum(message);
	n = rtb_own_query(candidates_sql, 1, types, values, NULL);
	for (uint64 i = 0; i < n && hint == NULL; i++)
	{
		bool		isnull;
		TransactionId made = DatumGetTransactionId(SPI_getbinval(SPI_tuptable->vals[i],
																 SPI_tuptable->tupdesc, 4, &isnull));
		MemoryContext old = MemoryContextSwitchTo(cxt);

		if (rtb_own_bool(i, 3))
			hint = psprintf("Only this session sees temporary table %s: use transport => 'caller'.",
							quote_identifier(rtb_own_text(i, 2)));
		else if (TransactionIdIsCurrentTransactionId(made))
			hint = psprintf("Only this transaction sees %s, which is not committed: commit first, or use transport => 'caller'.",
							rtb_own_text(i, 1));
		MemoryContextSwitchTo(old);
	}
	rtb_own_end(nest);
	SPI_finish();
	MemoryContextSwitchTo(cxt);
	return hint;
}
