/*
 * result.c
 *	  Results as rows: rtbench.verdict, rtbench.result(), rtbench.step_result().
 *
 * Numbers become numeric here, with as many digits as they deserve: times at
 * most three and none finer than their interval, ratios one digit beyond the
 * first of half their interval.
 *
 * Memory: rows are built in the current context and copied into the result's
 * tuplestore.
 */
#include "postgres.h"

#include "result.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "judge.h"
#include "load.h"
#include "result_row.h"
#include "stats.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(rtb_sql_result);
PG_FUNCTION_INFO_V1(rtb_sql_step_result);

/* most decimals that a bound gets so as not to seem on the wrong side of a limit */
#define MAX_DECIMALS	6

/* ---- ratios ---- */

/* as many decimals as the interval of a ratio allows, four digits at most */
static int
ratio_decimals(const RtbRatio *ratio)
{
	double		half = (ratio->high - ratio->low) / 2;
	int			most = 3 - rtb_magnitude(ratio->estimate);

	if (isnan(half))
		most--;					/* without an interval, three digits */
	else if (half > 0)
		most = Min(most, 1 - rtb_magnitude(half));
	return Max(0, most);
}

/* which side of what the verdict depends on: 1 and both margins */
static int
side_of(double ratio, double margin)
{
	const double limits[] = {1 / (1 + margin), 1, 1 + margin};
	int			side = 0;

	for (int i = 0; i < 3; i++)
		side += (ratio > limits[i]) - (ratio < limits[i]);
	return side;
}

/* a bound, with more decimals where rounding would carry it over a limit or to 0 */
static char *
format_bound(double bound, int decimals, double margin)
{
	char	   *text;

	if (!isfinite(bound))
		return NULL;
	do
	{
		text = psprintf("%.*f", decimals, bound);
	} while ((side_of(strtod(text, NULL), margin) != side_of(bound, margin) ||
			  strtod(text, NULL) == 0) && ++decimals <= MAX_DECIMALS);
	return text;
}

/*
 * Add estimate, low and high of a ratio.  Returns the decimals of the
 * estimate, and the estimate as it is printed in *printed.
 */
static int
add_ratio(RtbRow *row, const RtbRatio *ratio, double margin, double *printed)
{
	int			decimals = 0;
	char	   *text = NULL;

	*printed = NAN;
	if (isfinite(ratio->estimate))
	{
		decimals = ratio_decimals(ratio);
		text = psprintf("%.*f", decimals, ratio->estimate);
		*printed = strtod(text, NULL);
	}
	rtb_row_add_numeric(row, text);
	return decimals;
}

static void
add_bounds(RtbRow *row, const RtbRatio *ratio, int decimals, double margin)
{
	rtb_row_add_numeric(row, format_bound(ratio->low, decimals, margin));
	rtb_row_add_numeric(row, format_bound(ratio->high, decimals, margin));
}

/*
 * The estimate of a ratio alone, with the digits that its interval allows.
 */
void
rtb_result_add_estimate(RtbRow *row, const RtbRatio *ratio, double margin)
{
	double		printed;

	(void) add_ratio(row, ratio, margin, &printed);
}

/*
 * A ratio with its interval: three columns.
 */
void
rtb_result_add_ratio(RtbRow *row, const RtbRatio *ratio, double margin)
{
	double		printed;
	int			decimals = add_ratio(row, ratio, margin, &printed);

	add_bounds(row, ratio, decimals, margin);
}

/* ---- times ---- */

static void
add_ms(RtbRow *row, const RtbResult *result, double ns)
{
	rtb_row_add_significant(row, ns / 1e6, result->digits);
}

/* microseconds for each of a count, NULL of none */
static void
add_us_per(RtbRow *row, const RtbResult *result, int64 count)
{
	rtb_row_add_significant(row, count > 0 ? result->median_ns / 1e3 / count : NAN, result->digits);
}

