/*
 * step_condition.c
 *	  Steps that run only under a condition: the key "only_if" of a step.
 *
 * "$2" is a column of the driver's row, a boolean that is looked at for each
 * row, as a client's if is.  An object, {"work": "insert"} or {"work": ["insert",
 * "update"]}, compares a parameter's value: the step is there for these values
 * and is left out of the arm for others, so that one scenario can offer several
 * kinds of work without a statement around the statement that is measured.  Both
 * together are an object with a key for the column: {"work": "mixed", "$2": true}.
 *
 * Memory: results are palloc'd in the current context.
 */
#include "postgres.h"

#include "step_condition.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"

#include "json_access.h"
#include "script.h"

static void
refuse(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"only_if\" is neither a driver's column nor parameters with their values"),
			 errhint("Write \"$2\" for a boolean column of the driver's row, or an object such as {\"work\": \"insert\"} or {\"work\": [\"insert\", \"update\"]}.")));
}

/* "$n" */
static int
read_column(const char *text, bool inside)
{
	int			n = 0;

	if (text[0] != '$' || strspn(text + 1, "0123456789") != strlen(text + 1) ||
		strlen(text) < 2 || strlen(text) > 5 || (n = atoi(text + 1)) < 1)
		refuse();
	if (!inside)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_PARAMETER),
				 errmsg("there is no driver row for $%d", n),
				 errhint("$n is column n of the driver's row, in the body of rtbench.foreach().")));
	return n;
}

/* a scalar as text; NULL for null, arrays and objects */
static char *
scalar_text(const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvString:
			return pnstrdup(value->val.string.val, value->val.string.len);
		case jbvNumeric:
			return DatumGetCString(DirectFunctionCall1(numeric_out,
													   NumericGetDatum(value->val.numeric)));
		case jbvBool:
			return pstrdup(value->val.boolean ? "true" : "false");
		default:
			return NULL;
	}
}

static bool
is_value(const JsonbValue *wanted, const char *actual)
{
	char	   *text = scalar_text(wanted);

	if (text == NULL)
		refuse();
	return actual != NULL && strcmp(text, actual) == 0;
}

/* does a parameter have one of the values wanted? */
static bool
holds(const char *name, const JsonbValue *wanted, const RtbTextRules *rules)
{
	char	   *actual = NULL;
	bool		found = false;

	if (wanted == NULL)
		refuse();				/* null */
	if (rules->mode == RTB_TEXT_NAMES)
		rtb_script_check_names(psprintf("SELECT :'%s'", name), rules->known);
	if (rules->mode == RTB_TEXT_FILL)
	{
		JsonbValue *value = rtb_json_member(&rules->values->root, name);

		if (value != NULL)
			actual = scalar_text(value);
	}
	if (wanted->type != jbvBinary)
		return is_value(wanted, actual);
	if (!JsonContainerIsArray(wanted->val.binary.data) || JsonContainerSize(wanted->val.binary.data) == 0)
		refuse();
	for (int i = 0; i < JsonContainerSize(wanted->val.binary.data); i++)
		found |= is_value(getIthJsonbValueFromContainer(wanted->val.binary.data, i), actual);
	return found;
}

/*
 * rtb_condition_read
 *		Should a step be there?  Always where parameters have no values yet.
 *		*column is the driver's column that decides row by row, 0 if none does.
 *
 * Throws what is wrong with the condition.
 */
bool
rtb_condition_read(JsonbContainer *step, const RtbTextRules *rules, bool inside, int *column)
{
	JsonbValue *condition = rtb_json_value(step, "only_if");
	bool		all = true;
	ListCell   *lc;

	*column = 0;
	if (condition == NULL)
		return true;
	if (condition->type == jbvString)
	{
		*column = read_column(pnstrdup(condition->val.string.val, condition->val.string.len), inside);
		return true;
	}
	if (condition->type != jbvBinary || !JsonContainerIsObject(condition->val.binary.data) ||
		JsonContainerSize(condition->val.binary.data) == 0)
		refuse();
	foreach(lc, rtb_json_keys(condition->val.binary.data))
	{
		const char *name = lfirst(lc);

		if (name[0] == '$')
		{
			JsonbValue *value = rtb_json_value(condition->val.binary.data, name);

			if (value == NULL || value->type != jbvBool || !value->val.boolean)
				refuse();
			*column = read_column(name, inside);
			continue;
		}
		rtb_script_check_parameter_name(name);
		all &= holds(name, rtb_json_value(condition->val.binary.data, name), rules);
	}
	return all || rules->mode != RTB_TEXT_FILL;
}
