/*
 * result_row.c
 *	  A row of a set-returning function, column after column.
 *
 * What is not known is NULL: a text NULL, a count RTB_UNKNOWN, a number that
 * is not finite.
 *
 * Memory: values are palloc'd in the current context, and copied by
 * rtb_row_put() into the result's tuplestore.
 */
#include "postgres.h"

#include "result_row.h"

#include <math.h>

#include "pass.h"
#include "stats.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
#include "utils/tuplestore.h"

/* the next column's value, of the type that the function declares */
void
rtb_row_add(RtbRow *row, Datum value, bool null)
{
	Assert(row->n < RTB_ROW_COLUMNS);
	row->values[row->n] = value;
	row->nulls[row->n++] = null;
}

/* text, NULL from NULL */
void
rtb_row_add_text(RtbRow *row, const char *text)
{
	rtb_row_add(row, text ? CStringGetTextDatum(text) : (Datum) 0, text == NULL);
}

/* int */
void
rtb_row_add_int(RtbRow *row, int value)
{
	rtb_row_add(row, Int32GetDatum(value), false);
}

/* bigint, any value */
void
rtb_row_add_bigint(RtbRow *row, int64 value)
{
	rtb_row_add(row, Int64GetDatum(value), false);
}

/* bigint that is a count, NULL from RTB_UNKNOWN */
void
rtb_row_add_count(RtbRow *row, int64 count)
{
	rtb_row_add(row, Int64GetDatum(count), count == RTB_UNKNOWN);
}

/* bigint that is a point, NULL where there are none */
void
rtb_row_add_point(RtbRow *row, bool has_point, int64 point)
{
	rtb_row_add(row, Int64GetDatum(point), !has_point);
}

/* numeric from its text, NULL from NULL */
void
rtb_row_add_numeric(RtbRow *row, char *text)
{
	rtb_row_add(row, text ? DirectFunctionCall3(numeric_in, CStringGetDatum(text),
												ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)) : (Datum) 0,
				text == NULL);
}

/* numeric with so many decimals, NULL if it is not known */
void
rtb_row_add_decimals(RtbRow *row, double number, int decimals)
{
	/* + 0.0: no minus before a zero */
	rtb_row_add_numeric(row, isfinite(number) ? psprintf("%.*f", decimals, number + 0.0) : NULL);
}

/* numeric with so many significant digits, NULL if it is not known */
void
rtb_row_add_significant(RtbRow *row, double number, int digits)
{
	rtb_row_add_numeric(row, isfinite(number) ? rtb_format_significant(number, digits) : NULL);
}

/* into the result; throws if the function was declared with other columns */
void
rtb_row_put(ReturnSetInfo *rsinfo, const RtbRow *row)
{
	if (row->n != rsinfo->setDesc->natts)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the extension's functions do not fit its library"),
				 errdetail("A row has %d columns and %d are expected.",
						   row->n, rsinfo->setDesc->natts),
				 errhint("Use ALTER EXTENSION rtbench UPDATE.")));
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
						 (Datum *) row->values, (bool *) row->nulls);
}
