/*
 * spi_arm_state.c
 *	  An arm's state: its steps, their statements, and how these are prepared.
 *
 * Memory: an arm's state has a context of its own, from open_arm to
 * close_arm; what belongs to one pass (bindings) lives in its child
 * pass_cxt, which release_arm resets; conversions of one driver row in the
 * foreach's row_cxt, reset for every row.
 */
#include "postgres.h"

#include "spi_arm_private.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "probe.h"
#include "script.h"

/* how many of its driver's columns a body uses, in its own statements or as its drivers' parameters */
static int
columns_used(List *body)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, body)
	{
		const RtbStep *step = lfirst(lc);

		n = Max(n, Max(step->nparams, step->if_column));
	}
	return n;
}

/* is a statement's message all of its transaction, so that it may end that itself? */
static bool
stands_alone(const RtbArm *arm, const RtbStep *step)
{
	if (list_length(step->statements) > 1 && step->nparams == 0)
		return false;
	return arm->ending == RTB_ENDING_AUTOCOMMIT ||
		(arm->ending == RTB_ENDING_COMMIT && list_length(arm->steps) == 1 &&
		 step->kind == RTB_STEP_STATEMENT && linitial(arm->steps) == step);
}

/* how a statement is sent; what is rolled back whole needs nothing special */
static SpiSend
way_of(const RtbArm *arm, const RtbStep *step, const char *text)
{
	const Node *stmt;

	if (arm->ending == RTB_ENDING_ROLLBACK && !arm->savepoints)
		return SPI_SEND_PLAN;
	stmt = linitial_node(RawStmt, raw_parser(text, RAW_PARSE_DEFAULT))->stmt;
	if (IsA(stmt, TransactionStmt))
		return SPI_SEND_SAVEPOINT;
	if (stands_alone(arm, step) && (IsA(stmt, CallStmt) || IsA(stmt, DoStmt)))
		return SPI_SEND_CALL;
	return SPI_SEND_PLAN;
}

static void
open_steps(SpiArm *arm, List *steps, SpiStep **out, int *nout)
{
	ListCell   *lc;
	int			i = 0;

	*nout = list_length(steps);
	*out = palloc0(sizeof(SpiStep) * Max(*nout, 1));
	foreach(lc, steps)
	{
		const RtbStep *step = lfirst(lc);
		SpiStep    *state = &(*out)[i++];
		ListCell   *ls;
		int			n = 0;

		state->step = step;
		state->nstatements = list_length(step->statements);
		state->statements = palloc0(sizeof(SpiStatement) * state->nstatements);
		foreach(ls, step->statements)
		{
			state->statements[n].text = lfirst(ls);
			state->statements[n++].send = way_of(arm->arm, step, lfirst(ls));
		}
		arm->special |= step->subtransaction != RTB_SUBXACT_NONE;
		if (step->kind != RTB_STEP_STATEMENT)
			state->row.cxt = AllocSetContextCreate(arm->cxt, "rtbench row",
												   ALLOCSET_DEFAULT_SIZES);
		if (step->kind == RTB_STEP_FOREACH)
		{
			state->ncolumns = columns_used(step->body);
			open_steps(arm, step->body, &state->body, &state->nbody);
		}
	}
}

/*
 * rtb_spi_open_arm
 *		State of an arm in a context of its own, under the current one.
 */
void *
rtb_spi_open_arm(const RtbArm *arm)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "rtbench arm",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	SpiArm	   *state = palloc0(sizeof(SpiArm));

	state->cxt = cxt;
	state->arm = arm;
	state->stores = arm->ending != RTB_ENDING_ROLLBACK || arm->savepoints;
	state->special = state->stores;
	state->pass_cxt = AllocSetContextCreate(cxt, "rtbench pass", ALLOCSET_DEFAULT_SIZES);
	open_steps(state, arm->steps, &state->steps, &state->nsteps);
	MemoryContextSwitchTo(old);
	return state;
}

