/*
 * definition_text.c
 *	  The texts of a definition: names, places for errors, parameters.
 *
 * Memory: results are palloc'd in the current context.
 */
#include "postgres.h"

#include "definition_text.h"

#include "script.h"

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

static void
check_statements(const char *ready, const RtbTextRules *rules)
{
	if (rules->copy)
		rtb_script_require_copy(ready);
	else
		rtb_script_refuse(ready, rules->savepoints);
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
		check_statements(ready, rules);
		return ready;
	}
	ready = rtb_script_blank(text);
	callback.callback = written_text_callback;
	callback.arg = unconstify(char *, text);
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	check_statements(ready, rules);
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
