/*
 * scenario.c
 *	  Scenarios: made ad hoc, checked, adapted to a call.
 *
 * Memory: scenarios are palloc'd in the context current at the call.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "arm_document.h"
#include "json_access.h"
#include "script.h"

static bool
contains(List *names, const char *name)
{
	ListCell   *lc;

	foreach(lc, names)
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	return false;
}

/* the names in an errhint, as a list */
static char *
quoted_list(List *names)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, names)
		appendStringInfo(&buf, "%s\"%s\"", buf.len > 0 ? ", " : "", (char *) lfirst(lc));
	return buf.data;
}

static Jsonb *
empty_object(void)
{
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum("{}")));
}

/* points: not negative, none twice */
static void
check_points(List *points)
{
	ListCell   *lc;

	foreach(lc, points)
	{
		int64		point = *(int64 *) lfirst(lc);

		if (point < 0)
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("point " INT64_FORMAT " is negative", point)));
		for (int i = 0; i < foreach_current_index(lc); i++)
			if (*(int64 *) list_nth(points, i) == point)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("point " INT64_FORMAT " is given twice", point)));
	}
}

/*
 * Points given as an SQL array: list of int64 *, in the current context.
 * Throws for NULL, negative and repeated points.
 */
List *
rtb_points_from_array(ArrayType *array)
{
	List	   *points = NIL;
	Datum	   *values;
	bool	   *nulls;
	int			n;

	deconstruct_array(array, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		int64	   *point = palloc(sizeof(int64));

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("a point must not be null")));
		*point = DatumGetInt64(values[i]);
		points = lappend(points, point);
	}
	check_points(points);
	return points;
}

/* values of parameters: an object of scalars, under names that can be written */
static void
check_parameters(Jsonb *parameters)
{
	ListCell   *lc;

	if (!JB_ROOT_IS_OBJECT(parameters))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("parameters must be an object"),
				 errhint("Write them as '{\"name\": value, ...}'.")));
	foreach(lc, rtb_json_keys(&parameters->root))
	{
		const char *name = lfirst(lc);

		rtb_script_check_parameter_name(name);
		if (rtb_json_member(&parameters->root, name)->type == jbvBinary)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("parameter \"%s\" is an object or array", name),
					 errhint("Values are numbers, strings, booleans and null.")));
	}
}

/* swept and points belong together */
static void
check_swept(const char *swept, List *points)
{
	if (swept == NULL && points == NIL)
		return;
	if (swept == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("points are given, but no swept parameter"),
				 errhint("Name the parameter whose values they are by swept => 'name'.")));
	rtb_script_check_parameter_name(swept);
	if (points == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("parameter \"%s\" is swept, but there are no points", swept),
				 errhint("Give its values by points => '{...}'.")));
	check_points(points);
}

/* the arms' names, in order: none twice */
static List *
arm_names(List *documents)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, documents)
	{
		char	   *name = rtb_arm_name(lfirst(lc));

		if (contains(names, name))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("there are two arms of the name \"%s\"", name)));
		names = lappend(names, name);
	}
	return names;
}

static List *
known_names(Jsonb *parameters, const char *swept)
{
	List	   *known = rtb_json_keys(&parameters->root);

	if (swept != NULL && !contains(known, swept))
		known = lappend(known, pstrdup(swept));
	return known;
}

/*
 * Error for anything in a scenario that could not be run: parameters, points,
 * texts, arms.  Sets its arm_names and known.  If every parameter has a value,
 * the first point is filled in and checked too.
 */
void
rtb_scenario_validate(RtbScenario *scenario)
{
	RtbTextRules rules = {RTB_TEXT_NAMES};
	RtbTextPlace place;
	char	   *text;
	ListCell   *lc;

	check_parameters(scenario->parameters);
	check_swept(scenario->swept, scenario->points);
	scenario->arm_names = arm_names(scenario->arm_documents);
	scenario->known = rules.known = known_names(scenario->parameters, scenario->swept);

	if (scenario->setup != NULL)
	{
		rtb_text_place_push(&place, "setup", 0, "scenario", scenario->name);
		text = rtb_text_prepare(scenario->setup, &rules);
		rtb_text_require_no_columns(text);
		rtb_text_place_pop(&place);
	}
	if (scenario->check_query != NULL)
	{
		rtb_text_place_push(&place, "check query", 0, "scenario", scenario->name);
		text = rtb_text_prepare(scenario->check_query, &rules);
		rtb_script_require_query(text, "a check query", false);
		rtb_text_require_no_columns(text);
		rtb_text_place_pop(&place);
	}
	foreach(lc, scenario->arm_documents)
		(void) rtb_arm_read(lfirst(lc), &rules);

	(void) rtb_work_document(scenario, scenario->points != NIL,
							 scenario->points == NIL ? 0 : *(int64 *) linitial(scenario->points));
}

