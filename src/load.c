/*
 * load.c
 *	  The SQL-callable face of loads: CALL rtbench.run_load(...) and
 *	  run_load_compare(...).
 *
 * Everything that can be refused is refused in the transaction that CALL began,
 * before a worker is started or a schema made; then that is committed, and the
 * load itself waits in the next one without a snapshot.
 */
#include "postgres.h"

#include "load.h"

#include <limits.h>

#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/json.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "call.h"
#include "facts.h"
#include "json_access.h"
#include "ledger.h"
#include "sweep_transport.h"
#include "worker.h"

#define MOST_ROUNDS			10000
#define SHORTEST_WINDOW_MS	20

PG_FUNCTION_INFO_V1(rtb_run_load);
PG_FUNCTION_INFO_V1(rtb_run_load_compare);

/* arguments, in their SQL order */
enum
{
	ARG_WHAT,					/* groups, or a scenario's name */
	ARG_DURATION,
	ARG_OTHER,					/* setup, or groups of the scenario's arms */
	ARG_PARAMETERS,
	ARG_WARMUP,
	ARG_LABEL,
	ARG_RETRY,
	ARG_MORE,					/* of run_load() the transport and what belongs to it, */
	ARG_ROUNDS = ARG_MORE,		/* of run_load_compare() after these */
	ARG_MARGIN,
	ARG_CONTROL,
	ARG_SEED,
	ARG_MORE_COMPARED
};

/* ---- reading arguments ---- */

static void
refuse_null(const char *argument, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("argument \"%s\" must not be null", argument),
			 errhint("%s", hint)));
}

/* milliseconds of an interval */
static int64
duration_arg(FunctionCallInfo fcinfo, int n, const char *argument, double least)
{
	Interval   *span;
	double		us;

	if (PG_ARGISNULL(n))
		refuse_null(argument, "Give an interval, such as '10 s'.");
	span = PG_GETARG_INTERVAL_P(n);
	us = span->time + span->day * (double) USECS_PER_DAY +
		span->month * (double) DAYS_PER_MONTH * USECS_PER_DAY;
	if (us < least * 1000 || us / 1000 > INT_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" is out of range", argument),
				 errhint("Give an interval from %g milliseconds to 24 days, such as '10 s'.", least)));
	return (int64) (us / 1000);
}

static bool
boolean_arg(FunctionCallInfo fcinfo, int n)
{
	return !PG_ARGISNULL(n) && PG_GETARG_BOOL(n);
}

static List *
documents_arg(FunctionCallInfo fcinfo, int n)
{
	List	   *documents = NIL;
	ArrayType  *array;
	Datum	   *elems;
	bool	   *nulls;
	int			count;

	if (PG_ARGISNULL(n))
		return NIL;
	array = PG_GETARG_ARRAYTYPE_P(n);
	deconstruct_array(array, JSONBOID, -1, false, TYPALIGN_INT, &elems, &nulls, &count);
	if (count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there are no groups"),
				 errhint("Give at least one, made by rtbench.load_group().")));
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			refuse_null("groups", "Its elements are made by rtbench.load_group().");
		documents = lappend(documents, DatumGetJsonbP(elems[i]));
	}
	return documents;
}

/* a scenario whose point, if it has some, is the first unless a parameter says otherwise */
static RtbScenario *
scenario_arg(FunctionCallInfo fcinfo)
{
	RtbScenario *scenario = rtb_scenario_load(text_to_cstring(PG_GETARG_TEXT_PP(ARG_WHAT)));

	if (scenario->swept != NULL)
	{
		Jsonb	   *point = rtb_json_to_jsonb(psprintf("{\"%s\": " INT64_FORMAT "}", scenario->swept,
													   *(int64 *) linitial(scenario->points)));

		scenario->parameters = DatumGetJsonbP(DirectFunctionCall2(jsonb_concat,
																  JsonbPGetDatum(scenario->parameters),
																  JsonbPGetDatum(point)));
		scenario->swept = NULL;
		scenario->points = NIL;
	}
	if (!PG_ARGISNULL(ARG_PARAMETERS))
		rtb_scenario_set_parameters(scenario, PG_GETARG_JSONB_P(ARG_PARAMETERS));
	return scenario;
}

