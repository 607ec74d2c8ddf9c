/*
 * scenario_catalog.c
 *	  Scenarios that are kept: found by name, created, changed, dropped.
 *
 * A name means the caller's own scenario, then a built-in one; another role's
 * only as owner.name, whoever calls.  Otherwise the SQL of a plain role would
 * run as the superuser who sweeps a name of his.
 *
 * Row-level security decides who sees and writes what.  Rows can be written
 * without the functions here, so what is loaded is checked as if it were new.
 * Queries run with a search_path of pg_catalog alone.
 *
 * Memory: what is returned is palloc'd in the context current at the call;
 * SPI's own memory goes with SPI_finish().
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "arm_document.h"
#include "json_access.h"
#include "scenario.h"

PG_FUNCTION_INFO_V1(rtb_create_scenario);
PG_FUNCTION_INFO_V1(rtb_add_arm);
PG_FUNCTION_INFO_V1(rtb_drop_scenario);

/* a query under way, and what finish_query() undoes */
typedef struct Lookup
{
	MemoryContext caller;
	int			nestlevel;
} Lookup;

/* run one query; its rows stay in SPI_tuptable until finish_query() */
static Lookup
start_query(const char *sql, int nargs, Oid *types, Datum *values, const char *nulls)
{
	Lookup		query;

	query.caller = CurrentMemoryContext;
	query.nestlevel = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	SPI_connect();
	if (SPI_execute_with_args(sql, nargs, types, values, nulls, false, 0) < 0)
		elog(ERROR, "could not execute \"%s\"", sql);
	return query;
}

static void
finish_query(Lookup query)
{
	SPI_finish();
	AtEOXact_GUC(true, query.nestlevel);
	MemoryContextSwitchTo(query.caller);
}

/* a column of a row of SPI_tuptable as text in the caller's context; NULL for null */
static char *
row_text(Lookup query, int row, int column)
{
	MemoryContext old = MemoryContextSwitchTo(query.caller);
	char	   *text = SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);

	MemoryContextSwitchTo(old);
	return text;
}

/* a varlena column, copied into the caller's context; NULL for null */
static void *
row_varlena(Lookup query, int row, int column)
{
	bool		isnull;
	Datum		value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, &isnull);
	MemoryContext old;
	void	   *copy;

	if (isnull)
		return NULL;
	old = MemoryContextSwitchTo(query.caller);
	copy = PG_DETOAST_DATUM_COPY(value);
	MemoryContextSwitchTo(old);
	return copy;
}

/* a text column, or the argument of a function, as a nullable Datum */
static void
set_text(Datum *value, char *null, const char *text)
{
	*null = text == NULL ? 'n' : ' ';
	*value = text == NULL ? (Datum) 0 : CStringGetTextDatum(text);
}

/*
 * owner.name taken apart at the last dot: names have none.  The owner may be
 * in double quotes, as regrole prints it.  Returns false if there is no owner.
 */
static bool
split_name(const char *given, char **owner, char **name)
{
	const char *dot = strrchr(given, '.');
	char	   *to;

	*name = pstrdup(dot == NULL ? given : dot + 1);
	if (dot == NULL)
		return false;
	*owner = pnstrdup(given, dot - given);
	if (dot - given >= 2 && (*owner)[0] == '"' && dot[-1] == '"')
	{
		(*owner)[dot - given - 1] = '\0';
		to = *owner;
		for (const char *from = *owner + 1; *from; from++)
		{
			if (from[0] == '"' && from[1] == '"')
				from++;
			*to++ = *from;
		}
		*to = '\0';
	}
	return true;
}

/* names of the scenarios that the current role may use, for a hint */
static char *
usable_names(void)
{
	Lookup		query;
	char	   *names = NULL;

	query = start_query("SELECT string_agg('\"' || scenario || '\"', ', ' "
						"ORDER BY builtin, scenario COLLATE \"C\") FROM rtbench.scenarios",
						0, NULL, NULL, NULL);
	if (SPI_processed == 1)
		names = row_text(query, 0, 1);
	finish_query(query);
	return names;
}

/* no such scenario: say so, and who has one of that name */
static void
scenario_not_found(const char *given, const char *name, bool qualified)
{
	Oid			types[1] = {TEXTOID};
	Datum		values[1] = {CStringGetTextDatum(name)};
	char	   *owner = NULL;
	char	   *names;
	Lookup		query;

	if (!qualified)
	{
		query = start_query("SELECT owner FROM rtbench.scenario_definitions "
							"WHERE name = $1 AND NOT builtin ORDER BY owner::text COLLATE \"C\" LIMIT 1",
							1, types, values, NULL);
		if (SPI_processed == 1)
			owner = row_text(query, 0, 1);
		finish_query(query);
	}
	names = usable_names();
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("scenario \"%s\" does not exist", given),
			 owner != NULL ?
			 errhint("Role %s has one of this name: write \"%s.%s\" to run that role's SQL.",
					 owner, owner, name) :
			 names != NULL ? errhint("Known scenarios: %s.", names) : 0));
}

