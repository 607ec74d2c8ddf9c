/*
 * spi_loop.c
 *	  What the benchmarks hold rtbench's foreach loop against: the same loop as
 *	  somebody would write it by hand in C, with SPI and a receiver of his own.
 *
 * A function here can take the hooks on the executor off while it runs, so
 * that its time holds no counting although the pass around it is counted.
 *
 * Memory: everything is allocated in SPI's procedure context, and gone at
 * SPI_finish().
 */
#include "postgres.h"

#include <time.h>

#include "catalog/objectaccess.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "optimizer/planner.h"
#include "tcop/utility.h"
#include "utils/builtins.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(spi_loop);
PG_FUNCTION_INFO_V1(run);
PG_FUNCTION_INFO_V1(commit_loop);
PG_FUNCTION_INFO_V1(loop_cpu_ns);
PG_FUNCTION_INFO_V1(hooks_installed);

/* as plpgsql's FOR loops and rtbench take them */
#define FETCH_ROWS 50

typedef struct CountingReceiver
{
	DestReceiver pub;
	int64		rows;
} CountingReceiver;

typedef struct Hooks
{
	ExecutorStart_hook_type start;
	ExecutorRun_hook_type run;
	ExecutorFinish_hook_type finish;
	ExecutorEnd_hook_type end;
	ProcessUtility_hook_type utility;
	planner_hook_type planner;
	object_access_hook_type object_access;
} Hooks;

/* ---- no counting ---- */

static Hooks
exchange_hooks(Hooks hooks)
{
	Hooks		before = {ExecutorStart_hook, ExecutorRun_hook, ExecutorFinish_hook,
		ExecutorEnd_hook, ProcessUtility_hook, planner_hook, object_access_hook};

	ExecutorStart_hook = hooks.start;
	ExecutorRun_hook = hooks.run;
	ExecutorFinish_hook = hooks.finish;
	ExecutorEnd_hook = hooks.end;
	ProcessUtility_hook = hooks.utility;
	planner_hook = hooks.planner;
	object_access_hook = hooks.object_access;
	return before;
}

/* ---- the loop ---- */

static bool
receive(TupleTableSlot *slot, DestReceiver *self)
{
	((CountingReceiver *) self)->rows++;
	return true;
}

static void
receiver_startup(DestReceiver *self, int operation, TupleDesc desc)
{
}

static void
receiver_nothing(DestReceiver *self)
{
}

static void
refuse(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg("could not %s: %s", what, SPI_result_code_string(SPI_result))));
}

static int64
loop(const char *driver, const char *statement)
{
	CountingReceiver counter = {{receive, receiver_startup, receiver_nothing, receiver_nothing,
	DestTuplestore}, 0};
	SPIExecuteOptions options = {0};
	SPIPlanPtr	plan = NULL;
	ParamListInfo params = NULL;
	SPIPlanPtr	driver_plan = SPI_prepare(driver, 0, NULL);
	Portal		portal;

	if (driver_plan == NULL)
		refuse("prepare the driver");
	portal = SPI_cursor_open(NULL, driver_plan, NULL, NULL, false);
	options.dest = &counter.pub;
	for (;;)
	{
		SPITupleTable *batch;
		uint64		n;

		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		batch = SPI_tuptable;
		n = SPI_processed;
		if (n == 0)
			break;
		if (plan == NULL)
		{
			int			natts = batch->tupdesc->natts;
			Oid		   *types = palloc(sizeof(Oid) * natts);

			params = makeParamList(natts);
			for (int i = 0; i < natts; i++)
			{
				types[i] = SPI_gettypeid(batch->tupdesc, i + 1);
				params->params[i].ptype = types[i];
				params->params[i].pflags = PARAM_FLAG_CONST;
			}
			plan = SPI_prepare(statement, natts, types);
			if (plan == NULL || SPI_keepplan(plan) != 0)
				refuse("prepare the statement");
			options.params = params;
		}
		for (uint64 i = 0; i < n; i++)
		{
			for (int k = 0; k < params->numParams; k++)
				params->params[k].value = SPI_getbinval(batch->vals[i], batch->tupdesc, k + 1,
														&params->params[k].isnull);
			if (SPI_execute_plan_extended(plan, &options) < 0)
				refuse("execute the statement");
		}
		SPI_freetuptable(batch);
		CHECK_FOR_INTERRUPTS();
	}
	SPI_cursor_close(portal);
	if (plan != NULL)
		SPI_freeplan(plan);
	return counter.rows;
}

