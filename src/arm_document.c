/*
 * arm_document.c
 *	  An arm's jsonb document: its shape, and what its texts may say.
 *
 * The shape, stable from version to version:
 *
 *	arm		{"arm": name, "steps": [step, ...], "description": text,
 *			 "before": text, "plans": "fresh" | "kept",
 *			 "ending": "rollback" | "commit" | "autocommit"}
 *	step	{"statement": text, "types": [type name, ...], "plans": ...,
 *			 "subtransaction": "none" | "internal" | "savepoint"}
 *			{"foreach": query, "body": [step, ...], "commit_every": n}
 *			{"generated": query}
 *			each with "only_if": "$n" | {parameter: value or [value, ...], ...}
 *
 * Only "arm", "steps", and what names the kind of step are required.  An
 * unknown key is an error.  "plans" of an arm holds for its steps that do not
 * say otherwise.
 *
 * Memory: results are palloc'd in the current context.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "arm_document.h"
#include "json_access.h"
#include "script.h"
#include "step_condition.h"

typedef struct Reading
{
	const RtbTextRules *rules;
	const char *arm;			/* its name, or NULL */
	bool		plans_kept;		/* the arm's default */
	bool		savepoints;		/* some were read */
	bool		commits_in_loop;	/* a foreach has commit_every */
	int			steps;			/* read so far */
} Reading;

static const char *const arm_keys[] =
{"arm", "steps", "description", "before", "plans", "ending", NULL};
static const char *const statement_keys[] = {"statement", "types", "plans", "subtransaction", "only_if", NULL};
static const char *const foreach_keys[] = {"foreach", "body", "commit_every", "only_if", NULL};
static const char *const generated_keys[] = {"generated", "only_if", NULL};

static List *read_steps(Reading *reading, JsonbContainer *holder, const char *key, bool inside);

static void
place_callback(void *arg)
{
	RtbTextPlace *place = (RtbTextPlace *) arg;

	if (place->step > 0 && place->name != NULL)
		errcontext("%s, step %d of %s \"%s\"", place->what, place->step, place->of, place->name);
	else if (place->step > 0)
		errcontext("%s, step %d", place->what, place->step);
	else if (place->name != NULL)
		errcontext("%s of %s \"%s\"", place->what, place->of, place->name);
	else
		errcontext("%s", place->what);
}

/*
 * Until rtb_text_place_pop(), errors tell in their context which definition's
 * text they are about.  place lives in the caller's frame.
 */
void
rtb_text_place_push(RtbTextPlace *place, const char *what, int step,
					const char *of, const char *name)
{
	place->what = what;
	place->step = step;
	place->of = of;
	place->name = name;
	place->callback.callback = place_callback;
	place->callback.arg = place;
	place->callback.previous = error_context_stack;
	error_context_stack = &place->callback;
}

void
rtb_text_place_pop(RtbTextPlace *place)
{
	error_context_stack = place->callback.previous;
}

/*
 * Error unless a name can be written in an array literal as it is, so that
 * arms => '{a,b}' means what it says.  what: the kind of thing named.
 */
void
rtb_check_name(const char *name, const char *what)
{
	bool		plain = name[0] != '\0' && pg_strcasecmp(name, "null") != 0;

	if (strlen(name) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("name of %s \"%s\" is too long", what, name),
				 errhint("Names have at most %d bytes.", NAMEDATALEN - 1)));
	for (const char *c = name; *c; c++)
		if ((unsigned char) *c <= ' ' || *c == 0x7f || strchr(",{}\"'\\", *c) != NULL)
			plain = false;
	if (!plain)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid name of %s: \"%s\"", what, name),
				 errhint("A name is not empty, not null, and has no spaces, commas, braces, quotes or backslashes: "
						 "it must mean the same in an array.")));
}

/* show errors of a blanked text in the text as written: positions are the same */
static void
written_text_callback(void *arg)
{
	if (getinternalerrposition() > 0)
		internalerrquery((const char *) arg);
}

/*
 * Make a text ready to be split: parameters filled in or, where they are only
 * checked, blanked.  Throws syntax errors and refusals.
 */