/* the documents of a scenario's arms, in order */
static List *
load_arms(int64 id)
{
	Oid			types[1] = {INT8OID};
	Datum		values[1] = {Int64GetDatum(id)};
	List	   *documents = NIL;
	Lookup		query;

	query = start_query("SELECT document FROM rtbench.arm_definitions "
						"WHERE scenario = $1 ORDER BY \"position\"", 1, types, values, NULL);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		Jsonb	   *document = row_varlena(query, row, 1);
		MemoryContext old = MemoryContextSwitchTo(query.caller);

		documents = lappend(documents, document);
		MemoryContextSwitchTo(old);
	}
	finish_query(query);
	return documents;
}

/* the row of a name, without its arms; NULL if there is none */
static RtbScenario *
find_scenario(const char *name, Oid owner, bool or_builtin)
{
	Oid			types[3] = {TEXTOID, OIDOID, BOOLOID};
	Datum		values[3];
	RtbScenario *scenario = NULL;
	Lookup		query;

	values[0] = CStringGetTextDatum(name);
	values[1] = ObjectIdGetDatum(owner);
	values[2] = BoolGetDatum(or_builtin);
	query = start_query("SELECT id, name, owner::oid, builtin, description, setup, check_query, swept, "
						"points, parameters FROM rtbench.scenario_definitions "
						"WHERE name = $1 AND (owner = $2 OR builtin AND $3) "
						"ORDER BY builtin LIMIT 1", 3, types, values, NULL);
	if (SPI_processed == 1)
	{
		HeapTuple	row = SPI_tuptable->vals[0];
		TupleDesc	desc = SPI_tuptable->tupdesc;
		ArrayType  *points;
		MemoryContext old;
		bool		isnull;

		scenario = MemoryContextAllocZero(query.caller, sizeof(RtbScenario));
		scenario->id = DatumGetInt64(SPI_getbinval(row, desc, 1, &isnull));
		scenario->name = row_text(query, 0, 2);
		scenario->owner_id = DatumGetObjectId(SPI_getbinval(row, desc, 3, &isnull));
		if (isnull)
			scenario->owner_id = InvalidOid;
		scenario->builtin = DatumGetBool(SPI_getbinval(row, desc, 4, &isnull));
		scenario->description = row_text(query, 0, 5);
		scenario->setup = row_text(query, 0, 6);
		scenario->check_query = row_text(query, 0, 7);
		scenario->swept = row_text(query, 0, 8);
		points = row_varlena(query, 0, 9);
		scenario->parameters = row_varlena(query, 0, 10);

		old = MemoryContextSwitchTo(query.caller);
		if (OidIsValid(scenario->owner_id))
			scenario->owner = GetUserNameFromId(scenario->owner_id, true);
		if (points != NULL)
			scenario->points = rtb_points_from_array(points);
		MemoryContextSwitchTo(old);
	}
	finish_query(query);
	return scenario;
}

/*
 * The scenario of a name as the current role resolves it, checked as if it
 * were new, palloc'd in the current context.  Throws if there is none, or none
 * that the role may see.
 */
RtbScenario *
rtb_scenario_load(const char *given)
{
	RtbScenario *scenario = NULL;
	char	   *owner;
	char	   *name;
	bool		qualified = split_name(given, &owner, &name);
	Oid			owner_id = qualified ? get_role_oid(owner, true) : GetUserId();

	if (OidIsValid(owner_id))
		scenario = find_scenario(name, owner_id, !qualified);
	if (scenario == NULL)
		scenario_not_found(given, name, qualified);
	scenario->arm_documents = load_arms(scenario->id);
	rtb_scenario_validate(scenario);
	return scenario;
}

/* error unless the current role may change the scenario */
static void
require_own(const RtbScenario *scenario)
{
	if (scenario->builtin)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("scenario \"%s\" is built in and cannot be changed", scenario->name),
				 errhint("Create one of your own, under another name.")));
	if (scenario->owner_id != GetUserId())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("scenario \"%s\" belongs to role \"%s\"", scenario->name, scenario->owner),
				 errhint("Use SET ROLE to change it as its owner.")));
}

static void
delete_scenario(int64 id)
{
	Oid			types[1] = {INT8OID};
	Datum		values[1] = {Int64GetDatum(id)};

	finish_query(start_query("DELETE FROM rtbench.scenario_definitions WHERE id = $1",
							 1, types, values, NULL));
}

static char *
optional_text(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(arg));
}

static char *
required_name(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a scenario's name must not be null")));
	return text_to_cstring(PG_GETARG_TEXT_PP(0));
}