/* groups that are given with all that they need */
static RtbScenario *
scenario_of_groups(FunctionCallInfo fcinfo)
{
	RtbScenario *scenario = palloc0(sizeof(RtbScenario));
	Jsonb	   *parameters = PG_ARGISNULL(ARG_PARAMETERS) ? NULL : PG_GETARG_JSONB_P(ARG_PARAMETERS);

	scenario->name = "load";
	scenario->setup = PG_ARGISNULL(ARG_OTHER) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(ARG_OTHER));
	scenario->parameters = parameters != NULL ? parameters : rtb_json_to_jsonb("{}");
	rtb_scenario_validate(scenario);
	return scenario;
}

static void
read_groups(FunctionCallInfo fcinfo, RtbLoad *load, bool compare)
{
	bool		by_name = get_fn_expr_argtype(fcinfo->flinfo, ARG_WHAT) == TEXTOID;
	RtbScenario *scenario;
	List	   *documents;

	if (PG_ARGISNULL(ARG_WHAT))
		refuse_null(by_name ? "scenario" : "groups",
					by_name ? "SELECT * FROM rtbench.scenarios; lists them." : "Give an array of rtbench.load_group(...).");
	if (by_name)
	{
		scenario = scenario_arg(fcinfo);
		documents = documents_arg(fcinfo, ARG_OTHER);
	}
	else
	{
		documents = documents_arg(fcinfo, ARG_WHAT);
		scenario = scenario_of_groups(fcinfo);
	}
	load->scenario = scenario->name;
	rtb_load_read_groups(load, scenario, documents, compare);
}

/* what a load has that compares variants */
static void
read_comparison(FunctionCallInfo fcinfo, RtbLoad *load)
{
	if (PG_ARGISNULL(ARG_ROUNDS) || PG_GETARG_INT32(ARG_ROUNDS) < 1 || PG_GETARG_INT32(ARG_ROUNDS) > MOST_ROUNDS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rounds must be between 1 and %d", MOST_ROUNDS),
				 errhint("With fewer than 8 there is no interval, and so no verdict.")));
	load->rounds = PG_GETARG_INT32(ARG_ROUNDS);
	load->margin = PG_ARGISNULL(ARG_MARGIN) ? 0 : PG_GETARG_FLOAT8(ARG_MARGIN);
	if (!(load->margin > 0 && load->margin < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("margin must be between 0 and 1"),
				 errhint("0.02 means: within 2 %% is the same.")));
	load->control = boolean_arg(fcinfo, ARG_CONTROL);
	if (rtb_load_window_ms(load) < SHORTEST_WINDOW_MS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("windows of " INT64_FORMAT " ms are too short", rtb_load_window_ms(load)),
				 errdetail("duration is shared by %d rounds of a window for each variant%s.", load->rounds,
						   load->control ? " and one for the control" : ""),
				 errhint("Raise duration, or lower rounds.")));
}

/* where the sessions work, and how they get there */
static void
read_way(FunctionCallInfo fcinfo, RtbLoad *load, int first)
{
	const RtbTransportPlaces places = {first, first + 1, first + 2, first + 3, first + 4, first + 5, -1, -1};
	RtbWay		way = {0};

	rtb_arguments_way(fcinfo, &places, NIL, &way);
	if (!way.own_transactions)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a load cannot run by transport \"%s\"", way.transport),
				 errdetail("Its sessions work at the same time, each in a process of its own."),
				 errhint("Use transport => 'worker', 'unix', 'tcp' or 'tls', or server => '...'.")));
	if (!PG_ARGISNULL(places.round_trip))
		load->round_trip_us = rtb_arguments_distance(&way, PG_GETARG_FLOAT8(places.round_trip));
	load->transport = way.transport;
	load->wire = way.wire;
}

