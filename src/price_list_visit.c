/*
 * price_list_visit.c
 *	  A visit for the price list: its fixture, its rounds, and one over a
 *	  connection.
 *
 * Memory: all in the current context, which the caller resets.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/pg_list.h"

#include "connection_ask.h"
#include "own_sql.h"
#include "price_list.h"
#include "probe.h"
#include "scratch.h"
#include "stats.h"

const char *const rtb_priced_names[] = {
	[RTB_PRICED_EMPTY] = "empty",
	[RTB_PRICED_SELECT] = "select",
	[RTB_PRICED_INSERT] = "insert",
	[RTB_PRICED_UPDATE] = "update",
	[RTB_PRICED_DELETE] = "delete"
};

const RtbProtocol rtb_price_protocols[RTB_PROTOCOLS] = {RTB_PROTOCOL_SIMPLE, RTB_PROTOCOL_EXTENDED, RTB_PROTOCOL_PREPARED};

typedef struct Over
{
	RtbAsk	   *asks[RTB_PROTOCOLS][RTB_PRICED];
} Over;

/*
 * A schema's name that no other process of this server uses.
 */
char *
rtb_price_schema(void)
{
	return psprintf("rtbench_price_%d", MyProcPid);
}

/*
 * The statements that make the table: list of char *.  Keys 1 to KEYS of each
 * protocol are there to be updated, as many more to be deleted; those inserted
 * come behind.  Half of a page is free, so that an update stays on it.
 */
List *
rtb_price_fixture(const char *schema)
{
	return list_make3(psprintf("CREATE SCHEMA %s", schema),
					  psprintf("CREATE TABLE %s.prices (id bigint PRIMARY KEY, v bigint NOT NULL) WITH (fillfactor = 50)", schema),
					  psprintf("INSERT INTO %s.prices SELECT g, 0 FROM generate_series(1, %d) AS g", schema,
							   2 * RTB_PROTOCOLS * RTB_PRICE_KEYS));
}

/*
 * A statement's text, with what stands for the key.
 */
char *
rtb_price_statement(const char *schema, RtbPriced statement, const char *key)
{
	switch (statement)
	{
		case RTB_PRICED_EMPTY:
			return pstrdup("SELECT 1");
		case RTB_PRICED_SELECT:
			return psprintf("SELECT v FROM %s.prices WHERE id = %s", schema, key);
		case RTB_PRICED_INSERT:
			return psprintf("INSERT INTO %s.prices VALUES (%s, 0)", schema, key);
		case RTB_PRICED_UPDATE:
			return psprintf("UPDATE %s.prices SET v = v + 1 WHERE id = %s", schema, key);
		case RTB_PRICED_DELETE:
			return psprintf("DELETE FROM %s.prices WHERE id = %s", schema, key);
	}
	pg_unreachable();
}

/* the first key of a protocol's statement, before any has run */
static int64
first_key(int protocol, RtbPriced statement)
{
	int64		key = 1 + (int64) protocol * RTB_PRICE_KEYS;

	if (statement == RTB_PRICED_DELETE)
		key += RTB_PROTOCOLS * RTB_PRICE_KEYS;
	if (statement == RTB_PRICED_INSERT)
		key += 2 * RTB_PROTOCOLS * RTB_PRICE_KEYS;
	return key;
}

/*
 * rtb_price_rounds
 *		All variants in turn, round by round, each round beginning with another;
 *		of each the median of its rounds, in microseconds a statement.
 */
void
rtb_price_rounds(RtbPriceRun run, void *arg, double *us)
{
	double		seen[RTB_PRICES][RTB_PRICE_ROUNDS];

	for (int v = 0; v < RTB_PRICES; v++)
	{
		int			protocol = v / RTB_PRICED;
		RtbPriced	statement = v % RTB_PRICED;

		(void) run(arg, protocol, statement, first_key(protocol, statement), RTB_PRICE_WARM_UP);
	}
	for (int round = 0; round < RTB_PRICE_ROUNDS; round++)
	{
		for (int i = 0; i < RTB_PRICES; i++)
		{
			/* 4 and 15 have no common divisor: neighbours change too */
			int			v = (i * (round % 2 == 0 ? 1 : 4) + round * 3) % RTB_PRICES;
			int			protocol = v / RTB_PRICED;
			RtbPriced	statement = v % RTB_PRICED;
			int64		first = first_key(protocol, statement) + RTB_PRICE_WARM_UP +
				round * RTB_PRICE_TIMES;

			CHECK_FOR_INTERRUPTS();
			seen[v][round] = run(arg, protocol, statement, first, RTB_PRICE_TIMES) /
				1000.0 / RTB_PRICE_TIMES;
		}
	}
	for (int v = 0; v < RTB_PRICES; v++)
		us[v] = rtb_median(seen[v], RTB_PRICE_ROUNDS);
}