/* ---- rows ---- */

static const char *
arm_name(const RtbRun *run, int arm)
{
	return arm < 0 ? NULL : (const char *) list_nth(run->arms, arm);
}

/*
 * Put a run's rows of rtbench.verdict into a result set that
 * InitMaterializedSRF() prepared; one of several servers is named beside the arm.  Memory: the current context's, which the
 * caller frees.  Throws if the set's columns are not those of the type.
 */
void
rtb_result_put_verdicts(ReturnSetInfo *rsinfo, const RtbRun *run)
{
	List	   *results = rtb_judge(run);
	ListCell   *lc;

	foreach(lc, results)
	{
		const RtbResult *result = lfirst(lc);
		RtbRow		row = {0};

		rtb_row_add_point(&row, result->has_point, result->point);
		rtb_row_add_text(&row, run->server == NULL ? arm_name(run, result->arm) :
						 psprintf("%s @ %s", arm_name(run, result->arm), run->server));
		rtb_row_add_count(&row, result->statements);
		add_ms(&row, result, result->median_ns);
		add_us_per(&row, result, result->statements);
		rtb_row_add_count(&row, result->buffers);
		rtb_result_add_ratio(&row, &result->speedup, run->margin);
		rtb_row_add_text(&row, result->verdict);
		rtb_row_put(rsinfo, &row);
	}
}

/* what an arm does and takes: the first columns of rtbench.result() */
static void
add_figures(RtbRow *row, const RtbRun *run, const RtbResult *result)
{
	rtb_row_add_count(row, run->run);
	rtb_row_add_point(row, result->has_point, result->point);
	rtb_row_add_text(row, arm_name(run, result->arm));
	rtb_row_add_text(row, result->arm < list_length(run->descriptions) ?
			 list_nth(run->descriptions, result->arm) : NULL);
	rtb_row_add_count(row, result->round_trips);
	rtb_row_add_count(row, result->statements);
	rtb_row_add_count(row, result->fired);
	rtb_row_add_count(row, result->rows);
	rtb_row_add_count(row, result->bytes_sent);
	rtb_row_add_count(row, result->bytes_received);
	rtb_row_add_int(row, result->passes);
	rtb_row_add_int(row, result->rounds);
	rtb_row_add_int(row, result->sessions);
	add_ms(row, result, result->first_ns);
	add_ms(row, result, result->median_ns);
	add_ms(row, result, result->mean_ns);
	add_ms(row, result, result->best_ns);
	add_ms(row, result, result->stddev_ns);
	add_ms(row, result, result->cpu_ns);
	add_us_per(row, result, result->statements);
	add_us_per(row, result, result->rows);
	rtb_row_add_count(row, result->buffers);
	rtb_row_add_count(row, result->wal_records);
	rtb_row_add_count(row, result->wal_bytes);
	rtb_row_add_count(row, result->xids);
	rtb_row_add_count(row, result->transactions);
	rtb_row_add_significant(row, result->tps, result->digits);
	rtb_row_add_significant(row, result->tps_stddev, 2);
	add_ms(row, result, result->commit_ns);
	rtb_row_add(row, BoolGetDatum(result->subxact_overflowed > 0), result->subxact_overflowed == RTB_UNKNOWN);
	rtb_row_add_significant(row, result->hot_percent, 3);
	rtb_row_add_count(row, result->catalog_reads);
	rtb_row_add_text(row, result->plan_shape);
}

/* 100 (1 - speedup), from the speedup as it is printed, so that the columns agree */
static void
add_decrease(RtbRow *row, double speedup, int decimals)
{
	rtb_row_add_numeric(row, isfinite(speedup) ?
				psprintf("%.*f", Max(0, decimals - 2), 100 * (1 - speedup) + 0.0) : NULL);
}

