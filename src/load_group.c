/*
 * load_group.c
 *	  rtbench.load_group(): the document of a group (load_groups.c has its shape).
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "load.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"

#include "arm_document.h"

PG_FUNCTION_INFO_V1(rtb_sql_load_group);

static void
append_text(StringInfo buf, FunctionCallInfo fcinfo, int arg, const char *key)
{
	if (PG_ARGISNULL(arg))
		return;
	appendStringInfo(buf, ", \"%s\": ", key);
	escape_json(buf, text_to_cstring(PG_GETARG_TEXT_PP(arg)));
}

static void
append_json(StringInfo buf, FunctionCallInfo fcinfo, int arg, const char *key)
{
	Jsonb	   *jb;

	if (PG_ARGISNULL(arg))
		return;
	jb = PG_GETARG_JSONB_P(arg);
	appendStringInfo(buf, ", \"%s\": %s", key, JsonbToCString(NULL, &jb->root, VARSIZE(jb)));
}

/*
 * rtb_load_refuse_sessions
 *		Throw for a number of sessions that cannot be.
 */
void
rtb_load_refuse_sessions(const char *group)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid number of sessions of group \"%s\"", group),
			 errhint("Give a number from 1 to %d.", RTB_LOAD_SESSIONS)));
}

/*
 * rtb_load_refuse_rate
 *		Throw for a rate that cannot be.
 */
void
rtb_load_refuse_rate(const char *group)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid rate of group \"%s\"", group),
			 errhint("Give the transactions a second of the whole group, more than 0, or leave it out for as many as it can.")));
}

/*
 * rtbench.load_group(name text, arm jsonb or text, sessions int, rate float8,
 *					  parameters jsonb, variant text) returns jsonb
 */
Datum
rtb_sql_load_group(PG_FUNCTION_ARGS)
{
	bool		by_name = get_fn_expr_argtype(fcinfo->flinfo, 1) == TEXTOID;
	StringInfoData buf;
	char	   *name;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a group of a load needs a name and an arm"),
				 errhint("Make the arm by rtbench.arm(), or name an arm of the scenario.")));
	name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	rtb_check_name(name, "group");
	initStringInfo(&buf);
	appendStringInfoString(&buf, "{\"group\": ");
	escape_json(&buf, name);
	if (by_name)
		append_text(&buf, fcinfo, 1, "arm");
	else
	{
		RtbTextRules rules = {RTB_TEXT_ALONE};

		(void) rtb_arm_read(PG_GETARG_JSONB_P(1), &rules);
		append_json(&buf, fcinfo, 1, "arm");
	}
	if (PG_ARGISNULL(2) || PG_GETARG_INT32(2) < 1 || PG_GETARG_INT32(2) > RTB_LOAD_SESSIONS)
		rtb_load_refuse_sessions(name);
	appendStringInfo(&buf, ", \"sessions\": %d", PG_GETARG_INT32(2));
	if (!PG_ARGISNULL(3))
	{
		float8		rate = PG_GETARG_FLOAT8(3);

		if (!(rate > 0) || isinf(rate))
			rtb_load_refuse_rate(name);
		appendStringInfo(&buf, ", \"rate\": %.17g", rate);
	}
	append_json(&buf, fcinfo, 4, "parameters");
	append_text(&buf, fcinfo, 5, "variant");
	appendStringInfoChar(&buf, '}');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(buf.data));
}
