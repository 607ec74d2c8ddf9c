/*
 * define.c
 *	  Constructors of definitions: rtbench.step(), foreach(), generated(), copy_rows(), arm().
 *
 * Each writes a document as JSON text and checks it the way it will be read
 * later (arm_document.c), so that what a constructor returns can be used.
 *
 * Memory: everything is palloc'd in the caller's context.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "arm_document.h"
#include "step_document.h"

PG_FUNCTION_INFO_V1(rtb_step);
PG_FUNCTION_INFO_V1(rtb_foreach);
PG_FUNCTION_INFO_V1(rtb_foreach_with_options);
PG_FUNCTION_INFO_V1(rtb_generated);
PG_FUNCTION_INFO_V1(rtb_copy_rows);
PG_FUNCTION_INFO_V1(rtb_arm);
PG_FUNCTION_INFO_V1(rtb_arm_with_options);

/* a text argument, which may not be null */
static char *
required_text(FunctionCallInfo fcinfo, int arg, const char *name)
{
	if (PG_ARGISNULL(arg))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
	return text_to_cstring(PG_GETARG_TEXT_PP(arg));
}

/* ", "key": "value"" unless the argument is null or what holds without it */
static void
append_option(StringInfo buf, FunctionCallInfo fcinfo, int arg, const char *key,
			  const char *otherwise)
{
	char	   *value;

	if (PG_ARGISNULL(arg))
		return;
	value = text_to_cstring(PG_GETARG_TEXT_PP(arg));
	if (otherwise != NULL && strcmp(value, otherwise) == 0)
		return;
	appendStringInfo(buf, ", \"%s\": ", key);
	escape_json(buf, value);
}

/* ", "key": n" unless the argument is null */
static void
append_size(StringInfo buf, FunctionCallInfo fcinfo, int arg, const char *key)
{
	if (!PG_ARGISNULL(arg))
		appendStringInfo(buf, ", \"%s\": %d", key, PG_GETARG_INT32(arg));
}

/* a condition: a driver's column, or an object */
static void
append_condition(StringInfo buf, FunctionCallInfo fcinfo, int arg)
{
	char	   *condition;

	if (PG_ARGISNULL(arg))
		return;
	condition = text_to_cstring(PG_GETARG_TEXT_PP(arg));
	appendStringInfoString(buf, ", \"only_if\": ");
	if (condition[0] == '{')
	{
		/* an object and nothing after it: it may not add members to the step */
		Jsonb	   *object = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(condition)));

		JsonbToCString(buf, &object->root, VARSIZE(object));
	}
	else
		escape_json(buf, condition);
}

static Jsonb *
finished(StringInfo buf)
{
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(buf->data)));
}

/* the end of a step's object */
static Datum
checked_step(StringInfo buf)
{
	Jsonb	   *step;

	appendStringInfoChar(buf, '}');
	step = finished(buf);
	rtb_step_check(step);
	PG_RETURN_JSONB_P(step);
}

/* one element of a list of steps: a text is a statement, a jsonb a step */
static void
append_step(StringInfo buf, Datum value, Oid type)
{
	char		category;
	bool		preferred;

	if (type == JSONBOID)
	{
		Jsonb	   *step = DatumGetJsonbP(value);

		JsonbToCString(buf, &step->root, VARSIZE(step));
		return;
	}
	get_type_category_preferred(type, &category, &preferred);
	if (category == TYPCATEGORY_STRING)
	{
		Oid			output;
		bool		varlena;

		getTypeOutputInfo(type, &output, &varlena);
		appendStringInfoString(buf, "{\"statement\": ");
		escape_json(buf, OidOutputFunctionCall(output, value));
		appendStringInfoChar(buf, '}');
		return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("a step cannot be of type %s", format_type_be(type)),
			 type_is_array(type) ?
			 errhint("Write VARIADIC before an array of steps.") :
			 errhint("A step is a statement's text, or made by rtbench.step(), rtbench.foreach(), rtbench.generated() or rtbench.copy_rows().")));
}

/* append the JSON array of a list of steps; kind: whose, for messages */
static void
append_steps(StringInfo buf, int n, const Datum *values, const Oid *types, const bool *nulls,
			 const char *kind)
{
	appendStringInfoChar(buf, '[');
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("a step of %s must not be null", kind)));
		if (i > 0)
			appendStringInfoString(buf, ", ");
		append_step(buf, values[i], types[i]);
		if ((types[i] == JSONBOID) != (types[0] == JSONBOID))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("the steps of %s are partly texts, partly documents", kind),
					 errhint("Make a step of each text by rtbench.step(text).")));
	}
	appendStringInfoChar(buf, ']');
}

/* the same for the elements of an array argument */
static void
append_array_steps(StringInfo buf, ArrayType *array, const char *kind)
{
	Oid			type = ARR_ELEMTYPE(array);
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;
	Oid		   *types;
	bool	   *nulls;
	int			n;

	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	deconstruct_array(array, type, typlen, typbyval, typalign, &values, &nulls, &n);
	types = palloc(sizeof(Oid) * Max(n, 1));
	for (int i = 0; i < n; i++)
		types[i] = type;
	append_steps(buf, n, values, types, nulls, kind);
}

