/*
 * ledger_row.h
 *	  A row of rtbench's own tables as it is written, column after column.
 */
#ifndef RTB_LEDGER_ROW_H
#define RTB_LEDGER_ROW_H

#include "postgres.h"

#include "executor/spi.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"

#define RTB_LEDGER_COLUMNS	48

typedef struct RtbLedgerRow
{
	int			n;				/* columns that it has so far; begin with {0} */
	Oid			types[RTB_LEDGER_COLUMNS];
	Datum		values[RTB_LEDGER_COLUMNS];
	char		nulls[RTB_LEDGER_COLUMNS];
} RtbLedgerRow;

extern void rtb_ledger_put(RtbLedgerRow *row, Oid type, Datum value, bool null);
extern void rtb_ledger_put_text(RtbLedgerRow *row, const char *text);
extern void rtb_ledger_put_int(RtbLedgerRow *row, int32 value);
extern void rtb_ledger_put_bigint(RtbLedgerRow *row, int64 value);
extern void rtb_ledger_put_count(RtbLedgerRow *row, int64 count);
extern void rtb_ledger_put_point(RtbLedgerRow *row, bool has_point, int64 point);
extern void rtb_ledger_put_float(RtbLedgerRow *row, double value);
extern void rtb_ledger_put_bool(RtbLedgerRow *row, bool value);
extern void rtb_ledger_put_timestamp(RtbLedgerRow *row, TimestampTz value);
extern void rtb_ledger_put_jsonb(RtbLedgerRow *row, Jsonb *value);
extern char *rtb_ledger_placeholders(int n);
extern void rtb_ledger_insert(SPIPlanPtr *plan, const char *table, const char *columns,
							  RtbLedgerRow *row);

#endif							/* RTB_LEDGER_ROW_H */