/*
 * A scenario that is kept nowhere, of arm documents (list of Jsonb *), fully
 * checked.  setup, check_query, swept and parameters may be NULL, points NIL.
 */
RtbScenario *
rtb_scenario_ad_hoc(const char *setup, const char *check_query, const char *swept,
					List *points, Jsonb *parameters, List *arm_documents)
{
	RtbScenario *scenario = palloc0(sizeof(RtbScenario));

	scenario->name = "compare";
	scenario->setup = setup == NULL ? NULL : pstrdup(setup);
	scenario->check_query = check_query == NULL ? NULL : pstrdup(check_query);
	scenario->swept = swept == NULL ? NULL : pstrdup(swept);
	scenario->points = points;
	scenario->parameters = parameters == NULL ? empty_object() : parameters;
	scenario->arm_documents = arm_documents;
	if (arm_documents == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there are no arms"),
				 errhint("Give at least one, made by rtbench.arm().")));
	rtb_scenario_validate(scenario);
	return scenario;
}

/*
 * Keep only the named arms (list of char *), in the order named.  Throws for
 * names that are unknown or repeated, and for an empty list.
 */
void
rtb_scenario_choose_arms(RtbScenario *scenario, List *names)
{
	List	   *chosen_names = NIL;
	List	   *chosen = NIL;
	ListCell   *lc;

	if (names == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no arm is named"),
				 errhint("Arms of scenario \"%s\": %s.", scenario->name,
						 quoted_list(scenario->arm_names))));
	foreach(lc, names)
	{
		char	   *name = lfirst(lc);
		int			i = 0;

		if (contains(chosen_names, name))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("arm \"%s\" is named twice", name)));
		while (i < list_length(scenario->arm_names) &&
			   strcmp(list_nth(scenario->arm_names, i), name) != 0)
			i++;
		if (i == list_length(scenario->arm_names))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("arm \"%s\" does not exist", name),
					 errhint("Arms of scenario \"%s\": %s.", scenario->name,
							 quoted_list(scenario->arm_names))));
		chosen_names = lappend(chosen_names, list_nth(scenario->arm_names, i));
		chosen = lappend(chosen, list_nth(scenario->arm_documents, i));
	}
	scenario->arm_names = chosen_names;
	scenario->arm_documents = chosen;
}

static void
require_known(const RtbScenario *scenario, const char *name)
{
	if (!contains(scenario->known, name))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_PARAMETER),
				 errmsg("parameter \"%s\" does not exist", name),
				 rtb_script_hint_known(scenario->known)));
}

/*
 * Sweep over another parameter (swept NULL: the scenario's own) or other
 * points (NIL: its own).  The parameter that was swept before keeps the value
 * that the scenario's parameters give it, or needs one from the call.  Throws
 * for unknown names, and for another parameter without points.
 */
void
rtb_scenario_set_points(RtbScenario *scenario, const char *swept, List *points)
{
	if (swept != NULL)
	{
		require_known(scenario, swept);
		if (scenario->swept == NULL || strcmp(scenario->swept, swept) != 0)
			scenario->points = NIL;
		scenario->swept = pstrdup(swept);
	}
	if (points != NIL)
		scenario->points = points;
	check_swept(scenario->swept, scenario->points);
}

/*
 * Put parameters given by a call (an object, or NULL) over the scenario's
 * defaults.  Throws for unknown names, values that are no scalars, and for the
 * swept parameter, whose values are the points.
 */
void
rtb_scenario_set_parameters(RtbScenario *scenario, Jsonb *given)
{
	ListCell   *lc;

	if (given == NULL)
		return;
	check_parameters(given);
	foreach(lc, rtb_json_keys(&given->root))
	{
		const char *name = lfirst(lc);

		require_known(scenario, name);
		if (scenario->swept != NULL && strcmp(scenario->swept, name) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("parameter \"%s\" is swept", name),
					 errhint("Give its values by points => '{...}'.")));
	}
	scenario->parameters = DatumGetJsonbP(DirectFunctionCall2(jsonb_concat,
															  JsonbPGetDatum(scenario->parameters),
															  JsonbPGetDatum(given)));
}
