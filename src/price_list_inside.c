/*
 * price_list_inside.c
 *	  Visits for the price list without a wire: SPI here and in a worker.
 *
 * Memory: SPI's, and the current context.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "nodes/pg_list.h"
#include "tcop/dest.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "own_sql.h"
#include "price_list.h"
#include "probe.h"
#include "worker.h"

#define REQUEST_PRICES	'$'
#define REPLY_PRICES	'$'

/* saved plan, text parsed each time, and a loop in a function */
const char *const rtb_price_inside_protocols[RTB_PROTOCOLS] = {"saved plan", "text", "plpgsql"};

typedef enum InsideProtocol
{
	INSIDE_PLAN,
	INSIDE_TEXT,
	INSIDE_PLPGSQL
} InsideProtocol;

typedef struct Inside
{
	SPIPlanPtr	plans[RTB_PRICED];
	SPIPlanPtr	calls[RTB_PRICED];	/* of the functions */
	StringInfoData text;
	char	   *schema;
} Inside;

static void
require_done(int rc, const char *statement)
{
	if (rc < 0)
		elog(ERROR, "could not run \"%s\": %s", statement, SPI_result_code_string(rc));
}

static void
run_text(const char *statement)
{
	SPIExecuteOptions options = {.dest = None_Receiver};

	require_done(SPI_execute_extended(statement, &options), statement);
}

static SPIPlanPtr
make_plan(const char *statement, int nargs, Oid *types)
{
	SPIPlanPtr	plan = SPI_prepare(statement, nargs, types);

	if (plan == NULL)
		require_done(SPI_result, statement);
	return plan;
}

static void
make_function(const char *schema, RtbPriced statement)
{
	const char *verb = statement <= RTB_PRICED_SELECT ? "PERFORM" : "";
	char	   *text = rtb_price_statement(schema, statement, "n");

	/* PERFORM stands for SELECT */
	if (statement <= RTB_PRICED_SELECT)
		text += strlen("SELECT");
	run_text(psprintf("CREATE FUNCTION %s.%s(first bigint, times int) RETURNS void LANGUAGE plpgsql AS $$ "
					  "BEGIN FOR n IN first .. first + times - 1 LOOP %s %s; END LOOP; END $$",
					  schema, rtb_priced_names[statement], verb, text));
}

static int64
run_inside(void *arg, int protocol, RtbPriced statement, int64 first, int times)
{
	Inside	   *inside = arg;
	SPIExecuteOptions options = {.dest = None_Receiver};
	Datum		values[2] = {Int64GetDatum(first), Int32GetDatum(times)};
	char		number[MAXINT8LEN + 1];
	int64		started = rtb_clock_ns();

	switch ((InsideProtocol) protocol)
	{
		case INSIDE_PLAN:
			for (int i = 0; i < times; i++)
			{
				values[0] = Int64GetDatum(first + i);
				require_done(SPI_execute_plan(inside->plans[statement], values, NULL, false, 0), "plan");
				SPI_freetuptable(SPI_tuptable);
			}
			break;
		case INSIDE_TEXT:
			for (int i = 0; i < times; i++)
			{
				char	   *text;

				pg_lltoa(first + i, number);
				text = rtb_price_statement(inside->schema, statement, number);
				require_done(SPI_execute_extended(text, &options), text);
				pfree(text);
			}
			break;
		case INSIDE_PLPGSQL:
			require_done(SPI_execute_plan(inside->calls[statement], values, NULL, false, 0), "call");
			SPI_freetuptable(SPI_tuptable);
			break;
	}
	return rtb_clock_ns() - started;
}

/*
 * A visit in this process, inside a transaction that is rolled back after it.
 */
static void
visit(double *us)
{
	Oid			types[2] = {INT8OID, INT4OID};
	Inside		inside = {.schema = rtb_price_schema()};
	ListCell   *lc;

	/* until the transaction is rolled back: no operator of somebody else's in what is measured */
	rtb_set_local("search_path", "pg_catalog, pg_temp");
	SPI_connect();
	foreach(lc, rtb_price_fixture(inside.schema))
		run_text(lfirst(lc));
	for (int s = 0; s < RTB_PRICED; s++)
	{
		make_function(inside.schema, s);
		inside.plans[s] = make_plan(rtb_price_statement(inside.schema, s, "$1"), 1, types);
		inside.calls[s] = make_plan(psprintf("SELECT %s.%s($1, $2)", inside.schema, rtb_priced_names[s]),
									2, types);
	}
	rtb_price_rounds(run_inside, &inside, us);
	SPI_finish();
}

/*
 * rtb_price_in_caller
 *		A visit in this process, in a subtransaction.
 */
void
rtb_price_in_caller(double *us)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		visit(us);
	}
	PG_FINALLY();
	{
		/* an error must not leave it open: who began it ends it */
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(cxt);
		CurrentResourceOwner = owner;
	}
	PG_END_TRY();
}

/* in the worker */
static void
serve_prices(char kind, StringInfo body)
{
	double		us[RTB_PRICES];

	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	visit(us);
	AbortCurrentTransaction();
	rtb_worker_reply(REPLY_PRICES, (char *) us, sizeof(us));
}

static void
take_prices(void *arg, char kind, StringInfo body)
{
	if (kind != REPLY_PRICES || body->len != RTB_PRICES * sizeof(double))
		elog(ERROR, "unexpected reply \"%c\"", kind);
	memcpy(arg, body->data, body->len);
}

/*
 * rtb_price_in_worker
 *		A visit in a worker of its own.
 */
void
rtb_price_in_worker(double *us)
{
	RtbWorker  *worker = rtb_worker_start();

	rtb_worker_request(worker, REQUEST_PRICES, "", 0, take_prices, us);
	rtb_worker_stop(worker);
}

/*
 * rtb_price_list_init
 *		At module load: what a worker does when asked for prices.
 */
void
rtb_price_list_init(void)
{
	static const char kinds[] = {REQUEST_PRICES, '\0'};

	rtb_worker_set_handler(kinds, serve_prices);
}