/*
 * spi_loop(driver text, statement text, counted boolean) returns bigint
 *		Runs the statement for each row of the driver, with its columns as $1
 *		and so on; returns how many rows it returned.
 */
Datum
spi_loop(PG_FUNCTION_ARGS)
{
	char	   *driver = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
	bool		counted = PG_GETARG_BOOL(2);
	int64		rows = 0;
	Hooks		hooks = {0};

	SPI_connect();
	if (!counted)
		hooks = exchange_hooks(hooks);
	PG_TRY();
	{
		rows = loop(driver, statement);
	}
	PG_FINALLY();
	{
		if (!counted)
			exchange_hooks(hooks);
	}
	PG_END_TRY();
	SPI_finish();
	PG_RETURN_INT64(rows);
}

/*
 * run(statement text, counted boolean) returns void
 *		Runs a statement, such as a DO block.
 */
Datum
run(PG_FUNCTION_ARGS)
{
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(0));
	bool		counted = PG_GETARG_BOOL(1);
	Hooks		hooks = {0};

	SPI_connect();
	if (!counted)
		hooks = exchange_hooks(hooks);
	PG_TRY();
	{
		if (SPI_execute(statement, false, 0) < 0)
			refuse("execute the statement");
	}
	PG_FINALLY();
	{
		if (!counted)
			exchange_hooks(hooks);
	}
	PG_END_TRY();
	SPI_finish();
	PG_RETURN_VOID();
}

/* the rows of a driver that has been read whole, each run and committed */
static void
commit_each(SPITupleTable *rows, uint64 n, const char *statement)
{
	int			natts = rows->tupdesc->natts;
	Oid		   *types = palloc(sizeof(Oid) * natts);
	Datum	   *values = palloc(sizeof(Datum) * natts);
	char	   *nulls = palloc(natts);
	SPIPlanPtr	plan;

	for (int i = 0; i < natts; i++)
		types[i] = SPI_gettypeid(rows->tupdesc, i + 1);
	plan = SPI_prepare(statement, natts, types);
	if (plan == NULL || SPI_keepplan(plan) != 0)
		refuse("prepare the statement");
	for (uint64 row = 0; row < n; row++)
	{
		for (int i = 0; i < natts; i++)
		{
			bool		isnull;

			values[i] = SPI_getbinval(rows->vals[row], rows->tupdesc, i + 1, &isnull);
			nulls[i] = isnull ? 'n' : ' ';
		}
		if (SPI_execute_plan(plan, values, nulls, false, 0) < 0)
			refuse("execute the statement");
		SPI_commit();
		CHECK_FOR_INTERRUPTS();
	}
	SPI_freeplan(plan);
}

/*
 * commit_loop(driver text, statement text), a procedure
 *		Runs the statement for each row of the driver, and commits after each;
 *		nothing is counted.
 */
Datum
commit_loop(PG_FUNCTION_ARGS)
{
	char	   *driver = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Hooks		hooks = {0};

	SPI_connect_ext(SPI_OPT_NONATOMIC);
	hooks = exchange_hooks(hooks);
	PG_TRY();
	{
		if (SPI_execute(driver, true, 0) != SPI_OK_SELECT)
			refuse("read the driver");
		commit_each(SPI_tuptable, SPI_processed, statement);
	}
	PG_FINALLY();
	{
		exchange_hooks(hooks);
	}
	PG_END_TRY();
	SPI_finish();
	PG_RETURN_VOID();
}

/*
 * loop_cpu_ns(driver text, statement text) returns bigint
 *		The processor time that spi_loop() takes in this process, hooks as they
 *		are, in nanoseconds.
 */
Datum
loop_cpu_ns(PG_FUNCTION_ARGS)
{
	char	   *driver = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
	struct timespec before;
	struct timespec after;

	SPI_connect();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	loop(driver, statement);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	SPI_finish();
	PG_RETURN_INT64((after.tv_sec - before.tv_sec) * INT64CONST(1000000000) +
					after.tv_nsec - before.tv_nsec);
}

/*
 * hooks_installed() returns int
 *		How many hooks are set in this process of those that rtbench can set.
 */
Datum
hooks_installed(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32((ExecutorStart_hook != NULL) + (ExecutorRun_hook != NULL) +
					(ExecutorFinish_hook != NULL) + (ExecutorEnd_hook != NULL) +
					(ProcessUtility_hook != NULL) + (planner_hook != NULL) +
					(object_access_hook != NULL));
}
