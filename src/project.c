/*
 * project.c
 *	  What a run would take over a network: computed, never measured.
 *
 * Floor and round trips are measured; the distance is given.  Nothing is added
 * for what a real network and an idle server do besides, so that a projection
 * is low by that.
 *
 * Memory: rows are built in the current context and copied into the result's
 * tuplestore.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "judge.h"
#include "result.h"
#include "result_row.h"
#include "stats.h"
#include "utils/array.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(rtb_sql_project);
PG_FUNCTION_INFO_V1(rtb_sql_project_count);

#define REMARK		"low by what a statement after an idle wait is dearer than one right after another; as sure as the median it starts from"
#define NO_FLOOR	"no floor: the measured time has a simulated distance in it"

static void
refuse_number(const char *name, double value)
{
	if (!(value >= 0) || isinf(value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be a number from 0 up, and it is %s", name,
						isnan(value) ? "NaN" : isinf(value) ? "infinite" : psprintf("%g", value)),
				 errhint("Give it in milliseconds: 0.2 within a data centre, 20 between cities.")));
}

/* the distances asked for */
static const double *
round_trips_arg(FunctionCallInfo fcinfo, int *n)
{
	ArrayType  *array = PG_ARGISNULL(0) ? NULL : PG_GETARG_ARRAYTYPE_P(0);
	const double *values;

	*n = array ? ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) : 0;
	if (*n == 0 || array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("round_trip_ms must not be empty or contain nulls"),
				 errhint("Give the distances in milliseconds: round_trip_ms => '{0.2, 1, 2.9}'.")));
	values = (const double *) ARR_DATA_PTR(array);
	for (int i = 0; i < *n; i++)
		refuse_number("round_trip_ms", values[i]);
	return values;
}

/* the points of a run with simulated distances are these; 0 is none */
static bool
has_distance(const RtbRun *run, const RtbResult *result)
{
	return strstr(run->transport, "simulated distance") && result->has_point && result->point > 0;
}

/* NaN if the floor is not known */
static double
projected_ns(const RtbRun *run, const RtbResult *result, double round_trip_ms)
{
	if (result->round_trips == RTB_UNKNOWN || has_distance(run, result))
		return NAN;
	return result->median_ns + result->round_trips * round_trip_ms * 1e6;
}

static void
put_projection(ReturnSetInfo *rsinfo, const RtbRun *run, const RtbResult *result,
			   const RtbResult *baseline, double round_trip_ms)
{
	double		ns = projected_ns(run, result, round_trip_ms);
	bool		compared = isfinite(result->speedup.estimate);
	RtbRow		row = {0};

	rtb_row_add_bigint(&row, run->run);
	rtb_row_add(&row, Float8GetDatum(round_trip_ms), false);
	rtb_row_add_point(&row, result->has_point, result->point);
	rtb_row_add_text(&row, list_nth(run->arms, result->arm));
	rtb_row_add_count(&row, result->round_trips);
	rtb_row_add_significant(&row, has_distance(run, result) ? NAN : result->median_ns / 1e6, 3);
	rtb_row_add_significant(&row, ns / 1e6, 3);
	rtb_row_add_significant(&row, compared ? projected_ns(run, baseline, round_trip_ms) / ns : NAN, 3);
	rtb_row_add_significant(&row, ns / result->median_ns, 3);
	rtb_row_add_text(&row, "computed");
	rtb_row_add_text(&row, has_distance(run, result) ? NO_FLOOR : REMARK);
	rtb_row_put(rsinfo, &row);
}

/* project(round_trip_ms float8[], run bigint) */
Datum
rtb_sql_project(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int			n;
	const double *round_trips = round_trips_arg(fcinfo, &n);
	RtbRun	   *run = rtb_run_of_call(fcinfo, 1);
	List	   *results = rtb_judge(run);
	int			narms = list_length(run->arms);
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < n; i++)
	{
		foreach(lc, results)
		{
			/* the results of a point follow one another, an arm at a time */
			int			first = foreach_current_index(lc) / narms * narms;

			put_projection(rsinfo, run, lfirst(lc), list_nth(results, first + run->baseline),
						   round_trips[i]);
		}
	}
	return (Datum) 0;
}

/* project_count(statements bigint, milliseconds float8) */
Datum
rtb_sql_project_count(PG_FUNCTION_ARGS)
{
	int64		statements = PG_GETARG_INT64(0);
	double		milliseconds = PG_GETARG_FLOAT8(1);

	refuse_number("milliseconds", milliseconds);
	if (statements < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("statements must be a number from 0 up, and it is " INT64_FORMAT, statements),
				 errhint("Give how many statements there are.")));
	PG_RETURN_DATUM(DirectFunctionCall3(numeric_in,
										CStringGetDatum(psprintf("%.1f", statements * milliseconds / 1e3)),
										ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}
