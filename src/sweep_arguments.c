/*
 * sweep_arguments.c
 *	  The arguments of sweep() and compare(), checked.
 *
 * Everything that can be refused is refused here, before a worker is started
 * or a schema made.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "sweep_arguments.h"

#include <limits.h>

#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "datatype/timestamp.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "arm_document.h"
#include "facts.h"
#include "judge.h"
#include "script.h"
#include "sweep_servers.h"
#include "sweep_transport.h"

#define RTB_MOST_ROUNDS 10000
#define RTB_MOST_SESSIONS 1000

/* the options that sweep() and compare() have in common, in their SQL order */
enum
{
	ARG_BASELINE,
	ARG_TRANSPORT,
	ARG_LABEL,
	ARG_ROUNDS,
	ARG_MAX_TIME,
	ARG_PASS_TIMEOUT,
	ARG_IGNORE_COLUMNS,
	ARG_COMPARE_RETURNED,
	ARG_VACUUM,
	ARG_MARGIN,
	ARG_SEED,
	ARG_SESSIONS,
	ARG_TARGET,
	ARG_CONTROL,
	ARG_SERVER,
	ARG_PROTOCOL,
	ARG_BATCH,
	ARG_FETCH_SIZE,
	ARG_ROUND_TRIP,
	ARG_PLACEMENT,
	ARG_SERVERS
};

/* ---- reading arguments ---- */

/*
 * rtb_arguments_text
 *		A text argument, NULL of null.
 */
char *
rtb_arguments_text(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/*
 * rtb_arguments_refuse_null
 *		Throws for an argument that must not be null.
 */
void
rtb_arguments_refuse_null(const char *argument, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("argument \"%s\" must not be null", argument),
			 hint ? errhint("%s", hint) : 0));
}

/*
 * rtb_arguments_elements
 *		The elements of a one-dimensional array without nulls; throws for others.
 */
void
rtb_arguments_elements(ArrayType *array, Oid type, const char *argument, Datum **elems, int *n)
{
	bool	   *nulls;
	int16		typlen;
	bool		typbyval;
	char		typalign;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("argument \"%s\" must be a one-dimensional array", argument)));
	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	deconstruct_array(array, type, typlen, typbyval, typalign, elems, &nulls, n);
	for (int i = 0; i < *n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"%s\" must not contain nulls", argument)));
	}
}

static List *
texts_arg(FunctionCallInfo fcinfo, int n, const char *argument)
{
	List	   *texts = NIL;
	Datum	   *elems;
	int			count;

	if (PG_ARGISNULL(n))
		return NIL;
	rtb_arguments_elements(PG_GETARG_ARRAYTYPE_P(n), TEXTOID, argument, &elems, &count);
	if (count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must not be empty", argument),
				 errhint("Leave it out for the default.")));
	for (int i = 0; i < count; i++)
		texts = lappend(texts, TextDatumGetCString(elems[i]));
	return texts;
}

static List *
points_arg(FunctionCallInfo fcinfo, int n)
{
	List	   *points = NIL;
	Datum	   *elems;
	int			count;

	if (PG_ARGISNULL(n))
		return NIL;
	rtb_arguments_elements(PG_GETARG_ARRAYTYPE_P(n), INT8OID, "points", &elems, &count);
	if (count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"points\" must not be empty"),
				 errhint("Leave it out for the scenario's own points.")));
	for (int i = 0; i < count; i++)
	{
		int64	   *point = palloc(sizeof(int64));

		*point = DatumGetInt64(elems[i]);
		if (*point < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("point " INT64_FORMAT " is negative", *point),
					 errhint("Points are numbers from 0 to " INT64_FORMAT ".", PG_INT64_MAX)));
		for (int k = 0; k < i; k++)
		{
			if (*(int64 *) list_nth(points, k) == *point)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("point " INT64_FORMAT " is given twice", *point)));
		}
		points = lappend(points, point);
	}
	return points;
}

/* milliseconds of an interval argument; what = NULL value is 0 */
static int64
duration_arg(FunctionCallInfo fcinfo, int n, const char *argument)
{
	Interval   *span;
	double		us;

	if (PG_ARGISNULL(n))
		return 0;
	span = PG_GETARG_INTERVAL_P(n);
	us = span->time + span->day * (double) USECS_PER_DAY +
		span->month * (double) DAYS_PER_MONTH * USECS_PER_DAY;
	if (us < 1000 || us / 1000 > INT_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" is out of range", argument),
				 errhint("Give an interval from 1 millisecond to 24 days, such as '60 s'.")));
	return (int64) (us / 1000);
}

