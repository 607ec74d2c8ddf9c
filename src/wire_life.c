/*
 * wire_life.c
 *	  The connection that arms go over: made, replaced, ended, and what is known
 *	  of its far end.
 *
 * Memory: the connection's own; names and texts that last are in
 * TopMemoryContext.
 */
#include "postgres.h"

#include "wire.h"

#include "access/xact.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "compat.h"
#include "other_engine.h"
#include "own_sql.h"
#include "probe.h"

/* executions that the price of an empty statement is the cheapest of */
#define EMPTY_STATEMENTS	200
/* how long an error's remains at the far end may take to end */
#define RECOVER_MS			1500

RtbConnection *rtb_wire = NULL;
RtbWireOptions rtb_wire_options;
uint32		rtb_wire_number = 0;	/* of the connection: the next one is another backend */

static bool counts;				/* the far end has rtbench, and it is one backend */
static bool other_qualifies;	/* another engine that knows OPERATOR(pg_catalog.=) */
static bool pooled;				/* a pooler stands between: transactions may find another backend each */
static const char begin_alone[] = "BEGIN";
static const char *begin_text;		/* what begins a transaction block */
static RtbPlaced *placed = NULL;

/* ---- rtbench's own statements ---- */

static void
own_row(void *arg, int ncolumns, char **values, int *lengths)
{
	RtbOwnRows *rows = arg;

	if ((rows->n & (rows->n - 1)) == 0)
	{
		Size		size = sizeof(char *) * Max(rows->n * 2, 1) * Max(ncolumns, 1);

		rows->values = rows->values ? repalloc(rows->values, size) : palloc(size);
	}
	rows->columns = ncolumns;
	for (int i = 0; i < ncolumns; i++)
		rows->values[rows->n * ncolumns + i] = values[i] ? pnstrdup(values[i], lengths[i]) : NULL;
	rows->n++;
}

/*
 * Names, mostly, which are shown, kept, and put into statements.  Once the
 * answer has been read: the connection goes on.
 */
static void
require_text(const RtbOwnRows *rows)
{
	for (int i = 0; i < rows->n * rows->columns; i++)
	{
		const char *value = rows->values[i];

		if (value != NULL && !rtb_connection_valid(value))
			ereport(ERROR,
					(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
					 errmsg("the far end answered with text that is not valid in this database's encoding: %s",
							rtb_connection_text(value)),
					 errhint("Rows may hold such text, names of tables, columns and other objects that arms work on may not."),
					 errcontext("connection \"%s\"", rtb_wire_options.name)));
	}
}

static RtbOwnRows *
own_rows(const char *sql, int nparams, char **params)
{
	RtbOwnRows *rows = palloc0(sizeof(RtbOwnRows));
	RtbRows		receiver = {NULL, own_row, rows};
	Oid		   *types = palloc(sizeof(Oid) * Max(nparams, 1));
	RtbValues	values = {nparams, types, (const char *const *) params};

	/* whoever may create in a schema of the arms' path must not be asked what is here */
	if (!rtb_own_is_other() || other_qualifies)
		sql = rtb_own_qualified(sql);
	for (int i = 0; i < nparams; i++)
		types[i] = 25;			/* text */
	if (nparams == 0)
		(void) rtb_connection_query(rtb_wire, sql, &receiver);
	else
		(void) rtb_connection_query_params(rtb_wire, sql, &values, &receiver);
	require_text(rows);
	return rows;
}

/*
 * rtb_wire_ask
 *		A question whose failure is an answer, too: other engines have other
 *		catalogs.
 */
bool
rtb_wire_ask(const char *question)
{
	RtbOwnRows *rows = rtb_own_try(question, false);

	return rows != NULL && rows->n > 0 && rtb_own_row_bool(rows, 0, 1);
}

static void
take_placement(RtbPlacement placement)
{
	if (!rtb_connection_here(rtb_wire))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot place a far end that is no backend of this server"),
				 errhint("Use placement => 'free'.")));
	placed = rtb_placement_take(placement, rtb_connection_pid(rtb_wire));
}

