/*
 * result_row.h
 *	  A row of a set-returning function, column after column.
 */
#ifndef RTB_RESULT_ROW_H
#define RTB_RESULT_ROW_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/execnodes.h"

#define RTB_ROW_COLUMNS	56

typedef struct RtbRow
{
	int			n;				/* columns that it has so far; begin with {0} */
	Datum		values[RTB_ROW_COLUMNS];
	bool		nulls[RTB_ROW_COLUMNS];
} RtbRow;

extern void rtb_row_add(RtbRow *row, Datum value, bool null);
extern void rtb_row_add_text(RtbRow *row, const char *text);
extern void rtb_row_add_int(RtbRow *row, int value);
extern void rtb_row_add_bigint(RtbRow *row, int64 value);
extern void rtb_row_add_count(RtbRow *row, int64 count);
extern void rtb_row_add_point(RtbRow *row, bool has_point, int64 point);
extern void rtb_row_add_numeric(RtbRow *row, char *text);
extern void rtb_row_add_decimals(RtbRow *row, double number, int decimals);
extern void rtb_row_add_significant(RtbRow *row, double number, int digits);
extern void rtb_row_put(ReturnSetInfo *rsinfo, const RtbRow *row);

#endif							/* RTB_RESULT_ROW_H */