/* how an arm stands: the other columns of rtbench.result() */
static void
add_standing(RtbRow *row, const RtbRun *run, const RtbResult *result)
{
	double		printed;
	int			decimals;

	decimals = add_ratio(row, &result->speedup, run->margin, &printed);
	add_bounds(row, &result->speedup, decimals, run->margin);
	add_decrease(row, printed, decimals);
	add_decrease(row, result->speedup.high, decimals);
	add_decrease(row, result->speedup.low, decimals);
	decimals = add_ratio(row, &result->cpu_speedup, run->margin, &printed);
	add_bounds(row, &result->cpu_speedup, decimals, run->margin);
	rtb_row_add_numeric(row, isnan(result->speedup.level) ? NULL :
				psprintf("%.6g", result->speedup.level));
	rtb_row_add_count(row, result->comparisons);
	rtb_row_add_text(row, result->scope);
	rtb_row_add_text(row, result->verdict);
	rtb_row_add_text(row, result->digest);
	rtb_row_add_text(row, result->checked);
	rtb_row_add_text(row, result->notes);
}

/*
 * A run of the current user's by its id, palloc'd in the current context;
 * throws if there is none.
 */
RtbRun *
rtb_run_of_id(int64 id)
{
	RtbRun	   *run = rtb_ledger_read(id);

	if (run == NULL && rtb_load_exists(id))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("run " INT64_FORMAT " is a load", id),
				 errhint("Use rtbench.load_result(" INT64_FORMAT ").", id)));
	if (run == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("run " INT64_FORMAT " does not exist", id),
				 errhint("Your runs are listed in rtbench.runs.")));
	return run;
}

/*
 * The run that a call means: by an argument, or the caller's last if
 * that is NULL.  palloc'd in the current context; throws if there is none.
 */
RtbRun *
rtb_run_of_call(FunctionCallInfo fcinfo, int argument)
{
	int64		id = PG_ARGISNULL(argument) ? rtb_ledger_last() : PG_GETARG_INT64(argument);

	if (PG_ARGISNULL(argument) && id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_NO_DATA_FOUND),
				 errmsg("you have no run yet"),
				 errhint("Start one: SELECT * FROM rtbench.sweep('delete_tree');")));
	return rtb_run_of_id(id);
}

/* result(run bigint) */
Datum
rtb_sql_result(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	RtbRun	   *run = rtb_run_of_call(fcinfo, 0);
	List	   *results = rtb_judge(run);
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, results)
	{
		const RtbResult *result = lfirst(lc);
		RtbRow		row = {0};

		add_figures(&row, run, result);
		add_standing(&row, run, result);
		rtb_row_put(rsinfo, &row);
	}
	return (Datum) 0;
}

/* nanoseconds as microseconds */
static void
add_us(RtbRow *row, int64 ns)
{
	rtb_row_add_significant(row, ns == RTB_UNKNOWN ? NAN : ns / 1e3, 3);
}

/* step_result(run bigint) */
Datum
rtb_sql_step_result(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	RtbRun	   *run = rtb_run_of_call(fcinfo, 0);
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, run->steps)
	{
		const RtbStepTime *step = lfirst(lc);
		RtbRow		row = {0};

		rtb_row_add_count(&row, run->run);
		rtb_row_add_point(&row, step->has_point, step->point);
		rtb_row_add_text(&row, arm_name(run, step->arm));
		rtb_row_add_int(&row, step->step);
		rtb_row_add_text(&row, step->statement);
		rtb_row_add_count(&row, step->calls);
		add_us(&row, step->first_ns);
		add_us(&row, step->second_ns);
		add_us(&row, step->third_ns);
		add_us(&row, step->later_ns);
		add_us(&row, step->prepare_ns);
		rtb_row_add_count(&row, step->custom_plans);
		rtb_row_add_count(&row, step->generic_plans);
		add_us(&row, step->custom_ns);
		add_us(&row, step->generic_ns);
		rtb_row_put(rsinfo, &row);
	}
	return (Datum) 0;
}