/*
 * Connect, in no more than that time, where it is not the server's own limit
 * alone (0); other: the far end is known to be another engine.
 */
static void
make_connection(const RtbWireOptions *options, bool other, int milliseconds)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	RtbTarget  *target;

	rtb_wire_options = *options;
	rtb_wire_options.name = pstrdup(options->name);
	target = options->is_server ? rtb_target_server(options->name) : rtb_target_loopback(options->name);
	if (milliseconds > 0)
		target->timeout = Min(target->timeout, milliseconds);
	rtb_wire = rtb_connection_open(target);
	rtb_connection_keep(rtb_wire);
	/* in a context that lasts: its end would let both ends go where they like */
	if (options->placement != RTB_PLACED_FREE)
		take_placement(options->placement);
	rtb_own_route(own_rows, other);
	rtb_wire_number++;
	rtb_connection_limit(rtb_wire, milliseconds);
	/* texts were read here before they are sent */
	if (!rtb_connection_reads_alike(rtb_wire))
		(void) rtb_connection_query(rtb_wire, RTB_STANDARD_STRINGS ? "SET standard_conforming_strings = on"
									: "SET standard_conforming_strings = off", NULL);
	rtb_connection_limit(rtb_wire, 0);
	MemoryContextSwitchTo(old);
}

static void
restore_placement(void)
{
	if (placed == NULL)
		return;
	rtb_placement_restore(placed);
	placed = NULL;
}

/*
 * rtb_wire_open
 *		Connect; from here on rtbench's own statements go that way.
 *
 * In a transaction, since servers and user mappings are in catalogs.  Throws
 * what keeps the connection from being made.
 */
void
rtb_wire_open(const RtbWireOptions *options)
{
	bool		other;

	make_connection(options, false, 0);
	begin_text = begin_alone;
	/* a pooler gives a key of its own for cancelling; other engines may have no such function */
	pooled = rtb_wire_ask(psprintf("SELECT pg_catalog.pg_backend_pid() <> %d", rtb_connection_pid(rtb_wire)));
	/* counted where the arm does not run, or left switched on for others, it would be worse than not */
	counts = !pooled && rtb_wire_ask("SELECT pg_catalog.to_regprocedure('rtbench.counted()') IS NOT NULL");
	other = !counts && !rtb_wire_ask(rtb_engine_is_postgres_sql);
	rtb_own_route(own_rows, other);
	other_qualifies = false;
	other_qualifies = other && rtb_wire_ask("SELECT 1 OPERATOR(pg_catalog.=) 1");
}

static void
renew(int milliseconds)
{
	RtbWireOptions options = rtb_wire_options;
	bool		other = rtb_own_is_other();
	MemoryContext old = CurrentMemoryContext;

	rtb_wire_close();
	StartTransactionCommand();
	make_connection(&options, other, milliseconds);
	CommitTransactionCommand();
	MemoryContextSwitchTo(old);
}

/*
 * rtb_wire_reopen
 *		Have a connection that can be used: for what must be cleaned up at the far
 *		end.  What runs there is cancelled; if the connection was lost, or that
 *		takes too long, it is another one, made in no more than so many ms.
 *		Outside any transaction; throws if that is not possible.
 */
void
rtb_wire_reopen(int milliseconds)
{
	/* one that was idle may have gone unnoticed */
	if (rtb_wire == NULL ||
		!(rtb_connection_alive(rtb_wire) || rtb_connection_recover(rtb_wire, RECOVER_MS)))
		renew(milliseconds);
}

/*
 * rtb_wire_renew
 *		A new connection in the place of this one, outside any transaction.  What
 *		the far end is stays as it was found: nothing is asked that it may refuse,
 *		which at the end of a process could not be caught.
 */
void
rtb_wire_renew(void)
{
	renew(0);
}

/*
 * rtb_wire_revive
 *		Before a point is taken up or left, outside any transaction: a connection
 *		that was ended while other sessions were at work (idle_session_timeout, a
 *		firewall) had nothing that is missed, and is replaced.
 */
void
rtb_wire_revive(void)
{
	if (!rtb_connection_alive(rtb_wire))
		rtb_wire_renew();
}