static void
append_connection(StringInfo buf, const RtbLoad *load)
{
	const RtbWireOptions *wire = load->wire;

	if (wire == NULL)
		return;
	appendStringInfo(buf, ", \"protocol\": \"%s\", \"batch\": %d, \"fetch_size\": ",
					 rtb_protocol_name(wire->protocol), wire->batch);
	if (wire->fetch_size > 0)
		appendStringInfo(buf, "%d", wire->fetch_size);
	else
		appendStringInfoString(buf, "null");
	if (wire->simulated)
		appendStringInfo(buf, ", \"round_trip_ms\": %g", load->round_trip_us / 1000.0);
}

/* as it is kept: what was asked for, and what is to be known of all figures */
static Jsonb *
options_document(const RtbLoad *load)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	appendStringInfo(&buf, "{\"duration_ms\": " INT64_FORMAT ", \"warmup_ms\": " INT64_FORMAT
					 ", \"retry\": %s, \"rounds\": %d, \"window_ms\": " INT64_FORMAT ", \"control\": %s",
					 load->duration_ms, load->warmup_ms, load->retry ? "true" : "false",
					 load->rounds, load->compared < 0 ? load->duration_ms : rtb_load_window_ms(load),
					 load->control ? "true" : "false");
	append_connection(&buf, load);
	appendStringInfoString(&buf, ", \"notes\": [");
	foreach(lc, load->notes)
	{
		appendStringInfoString(&buf, foreach_current_index(lc) > 0 ? ", " : "");
		escape_json(&buf, lfirst(lc));
	}
	appendStringInfoString(&buf, "]}");
	return rtb_json_to_jsonb(buf.data);
}

static RtbLoad *
read_load(FunctionCallInfo fcinfo, bool compare)
{
	RtbLoad    *load = palloc0(sizeof(RtbLoad));

	load->duration_ms = duration_arg(fcinfo, ARG_DURATION, "duration", 1);
	load->warmup_ms = duration_arg(fcinfo, ARG_WARMUP, "warmup", 0);
	load->label = PG_ARGISNULL(ARG_LABEL) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(ARG_LABEL));
	load->retry = boolean_arg(fcinfo, ARG_RETRY);
	read_way(fcinfo, load, compare ? ARG_MORE_COMPARED : ARG_MORE);
	read_groups(fcinfo, load, compare);
	load->margin = 0.02;
	if (compare)
		read_comparison(fcinfo, load);
	if (compare && !PG_ARGISNULL(ARG_SEED))
		load->seed = PG_GETARG_INT64(ARG_SEED);
	else
		load->seed = (int64) (pg_prng_uint64(&pg_global_prng_state) >> 1);
	load->server_version = pstrdup(GetConfigOption("server_version", false, false));
	load->settings = rtb_facts_settings();
	load->machine = rtb_facts_machine(0);
	return load;
}

/* ---- running ---- */

static void
run(FunctionCallInfo fcinfo, const char *procedure, bool compare)
{
	RtbLoad    *load;

	rtb_call_require(fcinfo, procedure);
	rtb_call_own_memory();
	PreventCommandIfReadOnly(procedure);
	if (rtb_in_worker())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a run of rtbench cannot be part of another one")));
	load = read_load(fcinfo, compare);
	load->run = rtb_ledger_reserve();
	rtb_call_commit();

	rtb_load_run(load);

	load->options = options_document(load);
	PushActiveSnapshot(GetTransactionSnapshot());
	rtb_load_write(load);
	PopActiveSnapshot();
	ereport(NOTICE,
			(errmsg("this was run " INT64_FORMAT ": rtbench.load_result(" INT64_FORMAT ") has every figure",
					load->run, load->run)));
}

/*
 * rtb_run_load
 *		CALL rtbench.run_load(groups or scenario, ...)
 */
Datum
rtb_run_load(PG_FUNCTION_ARGS)
{
	run(fcinfo, "rtbench.run_load", false);
	return (Datum) 0;
}

/*
 * rtb_run_load_compare
 *		CALL rtbench.run_load_compare(groups or scenario, ...)
 */
Datum
rtb_run_load_compare(PG_FUNCTION_ARGS)
{
	run(fcinfo, "rtbench.run_load_compare", true);
	return (Datum) 0;
}