/* ---- common to sweep() and compare() ---- */

static int
baseline_arg(FunctionCallInfo fcinfo, int n, List *arms)
{
	char	   *name = rtb_arguments_text(fcinfo, n);
	StringInfoData valid;
	ListCell   *lc;
	int			i = 0;

	if (name == NULL)
		return 0;
	initStringInfo(&valid);
	foreach(lc, arms)
	{
		if (strcmp(lfirst(lc), name) == 0)
			return i;
		appendStringInfo(&valid, "%s\"%s\"", i++ ? ", " : "", (char *) lfirst(lc));
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("baseline \"%s\" is not an arm of this run", name),
			 errhint("Its arms are %s.", valid.data)));
}

static double
fraction_arg(FunctionCallInfo fcinfo, int n, const char *argument, const char *hint)
{
	double		fraction;

	if (PG_ARGISNULL(n))
		rtb_arguments_refuse_null(argument, hint);
	fraction = PG_GETARG_FLOAT8(n);
	if (!(fraction > 0 && fraction < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be between 0 and 1", argument),
				 errhint("%s", hint)));
	return fraction;
}

/* a number of rounds or sessions; 0 if it is left to rtbench */
static int
count_arg(FunctionCallInfo fcinfo, int n, const char *argument, int most)
{
	int			count;

	if (PG_ARGISNULL(n))
		return 0;
	count = PG_GETARG_INT32(n);
	if (count < 1 || count > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be between 1 and %d", argument, most),
				 errhint("Leave it out to let max_time and target decide.")));
	return count;
}

/* rounds that a notice may announce: as asked, else the fewest that give an interval */
static int
planned_rounds(const RtbExperiment *e)
{
	int			rounds = e->rounds > 0 ? e->rounds : 2;

	if (e->sessions > 0)
		return rounds * e->sessions;
	return e->rounds > 0 ? e->rounds : 2 * rtb_judge_needed(RTB_ALPHA);
}

static void
read_options(FunctionCallInfo fcinfo, int first, RtbExperiment *e)
{
	const RtbTransportPlaces places = {first + ARG_TRANSPORT, first + ARG_SERVER, first + ARG_PROTOCOL,
	first + ARG_BATCH, first + ARG_FETCH_SIZE, first + ARG_ROUND_TRIP, first + ARG_PLACEMENT,
	first + ARG_SERVERS};
	RtbRun	   *run = e->run;

	rtb_arguments_transport(fcinfo, &places, e);
	run->arms = e->scenario->arm_names;
	run->baseline = baseline_arg(fcinfo, first + ARG_BASELINE, run->arms);
	e->options.baseline = run->baseline;
	run->label = rtb_arguments_text(fcinfo, first + ARG_LABEL);

	e->rounds = count_arg(fcinfo, first + ARG_ROUNDS, "rounds", RTB_MOST_ROUNDS);
	e->sessions = count_arg(fcinfo, first + ARG_SESSIONS, "sessions", RTB_MOST_SESSIONS);
	if (e->sessions > 0 && !e->options.own_transactions)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("transport \"caller\" has one session, this one"),
				 errhint("Leave sessions out, or use transport => 'worker'.")));
	rtb_arguments_check_workers(e);
	e->options.rounds = planned_rounds(e);
	e->target = fraction_arg(fcinfo, first + ARG_TARGET, "target",
							 "0.02 means: stop when intervals are within 2 %.");
	/* an arm alone has no speedup that the control could forbid */
	e->control = list_length(run->arms) > 1 &&
		(PG_ARGISNULL(first + ARG_CONTROL) || PG_GETARG_BOOL(first + ARG_CONTROL));
	e->max_time_ms = duration_arg(fcinfo, first + ARG_MAX_TIME, "max_time");
	e->options.budget_ms = e->max_time_ms;
	run->max_time_us = e->max_time_ms > 0 ? e->max_time_ms * 1000 : RTB_UNKNOWN;
	e->pass_timeout_ms = duration_arg(fcinfo, first + ARG_PASS_TIMEOUT, "pass_timeout");
	e->options.ignore_columns = texts_arg(fcinfo, first + ARG_IGNORE_COLUMNS, "ignore_columns");
	e->options.compare_returned = !PG_ARGISNULL(first + ARG_COMPARE_RETURNED) &&
		PG_GETARG_BOOL(first + ARG_COMPARE_RETURNED);
	e->options.vacuum = PG_ARGISNULL(first + ARG_VACUUM) ? -1
		: PG_GETARG_BOOL(first + ARG_VACUUM);
	run->margin = fraction_arg(fcinfo, first + ARG_MARGIN, "margin",
							   "0.02 means: within 2 % is the same.");
	if (PG_ARGISNULL(first + ARG_SEED))
		run->seed = (int64) (pg_prng_uint64(&pg_global_prng_state) >> 1);
	else
		run->seed = PG_GETARG_INT64(first + ARG_SEED);
}

