/*
 * row_binding.c
 *	  A driver row's columns as a statement's parameters.
 *
 * A client gets a value and sends it back.  Where the statement wants another
 * type than the driver gives, the value goes through a cast function, or
 * through its text form, which is what such a client does.
 */
#include "postgres.h"

#include "row_binding.h"

#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/*
 * rtb_row_init
 *		Room for the values of one driver row, in cxt.
 */
void
rtb_row_init(RtbRow *row, TupleDesc desc, MemoryContext cxt)
{
	row->desc = desc;
	row->values = MemoryContextAlloc(cxt, sizeof(Datum) * Max(desc->natts, 1));
	row->nulls = MemoryContextAlloc(cxt, sizeof(bool) * Max(desc->natts, 1));
}

static void
choose_conversion(RtbConversion *conversion, Oid source, Oid target)
{
	Oid			cast = InvalidOid;
	CoercionPathType path;
	Oid			output;
	Oid			input;
	bool		varlena;

	if (source == target || IsBinaryCoercible(source, target))
	{
		conversion->way = RTB_CONVERT_NOT;
		return;
	}
	path = find_coercion_pathway(target, source, COERCION_ASSIGNMENT, &cast);
	if (path == COERCION_PATH_FUNC && get_func_nargs(cast) == 1)
	{
		conversion->way = RTB_CONVERT_CAST;
		fmgr_info(cast, &conversion->cast);
		return;
	}
	conversion->way = RTB_CONVERT_TEXT;
	getTypeOutputInfo(source, &output, &varlena);
	fmgr_info(output, &conversion->output);
	getTypeInputInfo(target, &input, &conversion->ioparam);
	fmgr_info(input, &conversion->input);
}

/*
 * rtb_binding_init
 *		Decide once how each parameter gets its value; in the current context.
 *
 * Throws ERRCODE_UNDEFINED_PARAMETER if the driver has fewer columns.
 */
void
rtb_binding_init(RtbBinding *binding, int ntypes, const Oid *types, const RtbRow *row)
{
	int			ncolumns = row ? row->desc->natts : 0;

	if (ntypes > ncolumns)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_PARAMETER),
				 errmsg("there is no parameter $%d", ncolumns + 1),
				 ncolumns == 0
				 ? errhint("$1 and so on are the columns of the driver query of a foreach.")
				 : errhint("The driver query returns %d columns: $1 to $%d.", ncolumns, ncolumns)));

	binding->params = makeParamList(ntypes);
	binding->conversions = palloc0(sizeof(RtbConversion) * ntypes);
	binding->any_conversion = false;
	for (int i = 0; i < ntypes; i++)
	{
		choose_conversion(&binding->conversions[i],
						  TupleDescAttr(row->desc, i)->atttypid, types[i]);
		if (binding->conversions[i].way != RTB_CONVERT_NOT)
			binding->any_conversion = true;
		/* as for any client's parameters: a custom plan may use the value */
		binding->params->params[i].pflags = PARAM_FLAG_CONST;
		binding->params->params[i].ptype = types[i];
	}
}

static void
convert(RtbConversion *conversion, ParamExternData *param)
{
	if (conversion->way == RTB_CONVERT_CAST)
	{
		if (!param->isnull)
			param->value = FunctionCall1(&conversion->cast, param->value);
	}
	else if (conversion->way == RTB_CONVERT_TEXT)
	{
		char	   *text = param->isnull ? NULL : OutputFunctionCall(&conversion->output,
																	 param->value);

		param->value = InputFunctionCall(&conversion->input, text, conversion->ioparam, -1);
	}
}

/*
 * rtb_binding_convert
 *		Make the parameters' values those of the types the statement wants, in
 *		cxt.  Throws what casts, output and input functions throw.
 */
void
rtb_binding_convert(RtbBinding *binding, MemoryContext cxt)
{
	ParamListInfo params = binding->params;
	MemoryContext old = MemoryContextSwitchTo(cxt);

	for (int i = 0; i < params->numParams; i++)
		convert(&binding->conversions[i], &params->params[i]);
	MemoryContextSwitchTo(old);
}
