/*
 * row_binding.h
 *	  A driver row's columns as a statement's parameters.
 */
#ifndef RTB_ROW_BINDING_H
#define RTB_ROW_BINDING_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "fmgr.h"
#include "nodes/params.h"

typedef struct RtbRow
{
	TupleDesc	desc;
	Datum	   *values;
	bool	   *nulls;
	MemoryContext cxt;			/* for conversions; reset with every row */
} RtbRow;

typedef struct RtbConversion
{
	enum
	{
		RTB_CONVERT_NOT,
		RTB_CONVERT_CAST,
		RTB_CONVERT_TEXT
	}			way;
	FmgrInfo	cast;
	FmgrInfo	output;
	FmgrInfo	input;
	Oid			ioparam;
} RtbConversion;

typedef struct RtbBinding
{
	ParamListInfo params;
	RtbConversion *conversions;
	bool		any_conversion;
} RtbBinding;

extern void rtb_row_init(RtbRow *row, TupleDesc desc, MemoryContext cxt);
extern void rtb_binding_init(RtbBinding *binding, int ntypes, const Oid *types, const RtbRow *row);
extern void rtb_binding_convert(RtbBinding *binding, MemoryContext cxt);

/*
 * rtb_binding_fill
 *		The parameters for one driver row; converted values are made in cxt.
 *
 * Inline, as it is in the way of every statement of a loop.
 */
static inline ParamListInfo
rtb_binding_fill(RtbBinding *binding, const RtbRow *row, MemoryContext cxt)
{
	ParamListInfo params = binding->params;

	for (int i = 0; i < params->numParams; i++)
	{
		params->params[i].value = row->values[i];
		params->params[i].isnull = row->nulls[i];
	}
	if (binding->any_conversion)
		rtb_binding_convert(binding, cxt);
	return params;
}

#endif							/* RTB_ROW_BINDING_H */
