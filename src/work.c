/*
 * work.c
 *	  One point of a scenario, ready to run: to JSON text, and back.
 *
 * The process that runs the work reads no table of rtbench: the caller fills
 * in the parameters, splits the texts and checks them; the text says all.
 * Both sides are the same build, so its shape is nobody else's business.
 *
 * Memory: results are palloc'd in the current context.
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/json.h"

#include "arm_document.h"
#include "json_access.h"
#include "script.h"

static Jsonb *
jsonb_from_text(const char *text)
{
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text)));
}

static void
write_key(StringInfo buf, const char *key)
{
	char		last = buf->len > 0 ? buf->data[buf->len - 1] : '{';

	if (last != '{')
		appendStringInfoChar(buf, ',');
	appendStringInfo(buf, "\"%s\":", key);
}

static void
write_text(StringInfo buf, const char *key, const char *text)
{
	if (text == NULL)
		return;
	write_key(buf, key);
	escape_json(buf, text);
}

static void
write_integer(StringInfo buf, const char *key, int64 n)
{
	write_key(buf, key);
	appendStringInfo(buf, INT64_FORMAT, n);
}

static void
write_texts(StringInfo buf, const char *key, List *texts)
{
	ListCell   *lc;

	if (texts == NIL)
		return;
	write_key(buf, key);
	appendStringInfoChar(buf, '[');
	foreach(lc, texts)
	{
		if (foreach_current_index(lc) > 0)
			appendStringInfoChar(buf, ',');
		escape_json(buf, lfirst(lc));
	}
	appendStringInfoChar(buf, ']');
}

static void
write_steps(StringInfo buf, const char *key, List *steps)
{
	ListCell   *lc;

	check_stack_depth();
	if (steps == NIL)
		return;
	write_key(buf, key);
	appendStringInfoChar(buf, '[');
	foreach(lc, steps)
	{
		RtbStep    *step = lfirst(lc);

		appendStringInfoString(buf, foreach_current_index(lc) > 0 ? ",{" : "{");
		write_integer(buf, "kind", step->kind);
		write_integer(buf, "id", step->id);
		write_text(buf, "text", step->text);
		write_text(buf, "copy", step->copy);
		write_texts(buf, "statements", step->statements);
		write_integer(buf, "nparams", step->nparams);
		write_texts(buf, "types", step->types);
		write_integer(buf, "kept", step->plans_kept);
		write_integer(buf, "subxact", step->subtransaction);
		write_integer(buf, "commit_every", step->commit_every);
		write_integer(buf, "if_column", step->if_column);
		write_steps(buf, "body", step->body);
		appendStringInfoChar(buf, '}');
	}
	appendStringInfoChar(buf, ']');
}

static void
write_arm(StringInfo buf, const RtbArm *arm)
{
	appendStringInfoChar(buf, '{');
	write_text(buf, "name", arm->name);
	write_text(buf, "description", arm->description);
	write_texts(buf, "before", arm->before);
	write_integer(buf, "ending", arm->ending);
	write_integer(buf, "savepoints", arm->savepoints);
	write_integer(buf, "copies", arm->copies);
	write_integer(buf, "protocol", arm->protocol);
	write_integer(buf, "batch", arm->batch);
	write_integer(buf, "fetch_size", arm->fetch_size);
	write_steps(buf, "steps", arm->steps);
	appendStringInfoChar(buf, '}');
}

/* the values of a point: the scenario's parameters, and the point itself */
static Jsonb *
point_values(const RtbScenario *scenario, bool has_point, int64 point)
{
	Jsonb	   *values = scenario->parameters;
	ListCell   *lc;

	if (has_point)
	{
		StringInfoData buf;

		initStringInfo(&buf);
		appendStringInfoChar(&buf, '{');
		escape_json(&buf, scenario->swept);
		appendStringInfo(&buf, ": " INT64_FORMAT "}", point);
		values = DatumGetJsonbP(DirectFunctionCall2(jsonb_concat,
													JsonbPGetDatum(values),
													JsonbPGetDatum(jsonb_from_text(buf.data))));
	}
	foreach(lc, scenario->known)
		if (rtb_json_member(&values->root, lfirst(lc)) == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_PARAMETER),
					 errmsg("parameter \"%s\" has no value", (char *) lfirst(lc)),
					 errhint("Give it one by parameters => '{\"%s\": ...}'.", (char *) lfirst(lc))));
	return values;
}

/*
 * All that a session needs to run one point, as JSON text: every parameter
 * filled in, every text split and checked.  Throws what is wrong with the
 * scenario at this point.
 */