/* make room for a new scenario of the current role's */
static void
claim_name(const char *name, bool replace)
{
	RtbScenario *old;

	rtb_check_name(name, "scenario");
	if (strchr(name, '.') != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid name of scenario: \"%s\"", name),
				 errhint("A dot divides owner and name. A scenario is created for the current role.")));
	old = find_scenario(name, InvalidOid, true);
	if (old != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("scenario \"%s\" is built in", name),
				 errhint("Choose another name.")));
	old = find_scenario(name, GetUserId(), false);
	if (old == NULL)
		return;
	if (!replace)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("scenario \"%s\" already exists", name),
				 errhint("Use replace => true to define it anew, without its arms.")));
	delete_scenario(old->id);
}

/*
 * rtbench.create_scenario(name text, setup text, check_query text, swept text,
 * points bigint[], parameters jsonb, description text, replace boolean)
 */
Datum
rtb_create_scenario(PG_FUNCTION_ARGS)
{
	Oid			types[8] = {TEXTOID, TEXTOID, TEXTOID, TEXTOID, INT8ARRAYOID, JSONBOID, TEXTOID, OIDOID};
	Datum		values[8];
	char		nulls[9] = "        ";
	RtbScenario scenario = {required_name(fcinfo)};

	scenario.setup = optional_text(fcinfo, 1);
	scenario.check_query = optional_text(fcinfo, 2);
	scenario.swept = optional_text(fcinfo, 3);
	if (!PG_ARGISNULL(4))
		scenario.points = rtb_points_from_array(PG_GETARG_ARRAYTYPE_P(4));
	scenario.parameters = PG_ARGISNULL(5) ?
		DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum("{}"))) : PG_GETARG_JSONB_P(5);
	scenario.description = optional_text(fcinfo, 6);

	claim_name(scenario.name, !PG_ARGISNULL(7) && PG_GETARG_BOOL(7));
	rtb_scenario_validate(&scenario);

	set_text(&values[0], &nulls[0], scenario.name);
	set_text(&values[1], &nulls[1], scenario.setup);
	set_text(&values[2], &nulls[2], scenario.check_query);
	set_text(&values[3], &nulls[3], scenario.swept);
	values[4] = PG_ARGISNULL(4) ? (Datum) 0 : PG_GETARG_DATUM(4);
	nulls[4] = scenario.points == NIL ? 'n' : ' ';
	values[5] = JsonbPGetDatum(scenario.parameters);
	set_text(&values[6], &nulls[6], scenario.description);
	values[7] = ObjectIdGetDatum(GetUserId());
	finish_query(start_query("INSERT INTO rtbench.scenario_definitions "
							 "(name, setup, check_query, swept, points, parameters, description, owner) "
							 "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)", 8, types, values, nulls));
	PG_RETURN_VOID();
}

/*
 * rtbench.add_arm(scenario text, arm jsonb)
 */
Datum
rtb_add_arm(PG_FUNCTION_ARGS)
{
	Oid			types[2] = {INT8OID, JSONBOID};
	Datum		values[2];
	RtbScenario *scenario = rtb_scenario_load(required_name(fcinfo));
	Jsonb	   *arm;

	require_own(scenario);
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("an arm must not be null"),
				 errhint("Make it by rtbench.arm(name, statement, ...).")));
	arm = PG_GETARG_JSONB_P(1);
	scenario->arm_documents = lappend(scenario->arm_documents, arm);
	rtb_scenario_validate(scenario);

	/* one at a time, for the position */
	values[0] = Int64GetDatum(scenario->id);
	values[1] = JsonbPGetDatum(arm);
	finish_query(start_query("SELECT FROM rtbench.scenario_definitions WHERE id = $1 FOR UPDATE",
							 1, types, values, NULL));
	finish_query(start_query("INSERT INTO rtbench.arm_definitions (scenario, \"position\", document) "
							 "SELECT $1, 1 + COALESCE(max(\"position\"), 0), $2 FROM rtbench.arm_definitions WHERE scenario = $1",
							 2, types, values, NULL));
	PG_RETURN_VOID();
}

/*
 * rtbench.drop_scenario(name text)
 */
Datum
rtb_drop_scenario(PG_FUNCTION_ARGS)
{
	char	   *given = required_name(fcinfo);
	char	   *owner;
	char	   *name;
	bool		qualified = split_name(given, &owner, &name);
	Oid			owner_id = qualified ? get_role_oid(owner, true) : GetUserId();
	RtbScenario *scenario = NULL;

	/* not loaded: what is broken can be dropped */
	if (OidIsValid(owner_id))
		scenario = find_scenario(name, owner_id, !qualified);
	if (scenario == NULL)
		scenario_not_found(given, name, qualified);
	require_own(scenario);
	delete_scenario(scenario->id);
	PG_RETURN_VOID();
}
