/*
 * across_sql.c
 *	  rtbench.across_servers(): the runs of one call side by side.
 *
 * Everything in it was measured.  There is a ratio only where an arm may be
 * compared within each of both runs, and left or returned the same rows at
 * both servers.
 *
 * Memory: rows are built in the current context and copied into the result's
 * tuplestore.
 */
#include "postgres.h"

#include <math.h>

#include "across.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "notes.h"
#include "result.h"
#include "result_row.h"

PG_FUNCTION_INFO_V1(rtb_sql_across_servers);

/* a run with what is judged of it */
typedef struct Side
{
	const RtbRun *run;
	List	   *results;		/* of RtbResult *: points, and the arms of each */
} Side;

static const RtbRatio no_times = {0, NAN, NAN, NAN, NAN, true, NAN, false};
static const RtbRatio once = {0, 1, NAN, NAN, NAN, true, NAN, false};

static bool
usable(const RtbResult *result)
{
	return strcmp(result->verdict, "failed") != 0 && strcmp(result->verdict, "not comparable") != 0;
}

/* digests equal to the first server's: 1, 0, or RTB_UNKNOWN */
static int64
same_rows(const RtbResult *first, const RtbResult *here)
{
	if (first == NULL || first->digest == NULL || here->digest == NULL)
		return RTB_UNKNOWN;
	return strcmp(first->digest, here->digest) == 0;
}

/* why there is no ratio, NULL if there is one */
static char *
no_ratio_because(const Side *first, const RtbResult *there, const RtbResult *here)
{
	if (!usable(here))
		return psprintf("%s: %s", here->verdict, here->notes ? here->notes : "");
	if (there == NULL)
		return "the run at the first server was forgotten";
	if (!usable(there))
		return psprintf("%s at server \"%s\"", there->verdict, first->run->server);
	if (same_rows(there, here) == 0)
		return psprintf("the rows differ from those at server \"%s\"", first->run->server);
	if (same_rows(there, here) == RTB_UNKNOWN)
		return "whether the rows are the same is not known";
	return NULL;
}

static RtbRatio
times_of(const Side *first, const RtbResult *there, const Side *side, const RtbResult *here,
		 List **notes)
{
	char	   *reason = no_ratio_because(first, there, here);
	RtbUnits	units;
	RtbRatio	times;

	*notes = NIL;
	if (reason != NULL)
	{
		*notes = list_make1(reason);
		return no_times;
	}
	if (there == here)
		return once;
	times = rtb_across_times(rtb_cell_collect(first->run, there->has_point, there->point, there->arm),
							 rtb_cell_collect(side->run, here->has_point, here->point, here->arm), &units);
	*notes = rtb_notes_units(&units, &times);
	return times;
}

static void
put_row(ReturnSetInfo *rsinfo, const Side *first, const RtbResult *there, const Side *side,
		const RtbResult *here)
{
	int64		same = same_rows(there, here);
	List	   *notes;
	RtbRatio	times = times_of(first, there, side, here, &notes);
	RtbRow		row = {0};

	rtb_row_add_point(&row, here->has_point, here->point);
	rtb_row_add_text(&row, list_nth(side->run->arms, here->arm));
	rtb_row_add_text(&row, side->run->server);
	rtb_row_add_count(&row, here->round_trips);
	rtb_row_add_count(&row, here->statements);
	rtb_row_add_significant(&row, here->median_ns / 1e6, here->digits);
	rtb_result_add_estimate(&row, &here->speedup, side->run->margin);
	rtb_result_add_ratio(&row, &times, side->run->margin);
	rtb_row_add(&row, BoolGetDatum(same == 1), same == RTB_UNKNOWN);
	rtb_row_add_text(&row, side->run->server_version);
	rtb_row_add_text(&row, rtb_notes_join(notes));
	rtb_row_put(rsinfo, &row);
}

/* throws if runs of one call don't have the same points and arms: somebody has changed them */
static void
check_side(const Side *first, const Side *side)
{
	if (list_length(first->results) == list_length(side->results) &&
		list_length(first->run->arms) == list_length(side->run->arms))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("runs " INT64_FORMAT " and " INT64_FORMAT " have other points or arms",
					first->run->run, side->run->run),
			 errdetail("What is kept of the call does not fit together.")));
}

/* the runs of the call that an argument means; of NULL those of the caller's last one */
static List *
runs_of_call(FunctionCallInfo fcinfo)
{
	int64		id = PG_ARGISNULL(0) ? rtb_ledger_last_together() : PG_GETARG_INT64(0);
	RtbRun	   *run;

	if (PG_ARGISNULL(0) && id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_NO_DATA_FOUND),
				 errmsg("you have no runs on several servers yet"),
				 errhint("Make some: SELECT * FROM rtbench.sweep('delete_tree', servers => '{local,...}');")));
	run = rtb_run_of_id(id);
	if (run->together == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("run " INT64_FORMAT " was not made by a call on several servers", id),
				 errhint("Use rtbench.sweep(..., servers => '{local,...}'); runs of several calls are put side by side by rtbench.compare_runs().")));
	return rtb_ledger_together(run->together);
}

/* across_servers(run bigint) */
Datum
rtb_sql_across_servers(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	List	   *runs = runs_of_call(fcinfo);
	int			n = list_length(runs);
	Side	   *sides = palloc0(sizeof(Side) * n);
	bool		has_first = ((RtbRun *) linitial(runs))->run == ((RtbRun *) linitial(runs))->together;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < n; i++)
	{
		sides[i].run = list_nth(runs, i);
		sides[i].results = rtb_judge(sides[i].run);
		check_side(&sides[0], &sides[i]);
	}
	for (int k = 0; k < list_length(sides[0].results); k++)
	{
		const RtbResult *there = has_first ? list_nth(sides[0].results, k) : NULL;

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < n; i++)
			put_row(rsinfo, &sides[0], there, &sides[i], list_nth(sides[i].results, k));
	}
	return (Datum) 0;
}