/* the same for the variadic arguments of a call, from the second on */
static void
append_argument_steps(StringInfo buf, FunctionCallInfo fcinfo, const char *kind)
{
	Datum	   *values;
	Oid		   *types;
	bool	   *nulls;
	int			n = extract_variadic_args(fcinfo, 1, true, &values, &types, &nulls);

	if (n < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the steps of %s must not be null", kind)));
	append_steps(buf, n, values, types, nulls, kind);
}

/*
 * rtbench.step(statement text, types text[], plans text, subtransaction text, only_if text) returns jsonb
 */
Datum
rtb_step(PG_FUNCTION_ARGS)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "{\"statement\": ");
	escape_json(&buf, required_text(fcinfo, 0, "a statement"));
	if (!PG_ARGISNULL(1))
	{
		Datum	   *types;
		bool	   *nulls;
		int			n;

		deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TEXTOID, -1, false, TYPALIGN_INT,
						  &types, &nulls, &n);
		appendStringInfoString(&buf, ", \"types\": [");
		for (int i = 0; i < n; i++)
		{
			if (nulls[i])
				ereport(ERROR,
						(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						 errmsg("a type's name must not be null")));
			if (i > 0)
				appendStringInfoString(&buf, ", ");
			escape_json(&buf, TextDatumGetCString(types[i]));
		}
		appendStringInfoChar(&buf, ']');
	}
	append_option(&buf, fcinfo, 2, "plans", NULL);
	append_option(&buf, fcinfo, 3, "subtransaction", NULL);
	append_condition(&buf, fcinfo, 4);
	return checked_step(&buf);
}

/*
 * rtbench.foreach(driver text, VARIADIC body "any") returns jsonb
 */
Datum
rtb_foreach(PG_FUNCTION_ARGS)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "{\"foreach\": ");
	escape_json(&buf, required_text(fcinfo, 0, "a driver"));
	appendStringInfoString(&buf, ", \"body\": ");
	append_argument_steps(&buf, fcinfo, "a foreach");
	return checked_step(&buf);
}

/*
 * rtbench.foreach(driver text, steps jsonb[], commit_every bigint or text, only_if text) returns jsonb
 * and the same with steps text[]
 */
Datum
rtb_foreach_with_options(PG_FUNCTION_ARGS)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "{\"foreach\": ");
	escape_json(&buf, required_text(fcinfo, 0, "a driver"));
	appendStringInfoString(&buf, ", \"body\": ");
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the steps of a foreach must not be null")));
	append_array_steps(&buf, PG_GETARG_ARRAYTYPE_P(1), "a foreach");
	if (!PG_ARGISNULL(2) && get_fn_expr_argtype(fcinfo->flinfo, 2) == INT8OID)
		appendStringInfo(&buf, ", \"commit_every\": " INT64_FORMAT, PG_GETARG_INT64(2));
	else
		append_option(&buf, fcinfo, 2, "commit_every", NULL);
	append_condition(&buf, fcinfo, 3);
	return checked_step(&buf);
}

/*
 * rtbench.generated(query text) returns jsonb
 */
Datum
rtb_generated(PG_FUNCTION_ARGS)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "{\"generated\": ");
	escape_json(&buf, required_text(fcinfo, 0, "a generating query"));
	append_condition(&buf, fcinfo, 1);
	return checked_step(&buf);
}

/*
 * rtbench.copy_rows(query text, copy text, only_if text) returns jsonb
 */
Datum
rtb_copy_rows(PG_FUNCTION_ARGS)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "{\"rows\": ");
	escape_json(&buf, required_text(fcinfo, 0, "a query of rows to copy"));
	appendStringInfoString(&buf, ", \"copy\": ");
	escape_json(&buf, required_text(fcinfo, 1, "a COPY statement"));
	append_condition(&buf, fcinfo, 2);
	return checked_step(&buf);
}

static void
begin_arm(StringInfo buf, FunctionCallInfo fcinfo)
{
	initStringInfo(buf);
	appendStringInfoString(buf, "{\"arm\": ");
	escape_json(buf, required_text(fcinfo, 0, "an arm's name"));
	appendStringInfoString(buf, ", \"steps\": ");
}

static Jsonb *
finish_arm(StringInfo buf)
{
	RtbTextRules rules = {RTB_TEXT_ALONE};
	Jsonb	   *arm;

	appendStringInfoChar(buf, '}');
	arm = finished(buf);
	(void) rtb_arm_read(arm, &rules);
	return arm;
}

/*
 * rtbench.arm(name text, VARIADIC statements text[]) returns jsonb
 * rtbench.arm(name text, VARIADIC steps "any") returns jsonb
 */
Datum
rtb_arm(PG_FUNCTION_ARGS)
{
	StringInfoData buf;

	begin_arm(&buf, fcinfo);
	append_argument_steps(&buf, fcinfo, "an arm");
	PG_RETURN_JSONB_P(finish_arm(&buf));
}

/*
 * rtbench.arm(name text, steps jsonb[], description text, ending text, before text, plans text,
 *			   protocol text, batch int, fetch_size int)
 * and the same with steps text[]
 */
Datum
rtb_arm_with_options(PG_FUNCTION_ARGS)
{
	StringInfoData buf;

	begin_arm(&buf, fcinfo);
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the steps of an arm must not be null")));
	append_array_steps(&buf, PG_GETARG_ARRAYTYPE_P(1), "an arm");
	append_option(&buf, fcinfo, 2, "description", NULL);
	append_option(&buf, fcinfo, 3, "ending", "rollback");
	append_option(&buf, fcinfo, 4, "before", NULL);
	append_option(&buf, fcinfo, 5, "plans", "fresh");
	append_option(&buf, fcinfo, 6, "protocol", NULL);
	append_size(&buf, fcinfo, 7, "batch");
	append_size(&buf, fcinfo, 8, "fetch_size");
	PG_RETURN_JSONB_P(finish_arm(&buf));
}
