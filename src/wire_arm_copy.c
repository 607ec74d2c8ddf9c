/*
 * wire_arm_copy.c
 *	  The rows of a query, sent as those of a COPY FROM STDIN.
 *
 * Memory: one row at a time, in the arm's buffer.
 */
#include "postgres.h"

#include "wire_arm_private.h"

#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"

/* a value in COPY's text format: its reference page names what must be escaped */
static void
append_value(StringInfo buf, Datum datum)
{
	text	   *value = DatumGetTextPP(datum);
	const char *data = VARDATA_ANY(value);

	for (int i = 0; i < VARSIZE_ANY_EXHDR(value); i++)
	{
		switch (data[i])
		{
			case '\\':
				appendStringInfoString(buf, "\\\\");
				break;
			case '\t':
				appendStringInfoString(buf, "\\t");
				break;
			case '\n':
				appendStringInfoString(buf, "\\n");
				break;
			case '\r':
				appendStringInfoString(buf, "\\r");
				break;
			default:
				appendStringInfoCharMacro(buf, data[i]);
				break;
		}
	}
	if ((Pointer) value != DatumGetPointer(datum))
		pfree(value);
}

static void
append_row(StringInfo buf, TupleTableSlot *slot, int ncolumns)
{
	slot_getallattrs(slot);
	resetStringInfo(buf);
	for (int i = 0; i < ncolumns; i++)
	{
		if (i > 0)
			appendStringInfoChar(buf, '\t');
		if (slot->tts_isnull[i])
			appendStringInfoString(buf, "\\N");
		else
			append_value(buf, slot->tts_values[i]);
	}
	appendStringInfoChar(buf, '\n');
}

/*
 * rtb_wire_copy_rows
 *		Send the rows that lie in a step's store to its COPY: two round trips.
 *		Throws what the far end says of the statement or of a row.
 */
RtbAnswer
rtb_wire_copy_rows(WireArm *arm, WireStep *step)
{
	TupleTableSlot *slot;

	rtb_wire_require_alike();
	rtb_connection_copy_begin(rtb_wire, step->step->copy);
	if (step->store != NULL)
	{
		slot = MakeSingleTupleTableSlot(step->desc, &TTSOpsMinimalTuple);
		while (tuplestore_gettupleslot(step->store, true, false, slot))
		{
			CHECK_FOR_INTERRUPTS();
			append_row(&arm->copied, slot, step->ncolumns);
			rtb_connection_copy_data(rtb_wire, arm->copied.data, arm->copied.len);
		}
		ExecDropSingleTupleTableSlot(slot);
	}
	return rtb_connection_copy_end(rtb_wire);
}