static void
free_plans(SpiStep *steps, int nsteps, bool kept_too)
{
	for (int i = 0; i < nsteps; i++)
	{
		for (int n = 0; n < steps[i].nstatements; n++)
		{
			SpiStatement *st = &steps[i].statements[n];

			st->bound = false;
			if (st->plan != NULL && (kept_too || !steps[i].step->plans_kept))
			{
				SPI_freeplan(st->plan);
				st->plan = NULL;
			}
		}
		if (steps[i].row.cxt != NULL)
			MemoryContextReset(steps[i].row.cxt);
		if (steps[i].store != NULL)
			tuplestore_end(steps[i].store);
		steps[i].store = NULL;
		steps[i].row.values = NULL;
		free_plans(steps[i].body, steps[i].nbody, kept_too);
	}
}

/*
 * rtb_spi_release_arm
 *		Free what one pass prepared; also right after an error.
 */
void
rtb_spi_release_arm(void *arg)
{
	SpiArm	   *arm = arg;

	free_plans(arm->steps, arm->nsteps, false);
	MemoryContextReset(arm->pass_cxt);
}

/*
 * rtb_spi_close_arm
 *		Free an arm's state, kept plans included.
 */
void
rtb_spi_close_arm(void *arg)
{
	SpiArm	   *arm = arg;

	free_plans(arm->steps, arm->nsteps, true);
	MemoryContextDelete(arm->cxt);
}

/* ---- one statement ---- */

/* names of types that may be gone and back before the next pass */
static void
remember_names(SpiArm *arm, SpiStatement *st)
{
	MemoryContext old = MemoryContextSwitchTo(arm->cxt);

	for (int i = 0; i < st->ntypes; i++)
	{
		if (st->types[i] < FirstNormalObjectId)
			continue;
		if (st->type_names == NULL)
			st->type_names = palloc0(sizeof(char *) * st->ntypes);
		st->type_names[i] = format_type_extended(st->types[i], -1, FORMAT_TYPE_FORCE_QUALIFY);
	}
	MemoryContextSwitchTo(old);
}

/*
 * Parameter types as the server infers them from the statement.  Done once,
 * in the first pass, which is never timed.
 */
static void
infer_types(SpiArm *arm, SpiStep *step, SpiStatement *st, const RtbRow *row)
{
	List	   *raw;
	Oid		   *types = NULL;
	int			ntypes = 0;
	MemoryContext old;
	ListCell   *lc;

	st->types_known = true;
	if (step->step->nparams == 0)
		return;

	old = MemoryContextSwitchTo(arm->cxt);
	ntypes = list_length(step->step->types);
	types = palloc0(sizeof(Oid) * Max(ntypes, 1));
	ntypes = 0;
	foreach(lc, step->step->types)
		types[ntypes++] = DatumGetObjectId(DirectFunctionCall1(regtypein,
															   CStringGetDatum((char *) lfirst(lc))));
	MemoryContextSwitchTo(old);

	raw = raw_parser(st->text, RAW_PARSE_DEFAULT);
	(void) parse_analyze_varparams(linitial_node(RawStmt, raw), st->text,
								   &types, &ntypes, NULL);

	st->types = MemoryContextAllocZero(arm->cxt, sizeof(Oid) * Max(ntypes, 1));
	for (int i = 0; i < ntypes; i++)
	{
		/* nothing in the statement decides: it is what the driver gives */
		if ((types[i] == InvalidOid || types[i] == UNKNOWNOID) &&
			row != NULL && i < row->desc->natts)
			types[i] = TupleDescAttr(row->desc, i)->atttypid;
		if (types[i] == InvalidOid || types[i] == UNKNOWNOID)
			ereport(ERROR,
					(errcode(ERRCODE_INDETERMINATE_DATATYPE),
					 errmsg("could not determine data type of parameter $%d", i + 1),
					 errhint("Give it in the step: rtbench.step(statement, types => '{bigint}').")));
		st->types[i] = types[i];
	}
	st->ntypes = ntypes;
	remember_names(arm, st);
}

/* types of a fixture that was built anew since have other OIDs under the same names */
static void
refresh_types(SpiStatement *st)
{
	for (int i = 0; i < st->ntypes; i++)
	{
		if (st->type_names[i] != NULL &&
			!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(st->types[i])))
			st->types[i] = DatumGetObjectId(DirectFunctionCall1(regtypein,
																CStringGetDatum(st->type_names[i])));
	}
}