/*
 * rtb_wire_hush
 *		Around a pass: what is sent beside the arm's statements is rtbench's own,
 *		and notices of it are nobody's concern.  Afterwards they are told, and
 *		counted, from the beginning: a setup's.
 */
void
rtb_wire_hush(bool hushed)
{
	if (!hushed)
		rtb_connection_begin_pass(rtb_wire);
	(void) rtb_connection_hush(rtb_wire, hushed);
}

/*
 * rtb_wire_close
 *		End the connection, if there is one.
 */
void
rtb_wire_close(void)
{
	rtb_own_route(NULL, false);
	restore_placement();
	if (rtb_wire != NULL)
		rtb_connection_close(rtb_wire);
	rtb_wire = NULL;
}

/*
 * rtb_wire_counts
 *		Are untimed passes counted at the far end?
 */
bool
rtb_wire_counts(void)
{
	return counts;
}

/*
 * rtb_wire_pooled
 *		Is the far end a pooler, behind which any transaction may run in another
 *		backend?
 */
bool
rtb_wire_pooled(void)
{
	return pooled;
}

/*
 * rtb_wire_set_path
 *		search_path of all that follows.  Behind a pooler it is that of transaction
 *		blocks only, set by the message that begins them: set for the session it
 *		would be some other client's.
 */
void
rtb_wire_set_path(const char *path)
{
	const char *literal = quote_literal_cstr(path);

	if (pooled)
		begin_text = MemoryContextStrdup(TopMemoryContext,
										 psprintf("BEGIN; SELECT pg_catalog.set_config('search_path', %s, true)", literal));
	else
		(void) rtb_connection_query(rtb_wire, psprintf("SELECT pg_catalog.set_config('search_path', %s, false)", literal), NULL);
}

/*
 * rtb_wire_path_in_blocks
 *		Do only transaction blocks find what arms work on?
 */
bool
rtb_wire_path_in_blocks(void)
{
	return begin_text != begin_alone;
}

/*
 * rtb_wire_begin_text
 *		What a client sends to begin a transaction block.
 */
const char *
rtb_wire_begin_text(void)
{
	return begin_text;
}

static int64
cheapest_empty(void)
{
	int64		cheapest = PG_INT64_MAX;

	rtb_connection_expect(rtb_wire, true, NULL);
	for (int i = 0; i < EMPTY_STATEMENTS; i++)
	{
		int64		started = rtb_clock_ns();
		int64		took;

		(void) rtb_connection_query(rtb_wire, rtb_own_is_other() ? "SELECT 1" : "SELECT", NULL);
		took = rtb_clock_ns() - started;
		cheapest = Min(cheapest, took);
	}
	rtb_connection_expect(rtb_wire, false, NULL);
	return cheapest;
}

/*
 * rtb_wire_empty_price
 *		Nanoseconds of the cheapest round trip of a statement that does nothing,
 *		wherever the kernel will put a session's two ends: on one core it costs
 *		a quarter of what it costs on two.
 */
int64
rtb_wire_empty_price(void)
{
	int64		cheapest = cheapest_empty();

	if (rtb_connection_here(rtb_wire) && rtb_wire_options.placement == RTB_PLACED_FREE &&
		rtb_placement_impossible(RTB_PLACED_SAME_CORE) == NULL)
	{
		RtbPlaced  *one_core = rtb_placement_take(RTB_PLACED_SAME_CORE, rtb_connection_pid(rtb_wire));
		int64		there = cheapest_empty();

		cheapest = Min(cheapest, there);
		rtb_placement_restore(one_core);
	}
	return cheapest;
}

/*
 * rtb_wire_require_alike
 *		Before a text is sent that may hold several statements: throws if the far
 *		end would read it in another way than it was read here, where what must not
 *		be in it was looked for.
 */
void
rtb_wire_require_alike(void)
{
	if (!rtb_connection_reads_alike(rtb_wire))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the far end would read this text in another way than it was checked"),
				 errdetail("standard_conforming_strings or client_encoding has been changed there."),
				 errhint("Leave both as they are, or use protocol => 'prepared'.")));
}