static int64
run_over(void *arg, int protocol, RtbPriced statement, int64 first, int times)
{
	Over	   *over = arg;
	int64		started = rtb_clock_ns();

	(void) rtb_ask_run(over->asks[protocol][statement], first, times);
	return rtb_clock_ns() - started;
}

/*
 * In the running transaction: no operator of somebody else's in what is
 * measured.  An engine that has no such setting is left as it is.
 */
static void
take_safe_path(RtbConnection *c)
{
	MemoryContext cxt = CurrentMemoryContext;

	(void) rtb_connection_query(c, "SAVEPOINT rtbench_path", NULL);
	PG_TRY();
	{
		(void) rtb_connection_query(c, "SET LOCAL search_path TO pg_catalog, pg_temp", NULL);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		if (!rtb_own_refused())
			PG_RE_THROW();
		FlushErrorState();
		(void) rtb_connection_query(c, "ROLLBACK TO SAVEPOINT rtbench_path", NULL);
	}
	PG_END_TRY();
	(void) rtb_connection_query(c, "RELEASE SAVEPOINT rtbench_path", NULL);
}

/* a schema of the far end: is it the one that is looked for? */
typedef struct Look
{
	const char *schema;
	bool		found;
} Look;

static void
look_at_schema(void *arg, int ncolumns, char **values, int *lengths)
{
	Look	   *look = arg;

	if (ncolumns > 0 && values[0] != NULL && lengths[0] == strlen(look->schema) &&
		memcmp(values[0], look->schema, lengths[0]) == 0)
		look->found = true;
}

/*
 * A far end that cannot roll back DDL keeps the schema: drop it there.  No
 * operator compares the names there: somebody else might have made it.
 */
static void
drop_survivor(RtbConnection *c, const char *schema)
{
	Look		look = {schema, false};
	RtbRows		receiver = {NULL, look_at_schema, &look};

	(void) rtb_connection_query(c, "SELECT schema_name FROM information_schema.schemata", &receiver);
	if (look.found)
		(void) rtb_connection_query(c, psprintf("DROP SCHEMA %s CASCADE", schema), NULL);
}

/* the table there; a standby, or what is set so, refuses it without a way out */
static void
make_fixture(RtbConnection *c, const char *server, const char *schema)
{
	MemoryContext cxt = CurrentMemoryContext;
	ListCell   *lc;

	PG_TRY();
	{
		foreach(lc, rtb_price_fixture(schema))
			(void) rtb_connection_query(c, lfirst(lc), NULL);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_READ_ONLY_SQL_TRANSACTION)
			PG_RE_THROW();
		MemoryContextSwitchTo(cxt);
		FlushErrorState();
		rtb_scratch_refuse_read_only("measure prices", server);
	}
	PG_END_TRY();
}

/*
 * rtb_price_over
 *		A visit over a connection to that server, or by that transport: simple,
 *		extended, prepared.
 */
void
rtb_price_over(RtbConnection *c, const char *server, double *us)
{
	Over	   *over = palloc(sizeof(Over));
	char	   *schema = rtb_price_schema();

	(void) rtb_connection_query(c, "BEGIN", NULL);
	take_safe_path(c);
	make_fixture(c, server, schema);
	for (int p = 0; p < RTB_PROTOCOLS; p++)
	{
		for (int s = 0; s < RTB_PRICED; s++)
			over->asks[p][s] = rtb_ask_create(c, rtb_price_statement(schema, s, ":n"),
											  rtb_price_protocols[p], 1, NULL);
	}
	rtb_price_rounds(run_over, over, us);
	for (int p = 0; p < RTB_PROTOCOLS; p++)
	{
		for (int s = 0; s < RTB_PRICED; s++)
			rtb_ask_finish(over->asks[p][s]);
	}
	(void) rtb_connection_query(c, "ROLLBACK", NULL);
	drop_survivor(c, schema);
}