char *
rtb_text_prepare(const char *text, const RtbTextRules *rules)
{
	ErrorContextCallback callback;
	char	   *ready;

	if (rules->mode == RTB_TEXT_NAMES)
		rtb_script_check_names(text, rules->known);
	if (rules->mode == RTB_TEXT_FILL)
	{
		ready = rtb_script_fill(text, rules->values);
		rtb_script_refuse(ready, rules->savepoints);
		return ready;
	}
	ready = rtb_script_blank(text);
	callback.callback = written_text_callback;
	callback.arg = unconstify(char *, text);
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	rtb_script_refuse(ready, rules->savepoints);
	error_context_stack = callback.previous;
	if (rules->mode == RTB_TEXT_ALONE)
		rtb_script_remark(ready);
	return ready;
}

/*
 * Error if a text that stands in no foreach refers to a driver's column.
 */
void
rtb_text_require_no_columns(const char *text)
{
	int			highest = rtb_script_parameter_count(text);

	if (highest > 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_PARAMETER),
				 errmsg("there is no driver row for $%d", highest),
				 errhint("$n is column n of the driver's row, in the body of rtbench.foreach(). "
						 "Parameters are written :name.")));
}

/* error for a document that is not an object, or has keys it should not have */
static void
check_keys(JsonbContainer *object, const char *what, const char *const *valid)
{
	StringInfoData list;
	ListCell   *lc;

	foreach(lc, rtb_json_keys(object))
	{
		const char *key = lfirst(lc);
		int			i = 0;

		while (valid[i] != NULL && strcmp(valid[i], key) != 0)
			i++;
		if (valid[i] != NULL)
			continue;

		initStringInfo(&list);
		for (i = 0; valid[i] != NULL; i++)
			appendStringInfo(&list, "%s\"%s\"", i > 0 ? ", " : "", valid[i]);
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized key \"%s\" in %s", key, what),
				 errhint("Valid keys are %s.", list.data)));
	}
}

static bool
get_plans_kept(JsonbContainer *object, bool otherwise)
{
	char	   *plans = rtb_json_text(object, "plans");

	if (plans == NULL)
		return otherwise;
	if (strcmp(plans, "kept") == 0)
		return true;
	if (strcmp(plans, "fresh") == 0)
		return false;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for \"plans\": \"%s\"", plans),
			 errhint("Valid values are \"fresh\" and \"kept\".")));
}

/* names of types: only their syntax is checked, for a setup may make the type */
static List *
get_types(JsonbContainer *object, int nparams)
{
	List	   *types = rtb_json_texts(object, "types");
	ListCell   *lc;

	foreach(lc, types)
		rtb_script_check_type(lfirst(lc));
	if (list_length(types) > nparams)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there are more types (%d) than parameters $n in the statement (%d)",
						list_length(types), nparams),
				 errhint("\"types\" fixes the types of $1, $2 and so on, in their order.")));
	return types;
}

static RtbSubxact
get_subtransaction(JsonbContainer *object)
{
	char	   *kind = rtb_json_text(object, "subtransaction");

	if (kind == NULL || strcmp(kind, "none") == 0)
		return RTB_SUBXACT_NONE;
	if (strcmp(kind, "internal") == 0)
		return RTB_SUBXACT_INTERNAL;
	if (strcmp(kind, "savepoint") == 0)
		return RTB_SUBXACT_SAVEPOINT;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for \"subtransaction\": \"%s\"", kind),
			 errhint("Valid values are \"none\", \"internal\" and \"savepoint\".")));
}

/*
 * After how many driver rows a transaction ends: a number, or ":name" of a
 * parameter, which has a value only when the texts are filled in.
 */
static int64
get_commit_every(Reading *reading, JsonbContainer *object)
{
	JsonbValue *value = rtb_json_value(object, "commit_every");
	char	   *text;
	int64		n;

	if (value == NULL)
		return 0;
	if (value->type == jbvString)
	{
		text = pnstrdup(value->val.string.val, value->val.string.len);
		if (reading->rules->mode == RTB_TEXT_NAMES)
			rtb_script_check_names(psprintf("SELECT %s", text), reading->rules->known);
		if (reading->rules->mode != RTB_TEXT_FILL)
		{
			(void) rtb_script_blank(psprintf("SELECT %s", text));
			if (text[0] == ':')
				return 1;
		}
		else
			text = rtb_script_fill(psprintf("SELECT %s", text), reading->rules->values) + strlen("SELECT ");
	}
	else if (value->type == jbvNumeric)
		text = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric)));
	else
		text = "";
	n = strspn(text, "0123456789") == strlen(text) && strlen(text) < 18 ? strtoll(text, NULL, 10) : 0;
	if (n < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for \"commit_every\": %s", text[0] ? text : "not a number"),
				 errhint("It is the number of driver rows after which a transaction is committed, at least 1, or a parameter, \":name\".")));
	return n;
}