/* preparing is a part of an execution's time; a foreach's driver has its own */
static void
note_preparing(SpiArm *arm, const SpiStep *step, int64 ns)
{
	if (step->step->kind == RTB_STEP_STATEMENT)
		arm->prepare_ns += ns;
	else if (step->step->kind == RTB_STEP_FOREACH)
		rtb_step_timer_prepared(&arm->run->timers[step->step->id - 1], ns);
}

/*
 * rtb_spi_prepare
 *		Prepare a statement for the rest of the pass; the first time with the
 *		types of its parameters.
 */
void
rtb_spi_prepare(SpiArm *arm, SpiStep *step, SpiStatement *st, const RtbRow *row, int options)
{
	int64		started;

	if (!st->types_known)
		infer_types(arm, step, st, row);
	else if (st->type_names != NULL)
		refresh_types(st);
	started = arm->run->timers ? rtb_clock_ns() : 0;
	st->plan = SPI_prepare_cursor(st->text, st->ntypes, st->types, options);
	if (arm->run->timers)
		note_preparing(arm, step, rtb_clock_ns() - started);
	if (st->plan == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("could not prepare statement: %s",
						SPI_result_code_string(SPI_result))));
	/* a kept plan is revalidated when an arm changes the schema under it */
	SPI_keepplan(st->plan);
}

/*
 * rtb_spi_bind_first
 *		A statement's parameters at its first execution in a pass.
 */
ParamListInfo
rtb_spi_bind_first(SpiArm *arm, SpiStatement *st, const RtbRow *row, MemoryContext row_cxt)
{
	MemoryContext old = MemoryContextSwitchTo(arm->pass_cxt);

	rtb_binding_init(&st->binding, st->ntypes, st->types, row);
	st->bound = true;
	MemoryContextSwitchTo(old);
	return rtb_binding_fill(&st->binding, row, row_cxt);
}

/*
 * rtb_spi_refuse
 *		Throw what an SPI result code below zero means for a statement.
 */
pg_noinline void
rtb_spi_refuse(int rc, const char *statement)
{
	/* a generated text is looked at only now: that is work for outside the clock */
	rtb_script_refuse(statement, false);
	if (rc == SPI_ERROR_TRANSACTION)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_TERMINATION),
				 errmsg("a pass is one transaction that is rolled back: it cannot contain transaction control"),
				 errhint("Leave BEGIN, COMMIT, ROLLBACK and SAVEPOINT out of the arm's statements.")));
	if (rc == SPI_ERROR_COPY)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot COPY to or from the client in a pass"),
				 errhint("Use COPY with a file on the server, or INSERT ... SELECT.")));
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg("could not execute statement: %s", SPI_result_code_string(rc))));
}

/*
 * rtb_spi_generic_plans
 *		How often a step's plan was generic so far; -1 of a step without a plan
 *		of its own.
 */
int64
rtb_spi_generic_plans(SpiStep *step)
{
	List	   *sources;

	if (step->step->kind != RTB_STEP_STATEMENT || step->nstatements != 1)
		return -1;
	if (step->statements[0].plan == NULL)
		return 0;
	sources = SPI_plan_get_plan_sources(step->statements[0].plan);
	if (list_length(sources) != 1)
		return -1;
	return ((CachedPlanSource *) linitial(sources))->num_generic_plans;
}

/*
 * rtb_spi_row_says
 *		A boolean column of a driver's row, from 1; null is false.
 */
bool
rtb_spi_row_says(const RtbRow *row, int column)
{
	if (column > row->desc->natts)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_PARAMETER),
				 errmsg("the driver's row has no column for $%d in \"only_if\"", column)));
	if (TupleDescAttr(row->desc, column - 1)->atttypid != BOOLOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column $%d of the driver's row is not boolean, as \"only_if\" needs it", column)));
	return !row->nulls[column - 1] && DatumGetBool(row->values[column - 1]);
}
