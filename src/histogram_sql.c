/*
 * histogram_sql.c
 *	  The histogram of latencies as an SQL function on arrays.
 *
 * Memory: the call's context.
 */
#include "postgres.h"

#include "histogram.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

PG_FUNCTION_INFO_V1(rtb_sql_latency_quantiles);

#define NS_PER_MS	1e6
#define MOST_MS		9e12

/* an argument's values: none of them null */
static const double *
values_of(FunctionCallInfo fcinfo, int argument, int *n)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(argument);

	if (ARR_NDIM(array) > 1 || array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("array must be one-dimensional and must not contain nulls")));
	*n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	return (const double *) ARR_DATA_PTR(array);
}

/* latency_quantiles(milliseconds float8[], fractions float8[]) */
Datum
rtb_sql_latency_quantiles(PG_FUNCTION_ARGS)
{
	int			n;
	int			nfractions;
	const double *values = values_of(fcinfo, 0, &n);
	const double *fractions = values_of(fcinfo, 1, &nfractions);
	RtbHistogram *h = palloc0(sizeof(RtbHistogram));
	Datum	   *quantiles = palloc(sizeof(Datum) * Max(nfractions, 1));

	for (int i = 0; i < n; i++)
	{
		/* as whole nanoseconds they must fit */
		if (!(values[i] >= 0 && values[i] < MOST_MS))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("latency %g is out of range", values[i]),
					 errhint("Latencies are milliseconds, not below 0.")));
		rtb_histogram_add(h, (int64) rint(values[i] * NS_PER_MS));
	}
	for (int i = 0; i < nfractions; i++)
	{
		if (!(fractions[i] >= 0 && fractions[i] <= 1))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("fraction must be between 0 and 1"),
					 errhint("Write 0.95 for the 95th percentile.")));
		quantiles[i] = Float8GetDatum(rtb_histogram_quantile(h, fractions[i]) / NS_PER_MS);
	}
	if (n == 0)
		PG_RETURN_NULL();
	PG_RETURN_ARRAYTYPE_P(construct_array(quantiles, nfractions, FLOAT8OID, sizeof(float8),
										  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
