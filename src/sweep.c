/*
 * sweep.c
 *	  The SQL-callable face of a run: by SELECT, which returns its verdicts, or
 *	  by CALL.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "call.h"
#include "experiment.h"
#include "facts.h"
#include "ledger.h"
#include "result.h"
#include "scenario.h"
#include "sweep_arguments.h"

PG_FUNCTION_INFO_V1(rtb_sweep);
PG_FUNCTION_INFO_V1(rtb_compare);
PG_FUNCTION_INFO_V1(rtb_compare_text);
PG_FUNCTION_INFO_V1(rtb_run_sweep);
PG_FUNCTION_INFO_V1(rtb_run_compare);

static List *
descriptions(const RtbScenario *scenario)
{
	List	   *texts = NIL;
	ListCell   *lc;

	foreach(lc, scenario->arm_documents)
	{
		Jsonb	   *jb = lfirst(lc);
		JsonbValue *v = getKeyJsonValueFromContainer(&jb->root, "description", 11, NULL);

		texts = lappend(texts, v && v->type == jbvString
						? pnstrdup(v->val.string.val, v->val.string.len) : NULL);
	}
	return texts;
}

/* the exact SQL of every point, kept with the run */
static Jsonb *
documents(const RtbScenario *scenario)
{
	StringInfoData buf;
	ListCell   *lc;
	bool		any = false;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	if (scenario->points == NIL)
		appendStringInfo(&buf, "\"\": %s", rtb_work_document(scenario, false, 0));
	foreach(lc, scenario->points)
	{
		int64		point = *(int64 *) lfirst(lc);

		appendStringInfo(&buf, "%s\"" INT64_FORMAT "\": %s", any ? ", " : "", point,
						 rtb_work_document(scenario, true, point));
		any = true;
	}
	appendStringInfoChar(&buf, '}');
	return rtb_json_to_jsonb(buf.data);
}

/* what is known of a run before it starts */
static void
describe_run(RtbExperiment *e)
{
	RtbRun	   *run = e->run;

	run->scenario = e->scenario->name;
	run->descriptions = descriptions(e->scenario);
	run->points = e->scenario->points;
	run->swept = e->scenario->points != NIL ? e->scenario->swept : NULL;
	run->server_version = pstrdup(GetConfigOption("server_version", false, false));
	run->settings = rtb_facts_settings();
	run->options = rtb_arguments_document(e);
	run->documents = documents(e->scenario);
	run->started_at = GetCurrentTimestamp();
	run->run = rtb_ledger_reserve();
}

/* the same of a run at each further server, and what ties them together */
static void
describe_runs(RtbExperiment *e)
{
	ListCell   *lc;

	describe_run(e);
	if (e->run->server == NULL)
		return;
	e->run->together = e->run->run;
	for_each_from(lc, e->sites, 1)
	{
		RtbRun	   *run = ((RtbSite *) lfirst(lc))->run;
		char	   *server = run->server;
		char	   *transport = run->transport;

		*run = *e->run;
		run->server = server;
		run->transport = transport;
		run->run = rtb_ledger_reserve();
	}
}

static void
keep_runs(RtbExperiment *e)
{
	ListCell   *lc;

	foreach(lc, e->sites)
		rtb_ledger_write(((RtbSite *) lfirst(lc))->run);
}

static void
tell_runs(const RtbExperiment *e)
{
	int64		first = e->run->run;
	StringInfoData buf;
	ListCell   *lc;

	if (e->run->server == NULL)
	{
		ereport(NOTICE,
				(errmsg("this was run " INT64_FORMAT ": rtbench.result(" INT64_FORMAT ") has every column",
						first, first)));
		return;
	}
	initStringInfo(&buf);
	foreach(lc, e->sites)
	{
		const RtbRun *run = ((RtbSite *) lfirst(lc))->run;

		appendStringInfo(&buf, "%s" INT64_FORMAT " at %s", buf.len > 0 ? ", " : "", run->run, run->server);
	}
	if (list_length(e->sites) == 1)
		ereport(NOTICE,
				(errmsg("this was run %s: rtbench.result(" INT64_FORMAT ") has every column", buf.data, first)));
	else
		ereport(NOTICE,
				(errmsg("these were runs %s: rtbench.across_servers(" INT64_FORMAT ") puts them side by side, rtbench.result(" INT64_FORMAT ") has every column of one",
						buf.data, first, first)));
}