char *
rtb_work_document(const RtbScenario *scenario, bool has_point, int64 point)
{
	RtbTextRules rules = {RTB_TEXT_FILL};
	RtbTextPlace place;
	StringInfoData buf;
	ListCell   *lc;

	if (has_point && scenario->swept == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("scenario \"%s\" has no swept parameter, and so no points", scenario->name)));
	rules.values = point_values(scenario, has_point, point);

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	if (has_point)
		write_integer(&buf, "point", point);
	if (scenario->setup != NULL)
	{
		rtb_text_place_push(&place, "setup", 0, "scenario", scenario->name);
		write_texts(&buf, "setup", rtb_script_split(rtb_text_prepare(scenario->setup, &rules)));
		rtb_text_place_pop(&place);
	}
	if (scenario->check_query != NULL)
	{
		char	   *check;

		rtb_text_place_push(&place, "check query", 0, "scenario", scenario->name);
		check = rtb_text_prepare(scenario->check_query, &rules);
		rtb_script_require_query(check, "a check query", false);
		write_text(&buf, "check", linitial(rtb_script_split(check)));
		rtb_text_place_pop(&place);
	}
	write_key(&buf, "arms");
	appendStringInfoChar(&buf, '[');
	foreach(lc, scenario->arm_documents)
	{
		if (foreach_current_index(lc) > 0)
			appendStringInfoChar(&buf, ',');
		write_arm(&buf, rtb_arm_read(lfirst(lc), &rules));
	}
	appendStringInfoString(&buf, "]}");
	return buf.data;
}

/* the i-th object of an array */
static JsonbContainer *
object_at(JsonbContainer *array, int i)
{
	JsonbValue *value = getIthJsonbValueFromContainer(array, i);

	if (value == NULL || value->type != jbvBinary)
		elog(ERROR, "malformed work document");
	return value->val.binary.data;
}

static List *
parse_steps(JsonbContainer *holder, const char *key)
{
	JsonbContainer *array = rtb_json_array(holder, key);
	List	   *steps = NIL;
	int			n = array == NULL ? 0 : JsonContainerSize(array);

	check_stack_depth();
	for (int i = 0; i < n; i++)
	{
		JsonbContainer *object = object_at(array, i);
		RtbStep    *step = palloc0(sizeof(RtbStep));

		step->kind = (RtbStepKind) rtb_json_integer(object, "kind");
		step->id = (int) rtb_json_integer(object, "id");
		step->text = rtb_json_text(object, "text");
		step->copy = rtb_json_text(object, "copy");
		step->statements = rtb_json_texts(object, "statements");
		step->nparams = (int) rtb_json_integer(object, "nparams");
		step->types = rtb_json_texts(object, "types");
		step->plans_kept = rtb_json_integer(object, "kept") != 0;
		step->subtransaction = (RtbSubxact) rtb_json_integer(object, "subxact");
		step->commit_every = rtb_json_integer(object, "commit_every");
		step->if_column = (int) rtb_json_integer(object, "if_column");
		step->body = parse_steps(object, "body");
		steps = lappend(steps, step);
	}
	return steps;
}

/*
 * Read what rtb_work_document() wrote.  Reads no catalog and needs no
 * transaction; everything is palloc'd in the current context.
 */
RtbWork *
rtb_work_parse(const char *document)
{
	RtbWork    *work = palloc0(sizeof(RtbWork));
	JsonbContainer *object = &jsonb_from_text(document)->root;
	JsonbContainer *arms;

	work->has_point = rtb_json_value(object, "point") != NULL;
	work->point = rtb_json_integer(object, "point");
	work->setup = rtb_json_texts(object, "setup");
	work->check_query = rtb_json_text(object, "check");
	arms = rtb_json_array(object, "arms");
	for (int i = 0; arms != NULL && i < JsonContainerSize(arms); i++)
	{
		JsonbContainer *arm_object = object_at(arms, i);
		RtbArm	   *arm = palloc0(sizeof(RtbArm));

		arm->name = rtb_json_text(arm_object, "name");
		arm->description = rtb_json_text(arm_object, "description");
		arm->before = rtb_json_texts(arm_object, "before");
		arm->ending = (RtbEnding) rtb_json_integer(arm_object, "ending");
		arm->copies = rtb_json_integer(arm_object, "copies") != 0;
		arm->protocol = (RtbProtocol) rtb_json_integer(arm_object, "protocol");
		arm->batch = (int) rtb_json_integer(arm_object, "batch");
		arm->fetch_size = (int) rtb_json_integer(arm_object, "fetch_size");
		arm->savepoints = rtb_json_integer(arm_object, "savepoints") != 0;
		arm->steps = parse_steps(arm_object, "steps");
		work->arms = lappend(work->arms, arm);
	}
	return work;
}

/*
 * Does any of its arms commit?
 */
bool
rtb_work_commits(const RtbWork *work)
{
	ListCell   *lc;

	foreach(lc, work->arms)
	{
		if (((RtbArm *) lfirst(lc))->ending != RTB_ENDING_ROLLBACK)
			return true;
	}
	return false;
}

static int
count_steps(List *steps)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, steps)
		n += 1 + count_steps(((RtbStep *) lfirst(lc))->body);
	return n;
}

/*
 * Number of steps in an arm, those in bodies included.
 */
int
rtb_arm_step_count(const RtbArm *arm)
{
	return count_steps(arm->steps);
}

static RtbStep *
find_step(List *steps, int id)
{
	ListCell   *lc;

	foreach(lc, steps)
	{
		RtbStep    *step = lfirst(lc);
		RtbStep    *found = step->id == id ? step : find_step(step->body, id);

		if (found != NULL)
			return found;
	}
	return NULL;
}

/*
 * The step of an id; NULL if the arm has none.
 */
RtbStep *
rtb_arm_step(const RtbArm *arm, int id)
{
	return find_step(arm->steps, id);
}
