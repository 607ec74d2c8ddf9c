/*
 * ledger_row.c
 *	  A row of rtbench's own tables as it is written, column after column.
 *
 * Values travel as parameters only.  What is not known is NULL: a text NULL, a
 * count RTB_UNKNOWN, a number NaN, a time 0.
 *
 * Memory: values are palloc'd in the current context.
 */
#include "postgres.h"

#include "ledger_row.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "pass.h"
#include "utils/builtins.h"

/* the next column's value, of any type */
void
rtb_ledger_put(RtbLedgerRow *row, Oid type, Datum value, bool null)
{
	Assert(row->n < RTB_LEDGER_COLUMNS);
	row->types[row->n] = type;
	row->values[row->n] = value;
	row->nulls[row->n++] = null ? 'n' : ' ';
}

/* text, NULL from NULL */
void
rtb_ledger_put_text(RtbLedgerRow *row, const char *text)
{
	rtb_ledger_put(row, TEXTOID, text ? CStringGetTextDatum(text) : (Datum) 0, text == NULL);
}

/* int */
void
rtb_ledger_put_int(RtbLedgerRow *row, int32 value)
{
	rtb_ledger_put(row, INT4OID, Int32GetDatum(value), false);
}

/* bigint, any value */
void
rtb_ledger_put_bigint(RtbLedgerRow *row, int64 value)
{
	rtb_ledger_put(row, INT8OID, Int64GetDatum(value), false);
}

/* bigint that is a count, NULL from RTB_UNKNOWN */
void
rtb_ledger_put_count(RtbLedgerRow *row, int64 count)
{
	rtb_ledger_put(row, INT8OID, Int64GetDatum(count), count == RTB_UNKNOWN);
}

/* bigint that is a point, NULL where there are none */
void
rtb_ledger_put_point(RtbLedgerRow *row, bool has_point, int64 point)
{
	rtb_ledger_put(row, INT8OID, Int64GetDatum(point), !has_point);
}

/* float8, NULL from NaN */
void
rtb_ledger_put_float(RtbLedgerRow *row, double value)
{
	rtb_ledger_put(row, FLOAT8OID, Float8GetDatum(value), isnan(value));
}

/* boolean */
void
rtb_ledger_put_bool(RtbLedgerRow *row, bool value)
{
	rtb_ledger_put(row, BOOLOID, BoolGetDatum(value), false);
}

/* timestamptz, NULL from 0 */
void
rtb_ledger_put_timestamp(RtbLedgerRow *row, TimestampTz value)
{
	rtb_ledger_put(row, TIMESTAMPTZOID, TimestampTzGetDatum(value), value == 0);
}

/* jsonb, an empty object from NULL */
void
rtb_ledger_put_jsonb(RtbLedgerRow *row, Jsonb *value)
{
	Datum		datum;

	if (value)
		datum = JsonbPGetDatum(value);
	else
		datum = DirectFunctionCall1(jsonb_in, CStringGetDatum("{}"));
	rtb_ledger_put(row, JSONBOID, datum, false);
}

/* "$1, $2, ...", palloc'd */
char *
rtb_ledger_placeholders(int n)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 1; i <= n; i++)
		appendStringInfo(&buf, "%s$%d", i > 1 ? ", " : "", i);
	return buf.data;
}

/*
 * rtb_ledger_insert
 *		Write a row.  The INSERT is planned at the first of them, when *plan is
 *		NULL; a plan is good until SPI_finish().  Throws what the INSERT throws.
 */
void
rtb_ledger_insert(SPIPlanPtr *plan, const char *table, const char *columns, RtbLedgerRow *row)
{
	int			result;

	if (*plan == NULL)
	{
		char	   *query = psprintf("INSERT INTO rtbench.%s (%s) VALUES (%s)",
									 table, columns, rtb_ledger_placeholders(row->n));

		*plan = SPI_prepare(query, row->n, row->types);
		if (*plan == NULL)
			elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	}
	result = SPI_execute_plan(*plan, row->values, row->nulls, false, 0);
	if (result != SPI_OK_INSERT)
		elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(result));
}
