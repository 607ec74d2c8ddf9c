/*
 * show.c
 *	  rtbench.show_scenario(): the SQL that a scenario will run.
 *
 * It reads the very document that a session would be sent.
 *
 * Memory: the rows' own is the tuplestore's.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "scenario.h"

PG_FUNCTION_INFO_V1(rtb_show_scenario);

/* one row of show_scenario() */
static void
put_row(ReturnSetInfo *rsinfo, const char *part, int step, int depth, const char *statement)
{
	Datum		values[3];
	bool		nulls[3] = {false, step == 0, false};

	values[0] = CStringGetTextDatum(part);
	values[1] = Int32GetDatum(step);
	values[2] = CStringGetTextDatum(psprintf("%*s%s", 4 * depth, "", statement));
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

static void
put_steps(ReturnSetInfo *rsinfo, const char *part, List *steps, int depth)
{
	ListCell   *lc;

	foreach(lc, steps)
	{
		RtbStep    *step = lfirst(lc);
		const char *text = step->text;

		if (step->kind == RTB_STEP_FOREACH)
			text = psprintf("foreach row of: %s", text);
		else if (step->kind == RTB_STEP_GENERATED)
			text = psprintf("each value of: %s", text);
		else if (step->kind == RTB_STEP_COPY)
			text = psprintf("rows of: %s -- into: %s", text, step->copy);
		if (step->if_column > 0)
			text = psprintf("%s -- only if $%d", text, step->if_column);
		if (step->commit_every > 0)
			text = psprintf("%s -- commit after every %lld row%s", text,
							(long long) step->commit_every, step->commit_every == 1 ? "" : "s");
		if (step->subtransaction != RTB_SUBXACT_NONE)
			text = psprintf("%s -- each in a subtransaction%s", text,
							step->subtransaction == RTB_SUBXACT_SAVEPOINT ? " by SAVEPOINT" : "");
		put_row(rsinfo, part, step->id, depth, text);
		put_steps(rsinfo, part, step->body, depth + 1);
	}
}

static void
put_statements(ReturnSetInfo *rsinfo, const char *part, List *statements)
{
	ListCell   *lc;

	foreach(lc, statements)
		put_row(rsinfo, part, foreach_current_index(lc) + 1, 0, lfirst(lc));
}

/*
 * rtbench.show_scenario(name text, point bigint) returns setof record
 */
Datum
rtb_show_scenario(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	RtbScenario *scenario;
	bool		has_point;
	int64		point = 0;
	RtbWork    *work;
	ListCell   *lc;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a scenario's name must not be null")));
	scenario = rtb_scenario_load(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	has_point = !PG_ARGISNULL(1) || scenario->points != NIL;
	if (!PG_ARGISNULL(1))
		point = PG_GETARG_INT64(1);
	else if (has_point)
		point = *(int64 *) linitial(scenario->points);
	if (point < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("point " INT64_FORMAT " is negative", point)));
	work = rtb_work_parse(rtb_work_document(scenario, has_point, point));

	InitMaterializedSRF(fcinfo, 0);
	put_statements(rsinfo, "setup", work->setup);
	if (work->check_query != NULL)
		put_row(rsinfo, "check", 0, 0, work->check_query);
	foreach(lc, work->arms)
	{
		RtbArm	   *arm = lfirst(lc);

		put_statements(rsinfo, psprintf("before %s", arm->name), arm->before);
		put_steps(rsinfo, psprintf("arm %s", arm->name), arm->steps, 0);
		if (arm->ending != RTB_ENDING_ROLLBACK)
			put_row(rsinfo, psprintf("arm %s", arm->name), 0, 0,
					arm->ending == RTB_ENDING_COMMIT ? "-- committed" : "-- every message committed");
	}
	return (Datum) 0;
}
