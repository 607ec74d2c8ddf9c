/*
 * stats_sql.c
 *	  The arithmetic of stats.c as SQL functions on arrays.
 *
 * One rule for all: an array that makes no sense (NULL elements, NaN or
 * infinite values, more than one dimension, lengths that differ) is an error;
 * what a sensible array does not determine is NULL.
 *
 * Memory: values are read in place where the array allows it, else copied to
 * the current context, which is the function call's.
 */
#include "postgres.h"

#include "stats.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"

PG_FUNCTION_INFO_V1(rtb_sql_median);
PG_FUNCTION_INFO_V1(rtb_sql_quantile);
PG_FUNCTION_INFO_V1(rtb_sql_mad);
PG_FUNCTION_INFO_V1(rtb_sql_outliers);
PG_FUNCTION_INFO_V1(rtb_sql_autocorrelation);
PG_FUNCTION_INFO_V1(rtb_sql_hodges_lehmann);
PG_FUNCTION_INFO_V1(rtb_sql_signed_rank_critical);
PG_FUNCTION_INFO_V1(rtb_sql_signed_rank_interval);
PG_FUNCTION_INFO_V1(rtb_sql_theil_sen);
PG_FUNCTION_INFO_V1(rtb_sql_kendall);
PG_FUNCTION_INFO_V1(rtb_sql_round_significant);

/* an argument's values: finite doubles, read only */
static const double *
values_of(FunctionCallInfo fcinfo, int argument, int *n)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(argument);
	const double *values = (const double *) ARR_DATA_PTR(array);

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array must be one-dimensional"),
				 errdetail("It has %d dimensions.", ARR_NDIM(array))));
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array must not contain nulls"),
				 errhint("Use array_remove(..., NULL) to leave them out.")));
	*n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	for (int i = 0; i < *n; i++)
		if (isnan(values[i]) || isinf(values[i]))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("array must contain finite numbers only"),
					 errdetail("Element %d is %s.", i + 1,
							   isnan(values[i]) ? "NaN" : "infinite")));
	return values;
}

/* two arguments whose values belong together */
static void
paired_values(FunctionCallInfo fcinfo, const double **x, const double **y, int *n)
{
	int			ny;

	*x = values_of(fcinfo, 0, n);
	*y = values_of(fcinfo, 1, &ny);
	if (*n != ny)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("arrays must have the same length"),
				 errdetail("The first has %d elements and the second has %d.", *n, ny)));
}

/* 1 - level; the functions of stats.c take alpha */
static double
alpha_of(double level)
{
	if (!(level > 0 && level < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("level must be between 0 and 1"),
				 errhint("Write 0.99 for 99 %%.")));
	return 1 - level;
}

static Datum
number_or_null(FunctionCallInfo fcinfo, double number)
{
	if (isnan(number))
		PG_RETURN_NULL();
	if (isinf(number))
		float_overflow_error();
	PG_RETURN_FLOAT8(number);
}

static Datum
pair_or_nulls(FunctionCallInfo fcinfo, bool known, double first, double second)
{
	TupleDesc	tupdesc;
	Datum		values[2];
	bool		nulls[2] = {!known, !known};

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[0] = Float8GetDatum(first);
	values[1] = Float8GetDatum(second);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, nulls));
}

/* median(float8[]) */
Datum
rtb_sql_median(PG_FUNCTION_ARGS)
{
	int			n;
	const double *x = values_of(fcinfo, 0, &n);

	return number_or_null(fcinfo, rtb_median(x, n));
}

/* quantile(float8[], fraction float8) */
Datum
rtb_sql_quantile(PG_FUNCTION_ARGS)
{
	int			n;
	const double *x = values_of(fcinfo, 0, &n);
	double		fraction = PG_GETARG_FLOAT8(1);
	double	   *sorted;

	if (!(fraction >= 0 && fraction <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fraction must be between 0 and 1"),
				 errhint("Write 0.25 for the first quartile.")));
	sorted = palloc_extended((n + 1) * sizeof(double), MCXT_ALLOC_HUGE);
	memcpy(sorted, x, n * sizeof(double));
	rtb_sort(sorted, n);
	return number_or_null(fcinfo, rtb_quantile_sorted(sorted, n, fraction));
}

/* mad(float8[]) */
Datum
rtb_sql_mad(PG_FUNCTION_ARGS)
{
	int			n;
	const double *x = values_of(fcinfo, 0, &n);

	return number_or_null(fcinfo, rtb_mad(x, n));
}

/* outliers(float8[]) */
Datum
rtb_sql_outliers(PG_FUNCTION_ARGS)
{
	int			n;
	const double *x = values_of(fcinfo, 0, &n);

	PG_RETURN_INT32(rtb_outliers(x, n));
}

/* autocorrelation(float8[]) */
Datum
rtb_sql_autocorrelation(PG_FUNCTION_ARGS)
{
	int			n;
	const double *x = values_of(fcinfo, 0, &n);

	return number_or_null(fcinfo, rtb_autocorrelation(x, n));
}

/* hodges_lehmann(float8[]) */
Datum
rtb_sql_hodges_lehmann(PG_FUNCTION_ARGS)
{
	int			n;
	const double *x = values_of(fcinfo, 0, &n);

	return number_or_null(fcinfo, rtb_hodges_lehmann(x, n));
}

/* signed_rank_critical(n int, level float8) */
Datum
rtb_sql_signed_rank_critical(PG_FUNCTION_ARGS)
{
	int			n = PG_GETARG_INT32(0);
	double		alpha = alpha_of(PG_GETARG_FLOAT8(1));
	int64		c;

	if (n < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of units must not be negative")));
	c = rtb_signed_rank_critical(n, alpha);
	if (c == RTB_NO_CRITICAL)
		PG_RETURN_NULL();
	PG_RETURN_INT64(c);
}

/* signed_rank_interval(float8[], level float8, OUT low float8, OUT high float8) */
Datum
rtb_sql_signed_rank_interval(PG_FUNCTION_ARGS)
{
	int			n;
	const double *x = values_of(fcinfo, 0, &n);
	double		low = 0;
	double		high = 0;
	bool		known;

	known = rtb_signed_rank_interval(x, n, alpha_of(PG_GETARG_FLOAT8(1)), &low, &high);
	return pair_or_nulls(fcinfo, known, low, high);
}

/* theil_sen(x float8[], y float8[]) */
Datum
rtb_sql_theil_sen(PG_FUNCTION_ARGS)
{
	int			n;
	const double *x;
	const double *y;

	paired_values(fcinfo, &x, &y, &n);
	return number_or_null(fcinfo, rtb_theil_sen(x, y, n));
}

/* kendall(x float8[], y float8[], OUT tau float8, OUT p_value float8) */
Datum
rtb_sql_kendall(PG_FUNCTION_ARGS)
{
	int			n;
	const double *x;
	const double *y;
	double		tau;
	double		p_value;

	paired_values(fcinfo, &x, &y, &n);
	tau = rtb_kendall(x, y, n, &p_value);
	return pair_or_nulls(fcinfo, !isnan(tau), tau, p_value);
}

/* round_significant(float8, digits int) */
Datum
rtb_sql_round_significant(PG_FUNCTION_ARGS)
{
	double		x = PG_GETARG_FLOAT8(0);
	int			digits = PG_GETARG_INT32(1);
	const char *text;

	if (digits < 1 || digits > 17)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of significant digits must be between 1 and 17")));
	if (isnan(x))
		text = "NaN";
	else if (isinf(x))
		text = x > 0 ? "Infinity" : "-Infinity";
	else
		text = rtb_format_significant(x, digits);
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}