/*
 * rtb_arguments_document
 *		The options as they are kept with a run.
 */
Jsonb *
rtb_arguments_document(const RtbExperiment *e)
{
	StringInfoData buf;
	ListCell   *lc;
	int			n = 0;

	initStringInfo(&buf);
	appendStringInfo(&buf, "{\"rounds\": %s, \"sessions\": %s, \"target\": %g, \"control\": %s, \"pass_timeout_ms\": ",
					 e->rounds > 0 ? psprintf("%d", e->rounds) : "null",
					 e->sessions > 0 ? psprintf("%d", e->sessions) : "null",
					 e->target, e->control ? "true" : "false");
	if (e->pass_timeout_ms > 0)
		appendStringInfo(&buf, INT64_FORMAT, e->pass_timeout_ms);
	else
		appendStringInfoString(&buf, "null");
	if (e->options.wire != NULL)
		appendStringInfo(&buf, ", \"protocol\": \"%s\", \"batch\": %d, \"fetch_size\": %s, \"placement\": \"%s\"",
						 rtb_protocol_name(e->options.wire->protocol), e->options.wire->batch,
						 e->options.wire->fetch_size > 0 ? psprintf("%d", e->options.wire->fetch_size) : "null",
						 rtb_placement_name(e->options.wire->placement));
	appendStringInfo(&buf, ", \"compare_returned\": %s, \"vacuum\": %s, \"ignore_columns\": [",
					 e->options.compare_returned ? "true" : "false",
					 e->options.vacuum < 0 ? "null" : e->options.vacuum ? "true" : "false");
	foreach(lc, e->options.ignore_columns)
	{
		if (n++ > 0)
			appendStringInfoString(&buf, ", ");
		escape_json(&buf, lfirst(lc));
	}
	appendStringInfo(&buf, "], \"parameters\": %s}",
					 e->scenario->parameters == NULL ? "{}"
					 : JsonbToCString(NULL, &e->scenario->parameters->root,
									  VARSIZE(e->scenario->parameters)));
	return rtb_json_to_jsonb(buf.data);
}

/*
 * rtb_arguments_require_connection
 *		Throws for an arm that says how it crosses a connection, where the
 *		transport is none.
 */
void
rtb_arguments_require_connection(const RtbArm *arm, const char *transport)
{
	if (arm->copies)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("arm \"%s\" copies rows from a client, which transport \"%s\" cannot do", arm->name, transport),
				 errhint("Use a connection, as by transport => 'unix', or name the other arms by arms => '{...}'.")));
	if (arm->protocol != RTB_PROTOCOL_UNSET || arm->batch > 0 || arm->fetch_size > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("arm \"%s\" has a protocol of its own, and transport \"%s\" has none to choose", arm->name, transport),
				 errhint("Use a connection, as by transport => 'unix', or name the other arms by arms => '{...}'.")));
}

/*
 * rtb_arguments_check_endings
 *		Throws if an arm cannot run there, or commits where it must not.
 *
 * What commits cannot be taken back: it runs where only what the setup made can
 * be written, in transactions of its own, and while nobody's snapshot keeps its
 * dead rows.
 */