/* the text of a step, made ready, and what can be told from it */
static void
read_step_text(Reading *reading, RtbStep *step, const char *text, const char *what, bool inside)
{
	RtbTextRules rules = *reading->rules;
	RtbTextPlace place;

	rules.savepoints = step->kind == RTB_STEP_STATEMENT;

	rtb_text_place_push(&place, what, step->id, "arm", reading->arm);
	step->text = rtb_text_prepare(text, &rules);
	if (rules.savepoints)
		reading->savepoints |= rtb_script_has_savepoint(step->text);
	if (step->kind == RTB_STEP_FOREACH)
		rtb_script_require_query(step->text, "a driver", true);
	else if (step->kind == RTB_STEP_GENERATED)
		rtb_script_require_query(step->text, "a generating query", false);
	step->statements = rtb_script_split(step->text);
	if (!inside)
		rtb_text_require_no_columns(step->text);
	step->nparams = rtb_script_parameter_count(step->text);
	if (step->nparams > MaxTupleAttributeNumber)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("there cannot be a column for $%d", step->nparams),
				 errdetail("A driver's row has at most %d columns.", MaxTupleAttributeNumber)));
	rtb_text_place_pop(&place);
}

/*
 * One step, NULL if it is not there for the parameters' values; inside: in the
 * body of a foreach, where $n is a driver's column.
 */
static RtbStep *
read_step(Reading *reading, JsonbContainer *object, bool inside)
{
	RtbStep    *step = palloc0(sizeof(RtbStep));
	char	   *statement;
	char	   *driver;
	char	   *generated;
	int			column;

	check_stack_depth();
	if (!JsonContainerIsObject(object) || JsonContainerIsScalar(object))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a step must be an object"),
				 errhint("Make steps by rtbench.step(), rtbench.foreach() and rtbench.generated().")));
	if (rtb_json_value(object, "arm") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an arm cannot be a step"),
				 errhint("Make steps by rtbench.step(), rtbench.foreach() and rtbench.generated().")));

	statement = rtb_json_text(object, "statement");
	driver = rtb_json_text(object, "foreach");
	generated = rtb_json_text(object, "generated");
	if ((statement != NULL) + (driver != NULL) + (generated != NULL) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a step must have one of \"statement\", \"foreach\" and \"generated\"")));

	if (!rtb_condition_read(object, reading->rules, inside, &column))
		return NULL;
	step->if_column = column;
	step->id = ++reading->steps;
	if (driver != NULL)
	{
		check_keys(object, "a foreach", foreach_keys);
		step->kind = RTB_STEP_FOREACH;
		read_step_text(reading, step, driver, "driver of a foreach", inside);
		step->commit_every = get_commit_every(reading, object);
		reading->commits_in_loop |= step->commit_every > 0;
		step->body = read_steps(reading, object, "body", true);
	}
	else if (generated != NULL)
	{
		check_keys(object, "a generated step", generated_keys);
		step->kind = RTB_STEP_GENERATED;
		read_step_text(reading, step, generated, "generating query", inside);
	}
	else
	{
		check_keys(object, "a step", statement_keys);
		step->kind = RTB_STEP_STATEMENT;
		read_step_text(reading, step, statement, "statement", inside);
		step->types = get_types(object, step->nparams);
		step->plans_kept = get_plans_kept(object, reading->plans_kept);
		step->subtransaction = get_subtransaction(object);
		reading->savepoints |= step->subtransaction == RTB_SUBXACT_SAVEPOINT;
	}
	return step;
}

