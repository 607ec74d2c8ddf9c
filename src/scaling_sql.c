/*
 * scaling_sql.c
 *	  rtbench.scaling(): how each arm's time grows over the points, as rows.
 *
 * Memory: rows are built in the current context and copied into the result's
 * tuplestore.
 */
#include "postgres.h"

#include "scaling.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "notes.h"
#include "result.h"
#include "result_row.h"
#include "stats.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(rtb_sql_scaling);

/* decimals that give a number three significant digits */
static int
three_digits(double number)
{
	return isfinite(number) && number != 0 ? Max(0, 2 - rtb_magnitude(number)) : 0;
}

/*
 * Estimate and bounds, divided by unit, with the same decimals: as many as
 * give three digits, but none below the second digit of half the interval.
 */
static void
add_estimate(RtbRow *row, const RtbEstimate *e, double unit, int most)
{
	double		value = e->value / unit;
	double		half = (e->high - e->low) / unit / 2;
	int			decimals = three_digits(value);

	if (half > 0)
	{
		int			allowed = Max(0, 1 - rtb_magnitude(half));

		decimals = fabs(value) < half ? allowed : Min(decimals, allowed);
	}
	decimals = Min(decimals, most);
	rtb_row_add_decimals(row, value, decimals);
	rtb_row_add_decimals(row, e->low / unit, decimals);
	rtb_row_add_decimals(row, e->high / unit, decimals);
}

static char *
flatness_text(const RtbScaling *scaling)
{
	if (!isfinite(scaling->flatness))
		return NULL;
	return psprintf("%.2fx over %.4gx", scaling->flatness, scaling->span);
}

/* whose price it is */
static const char *
basis(const RtbRun *run, const RtbScaling *scaling)
{
	if (scaling->points < 2)
		return NULL;
	if (scaling->per_statement)
		return "statement";
	return psprintf("unit of %s", run->swept ? run->swept : "the point");
}

/* scaling(run bigint) */
Datum
rtb_sql_scaling(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	RtbRun	   *run = rtb_run_of_call(fcinfo, 0);
	List	   *scalings = rtb_scaling(run);
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, scalings)
	{
		const RtbScaling *scaling = lfirst(lc);
		RtbRow		row = {0};

		rtb_row_add_bigint(&row, run->run);
		rtb_row_add_text(&row, list_nth(run->arms, scaling->arm));
		rtb_row_add_int(&row, scaling->points);
		add_estimate(&row, &scaling->price_ns, 1e3, 6);
		rtb_row_add_text(&row, basis(run, scaling));
		add_estimate(&row, &scaling->fixed_ns, 1e6, 6);
		rtb_row_add_text(&row, flatness_text(scaling));
		rtb_row_add_decimals(&row, scaling->doubling, 2);
		add_estimate(&row, &scaling->exponent, 1, 3);
		add_estimate(&row, &scaling->speedup_growth, 1, 3);
		rtb_row_add_decimals(&row, scaling->price_ns.level, 6);
		row.values[row.n - 1] = row.nulls[row.n - 1] ? (Datum) 0 :
			DirectFunctionCall1(numeric_trim_scale, row.values[row.n - 1]);
		rtb_row_add_text(&row, scaling->price_ns.units == 0 ? NULL :
				 psprintf("%d %s", scaling->price_ns.units,
						  scaling->sessions ? "sessions" : "rounds"));
		rtb_row_add_text(&row, scaling->word);
		rtb_row_add_text(&row, rtb_notes_join(scaling->notes));
		rtb_row_put(rsinfo, &row);
	}
	return (Datum) 0;
}
