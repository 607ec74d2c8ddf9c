/*
 * step_document.c
 *	  The steps of an arm's jsonb document, read and checked.
 *
 * Their shape stands in arm_document.c.
 *
 * Memory: results are palloc'd in the current context.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "json_access.h"
#include "script.h"
#include "step_condition.h"
#include "step_document.h"

static const char *const statement_keys[] = {"statement", "types", "plans", "subtransaction", "only_if", NULL};
static const char *const foreach_keys[] = {"foreach", "body", "commit_every", "only_if", NULL};
static const char *const generated_keys[] = {"generated", "only_if", NULL};
static const char *const copy_keys[] = {"rows", "copy", "only_if", NULL};

/*
 * Does "plans" say that they are kept?
 */
bool
rtb_plans_kept_read(JsonbContainer *object, bool otherwise)
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
get_commit_every(RtbStepReading *reading, JsonbContainer *object)
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
read_step_text(RtbStepReading *reading, RtbStep *step, const char *text, const char *what, bool inside)
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
	else if (step->kind == RTB_STEP_COPY)
		rtb_script_require_query(step->text, "a query of rows to copy", true);
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

/* where the rows of a query are copied to */
static void
read_copy(RtbStepReading *reading, RtbStep *step, JsonbContainer *object)
{
	char	   *copy = rtb_json_text(object, "copy");
	RtbTextRules rules = *reading->rules;
	RtbTextPlace place;

	if (copy == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a step with \"rows\" must have \"copy\", the statement that gets them")));
	rtb_text_place_push(&place, "copy", step->id, "arm", reading->arm);
	rules.copy = true;
	step->copy = rtb_text_prepare(copy, &rules);
	rtb_text_require_no_columns(step->copy);
	reading->copies = true;
	rtb_text_place_pop(&place);
}

/*
 * One step, NULL if it is not there for the parameters' values; inside: in the
 * body of a foreach, where $n is a driver's column.
 */
static RtbStep *
read_step(RtbStepReading *reading, JsonbContainer *object, bool inside)
{
	RtbStep    *step = palloc0(sizeof(RtbStep));
	char	   *statement;
	char	   *driver;
	char	   *generated;
	char	   *rows;
	int			column;

	check_stack_depth();
	if (!JsonContainerIsObject(object) || JsonContainerIsScalar(object))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a step must be an object"),
				 errhint("Make steps by rtbench.step(), rtbench.foreach(), rtbench.generated() and rtbench.copy_rows().")));
	if (rtb_json_value(object, "arm") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an arm cannot be a step"),
				 errhint("Make steps by rtbench.step(), rtbench.foreach(), rtbench.generated() and rtbench.copy_rows().")));

	statement = rtb_json_text(object, "statement");
	driver = rtb_json_text(object, "foreach");
	generated = rtb_json_text(object, "generated");
	rows = rtb_json_text(object, "rows");
	if ((statement != NULL) + (driver != NULL) + (generated != NULL) + (rows != NULL) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a step must have one of \"statement\", \"foreach\", \"generated\" and \"rows\"")));

	if (!rtb_condition_read(object, reading->rules, inside, &column))
		return NULL;
	step->if_column = column;
	step->id = ++reading->steps;
	if (driver != NULL)
	{
		rtb_json_check_keys(object, "a foreach", foreach_keys);
		step->kind = RTB_STEP_FOREACH;
		read_step_text(reading, step, driver, "driver of a foreach", inside);
		step->commit_every = get_commit_every(reading, object);
		reading->commits_in_loop |= step->commit_every > 0;
		step->body = rtb_steps_read(reading, object, "body", true);
	}
	else if (generated != NULL)
	{
		rtb_json_check_keys(object, "a generated step", generated_keys);
		step->kind = RTB_STEP_GENERATED;
		read_step_text(reading, step, generated, "generating query", inside);
	}
	else if (rows != NULL)
	{
		rtb_json_check_keys(object, "a step of rows to copy", copy_keys);
		step->kind = RTB_STEP_COPY;
		read_step_text(reading, step, rows, "query of rows to copy", inside);
		read_copy(reading, step, object);
	}
	else
	{
		rtb_json_check_keys(object, "a step", statement_keys);
		step->kind = RTB_STEP_STATEMENT;
		read_step_text(reading, step, statement, "statement", inside);
		step->types = get_types(object, step->nparams);
		step->plans_kept = rtb_plans_kept_read(object, reading->plans_kept);
		step->subtransaction = get_subtransaction(object);
		reading->savepoints |= step->subtransaction == RTB_SUBXACT_SAVEPOINT;
	}
	return step;
}

/*
 * An array of steps, which may not be empty: list of RtbStep *.  Throws for all
 * that is wrong with them.
 */
List *
rtb_steps_read(RtbStepReading *reading, JsonbContainer *holder, const char *key, bool inside)
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
					 errhint("Make steps by rtbench.step(), rtbench.foreach(), rtbench.generated() and rtbench.copy_rows().")));
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

/*
 * Check a step's document by itself, as one that may stand in a foreach.
 */
void
rtb_step_check(Jsonb *document)
{
	RtbTextRules rules = {RTB_TEXT_ALONE};
	RtbStepReading reading = {&rules};

	(void) read_step(&reading, &document->root, true);
}