void
rtb_arguments_check_endings(const RtbExperiment *e, bool called)
{
	ListCell   *lc;

	foreach(lc, e->scenario->arm_documents)
	{
		RtbTextRules rules = {RTB_TEXT_ALONE};
		RtbArm	   *arm = rtb_arm_read(lfirst(lc), &rules);

		if (e->options.wire == NULL)
			rtb_arguments_require_connection(arm, e->run->transport);
		if (arm->savepoints && !e->options.own_transactions)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("arm \"%s\" has savepoints, which transport \"caller\" cannot run", arm->name),
					 errhint("Use transport => 'worker', or subtransaction => 'internal'.")));
		if (arm->ending == RTB_ENDING_ROLLBACK)
			continue;
		if (!e->options.own_transactions)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("arm \"%s\" commits, which transport \"caller\" cannot do", arm->name),
					 errhint("Use transport => 'worker'.")));
		if (!called)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("arm \"%s\" commits, so the run must be started by CALL", arm->name),
					 errdetail("The snapshot of a SELECT that waits keeps the server from pruning what the arm's transactions leave."),
					 errhint("CALL rtbench.run_sweep(...) or rtbench.run_compare(...) with the same arguments; the verdicts are in rtbench.last then.")));
		if (e->scenario->setup == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("arm \"%s\" commits, and there is no setup", arm->name),
					 errdetail("What is committed on your own tables could not be taken back."),
					 errhint("Give a setup that makes the tables, or leave out the arm's ending => 'commit'.")));
	}
}

/*
 * rtb_arguments_of_sweep
 *		sweep(scenario, points, parameters, arms, swept, check_query, options...)
 */
RtbExperiment *
rtb_arguments_of_sweep(FunctionCallInfo fcinfo)
{
	RtbExperiment *e = palloc0(sizeof(RtbExperiment));
	char	   *name = rtb_arguments_text(fcinfo, 0);
	List	   *points;
	List	   *arms;
	char	   *swept;
	char	   *check_query;

	if (name == NULL)
		rtb_arguments_refuse_null("scenario", "SELECT * FROM rtbench.scenarios; lists them.");
	e->run = palloc0(sizeof(RtbRun));
	e->scenario = rtb_scenario_load(name);
	if (e->scenario->arm_names == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("scenario \"%s\" has no arms", name),
				 errhint("Add one by rtbench.add_arm(%s, rtbench.arm(...)).", quote_literal_cstr(name))));
	points = points_arg(fcinfo, 1);
	/* what is swept first: the parameter that was swept before may be given then */
	swept = rtb_arguments_text(fcinfo, 4);
	if (swept != NULL || points != NIL)
		rtb_scenario_set_points(e->scenario, swept, points);
	if (!PG_ARGISNULL(2))
		rtb_scenario_set_parameters(e->scenario, PG_GETARG_JSONB_P(2));
	arms = texts_arg(fcinfo, 3, "arms");
	if (arms != NIL)
		rtb_scenario_choose_arms(e->scenario, arms);
	check_query = rtb_arguments_text(fcinfo, 5);
	if (check_query != NULL)
	{
		rtb_script_require_query(rtb_script_blank(check_query), "a check query", false);
		e->scenario->check_query = check_query;
	}
	read_options(fcinfo, 6, e);
	return e;
}

/*
 * rtb_arguments_of_compare
 *		compare(arms, setup, check_query, points, parameters, swept, options...)
 */
RtbExperiment *
rtb_arguments_of_compare(FunctionCallInfo fcinfo)
{
	RtbExperiment *e = palloc0(sizeof(RtbExperiment));
	List	   *documents = NIL;
	List	   *points;
	char	   *swept;
	Datum	   *elems;
	int			count;

	if (PG_ARGISNULL(0))
		rtb_arguments_refuse_null("arms", "Give an array of rtbench.arm(...).");
	rtb_arguments_elements(PG_GETARG_ARRAYTYPE_P(0), JSONBOID, "arms", &elems, &count);
	for (int i = 0; i < count; i++)
		documents = lappend(documents, DatumGetJsonbP(elems[i]));
	points = points_arg(fcinfo, 3);
	swept = rtb_arguments_text(fcinfo, 5);
	if (points != NIL && swept == NULL)
		swept = "n";
	e->run = palloc0(sizeof(RtbRun));
	e->scenario = rtb_scenario_ad_hoc(rtb_arguments_text(fcinfo, 1), rtb_arguments_text(fcinfo, 2), swept, points,
									  PG_ARGISNULL(4) ? NULL : PG_GETARG_JSONB_P(4), documents);
	read_options(fcinfo, 6, e);
	return e;
}