static void
run_and_return(FunctionCallInfo fcinfo, RtbExperiment *e)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	rtb_arguments_check_endings(e, false);
	InitMaterializedSRF(fcinfo, 0);
	describe_runs(e);
	e->progress = rtb_progress_begin(e->run);

	rtb_experiment_run(e);

	rtb_progress_phase(e->progress, RTB_PHASE_JUDGING);
	keep_runs(e);
	foreach(lc, e->sites)
		rtb_result_put_verdicts(rsinfo, ((RtbSite *) lfirst(lc))->run);
	rtb_progress_end(e->progress);
	tell_runs(e);
}

/*
 * The same in a procedure: everything is read and refused in the transaction
 * that CALL began, the run itself waits in the next one without a snapshot.
 */
static void
run_by_call(RtbExperiment *e)
{
	if (!e->options.own_transactions)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a run started by CALL cannot have transport \"caller\""),
				 errhint("Use transport => 'worker', or SELECT * FROM rtbench.sweep(...).")));
	rtb_arguments_check_endings(e, true);
	describe_runs(e);
	rtb_call_commit();
	e->progress = rtb_progress_begin(e->run);

	rtb_experiment_run(e);

	rtb_progress_phase(e->progress, RTB_PHASE_JUDGING);
	PushActiveSnapshot(GetTransactionSnapshot());
	keep_runs(e);
	PopActiveSnapshot();
	rtb_progress_end(e->progress);
	tell_runs(e);
}

/*
 * rtb_sweep
 *		rtbench.sweep(scenario, points, parameters, arms, swept, check_query, options...)
 */
Datum
rtb_sweep(PG_FUNCTION_ARGS)
{
	PreventCommandIfReadOnly("rtbench.sweep()");
	run_and_return(fcinfo, rtb_arguments_of_sweep(fcinfo));
	return (Datum) 0;
}

/*
 * rtb_run_sweep
 *		The same by CALL, also for arms that commit.
 */
Datum
rtb_run_sweep(PG_FUNCTION_ARGS)
{
	rtb_call_require(fcinfo, "rtbench.run_sweep");
	rtb_call_own_memory();
	PreventCommandIfReadOnly("rtbench.run_sweep()");
	run_by_call(rtb_arguments_of_sweep(fcinfo));
	return (Datum) 0;
}

/*
 * rtb_compare
 *		rtbench.compare(arms, setup, check_query, points, parameters, swept, options...)
 */
Datum
rtb_compare(PG_FUNCTION_ARGS)
{
	PreventCommandIfReadOnly("rtbench.compare()");
	run_and_return(fcinfo, rtb_arguments_of_compare(fcinfo));
	return (Datum) 0;
}

/*
 * rtb_run_compare
 *		The same by CALL, also for arms that commit.
 */
Datum
rtb_run_compare(PG_FUNCTION_ARGS)
{
	rtb_call_require(fcinfo, "rtbench.run_compare");
	rtb_call_own_memory();
	PreventCommandIfReadOnly("rtbench.run_compare()");
	run_by_call(rtb_arguments_of_compare(fcinfo));
	return (Datum) 0;
}

/*
 * rtb_compare_text
 *		compare() with plain texts where documents of arms are due: a hint.
 */
Datum
rtb_compare_text(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("an arm is a document, not a statement's text"),
			 errhint("Write rtbench.compare(ARRAY[rtbench.arm('one', 'SELECT ...'), rtbench.arm('other', 'SELECT ...')]).")));
}