/* an array of steps, which may not be empty */
static List *
read_steps(Reading *reading, JsonbContainer *holder, const char *key, bool inside)
{
	JsonbContainer *array = rtb_json_array(holder, key);
	List	   *steps = NIL;
	int			n = array == NULL ? 0 : JsonContainerSize(array);

	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 inside ? errmsg("a foreach has an empty body") : errmsg("an arm has no steps"),
				 errhint("Give at least one statement.")));
	for (int i = 0; i < n; i++)
	{
		JsonbValue *value = getIthJsonbValueFromContainer(array, i);
		RtbStep    *step;

		if (value->type != jbvBinary)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a step must be an object"),
					 errhint("Make steps by rtbench.step(), rtbench.foreach() and rtbench.generated().")));
		step = read_step(reading, value->val.binary.data, inside);
		if (step != NULL)
			steps = lappend(steps, step);
	}
	if (steps == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no step of arm \"%s\" is there for these values of the parameters", reading->arm ? reading->arm : ""),
				 errhint("rtbench.arms shows under which values each is (\"only_if\").")));
	return steps;
}

/* how an arm's pass ends */
static RtbEnding
get_ending(JsonbContainer *object)
{
	char	   *ending = rtb_json_text(object, "ending");

	if (ending == NULL || strcmp(ending, "rollback") == 0)
		return RTB_ENDING_ROLLBACK;
	if (strcmp(ending, "commit") == 0)
		return RTB_ENDING_COMMIT;
	if (strcmp(ending, "autocommit") == 0)
		return RTB_ENDING_AUTOCOMMIT;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for \"ending\": \"%s\"", ending),
			 errhint("Valid values are \"rollback\", \"commit\" and \"autocommit\".")));
}

/*
 * The name of an arm's document, checked as far as that: it is an object, and
 * an arm's.  Throws, with the way out, for what is no arm.
 */
char *
rtb_arm_name(Jsonb *document)
{
	char	   *name;

	if (!JB_ROOT_IS_OBJECT(document))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an arm must be a document, not %s",
						JB_ROOT_IS_SCALAR(document) ? "a plain value" : "an array"),
				 errhint("Make it by rtbench.arm(name, statement, ...).")));
	name = rtb_json_text(&document->root, "arm");
	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an arm's document must have a key \"arm\", its name"),
				 errhint("Make it by rtbench.arm(name, statement or step, ...).")));
	rtb_check_name(name, "arm");
	return name;
}

/*
 * Read an arm from its document, everything in it checked by the rules given.
 * With RTB_TEXT_FILL the texts are ready to run; otherwise parameters in them
 * are blanked and only the checks matter.  Throws for all that is wrong with
 * the document, in the error's context where.
 */
RtbArm *
rtb_arm_read(Jsonb *document, const RtbTextRules *rules)
{
	RtbArm	   *arm = palloc0(sizeof(RtbArm));
	Reading		reading = {rules};
	JsonbContainer *object = &document->root;
	char	   *before;

	arm->name = rtb_arm_name(document);
	check_keys(object, "an arm", arm_keys);
	arm->ending = get_ending(object);
	arm->description = rtb_json_text(object, "description");
	before = rtb_json_text(object, "before");
	if (before != NULL)
	{
		RtbTextPlace place;

		rtb_text_place_push(&place, "\"before\"", 0, "arm", arm->name);
		before = rtb_text_prepare(before, rules);
		rtb_text_require_no_columns(before);
		arm->before = rtb_script_split(before);
		rtb_text_place_pop(&place);
	}
	reading.arm = arm->name;
	reading.plans_kept = get_plans_kept(object, false);
	arm->steps = read_steps(&reading, object, "steps", false);
	arm->savepoints = reading.savepoints;
	if (reading.commits_in_loop && arm->ending != RTB_ENDING_COMMIT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"commit_every\" belongs to an arm that commits, and \"%s\" does not", arm->name),
				 errhint("Give the arm the option ending => 'commit'.")));
	if (reading.savepoints && arm->ending == RTB_ENDING_AUTOCOMMIT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("savepoints need a transaction of several statements, and in arm \"%s\" each is one of its own", arm->name),
				 errhint("Use ending => 'commit' instead of 'autocommit'.")));
	return arm;
}

/*
 * Check a step's document by itself, as one that may stand in a foreach.
 */
void
rtb_step_check(Jsonb *document)
{
	RtbTextRules rules = {RTB_TEXT_ALONE};
	Reading		reading = {&rules};

	(void) read_step(&reading, &document->root, true);
}
