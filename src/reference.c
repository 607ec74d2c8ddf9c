/*
 * reference.c
 *	  Parameters in SQL text, found: :name, :'name' and :"name", as in psql.
 *
 * Told apart by the core scanner, so never in strings, comments, casts or :=.
 * The name is what directly follows the colon, case as written.  Stricter than
 * psql in one way: a parameter is a word of its own (t_:n is an error), so that
 * its value cannot join its neighbours.
 *
 * Memory: results are palloc'd in the current context.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "reference.h"

/* so many raw names of a text are tried as names and as numbers */
#define MAX_GUESSED 8

/*
 * psql's characters of a variable's name.
 */
bool
rtb_name_char(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9') || c == '_' || IS_HIGHBIT_SET(c);
}

/*
 * The same, but for digits: may a name begin with it?
 */
bool
rtb_name_start(unsigned char c)
{
	return rtb_name_char(c) && !(c >= '0' && c <= '9');
}

/*
 * Error unless a name can be written as a parameter's.
 */
void
rtb_script_check_parameter_name(const char *name)
{
	const char *c = name;

	if (rtb_name_start(*c))
		while (rtb_name_char(*c))
			c++;
	if (c == name || *c != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid name of parameter: \"%s\"", name),
				 errhint("A parameter's name has letters, digits and underscores, and does not begin with a digit.")));
}

/* would a word or string go on across this neighbour? */
static bool
joins(unsigned char c)
{
	return rtb_name_char(c) || c == '$' || c == '\'' || c == '"';
}

/*
 * What stands behind a colon, if it is a parameter; false if it is none.  The
 * name is palloc'd in the current context.
 */
bool
rtb_reference_read(const char *text, const RtbToken *colon, RtbReference *ref)
{
	const char *at = text + colon->end;
	const char *name;

	ref->style = (*at == '\'' || *at == '"') ? *at++ : 0;
	ref->start = colon->start;
	name = at;
	if (!rtb_name_start(*at))
		return false;
	while (rtb_name_char(*at))
		at++;
	ref->name = pnstrdup(name, at - name);
	if (ref->style != 0 && *at++ != ref->style)
		return false;
	ref->end = at - text;
	return true;
}

/*
 * Error unless a parameter is a word of its own: next is the token that begins
 * behind its colon.
 */
void
rtb_reference_check_alone(const char *text, const RtbReference *ref, const RtbToken *next)
{
	if (next->start == ref->start + 1 && next->end == ref->end &&
		!joins(text[ref->end]) &&
		!(ref->start > 0 && joins(text[ref->start - 1])))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("parameter \"%s\" runs into what stands beside it", ref->name),
			 errhint("A parameter stands for a whole word, number or string. "
					 "In an array slice put a space behind the colon, or before it for a parameter."),
			 rtb_script_errposition(text, ref->start)));
}

static bool
is_known(List *known, const char *name)
{
	ListCell   *lc;

	foreach(lc, known)
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	return false;
}

/*
 * Inside ereport(): a hint that lists the known names (list of char *).
 */
int
rtb_script_hint_known(List *known)
{
	StringInfoData names;
	ListCell   *lc;

	if (known == NIL)
		return errhint("There are no parameters here.");
	initStringInfo(&names);
	foreach(lc, known)
		appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", (char *) lfirst(lc));
	return errhint("Known parameters: %s.", names.data);
}

/*
 * Error for a parameter that is not among the known names.
 */
void
rtb_reference_unknown(const char *text, const RtbReference *ref, List *known)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_PARAMETER),
			 errmsg("parameter \"%s\" does not exist", ref->name),
			 rtb_script_hint_known(known),
			 rtb_script_errposition(text, ref->start)));
}

/*
 * Error if the text refers to a parameter whose name is not in the list of
 * char * given.  Bodies of DO and CREATE FUNCTION are not looked into: what is
 * unknown there may be theirs.
 */
void
rtb_script_check_names(const char *text, List *known)
{
	int			ntokens;
	RtbToken   *tokens = rtb_script_tokens(text, &ntokens);

	for (int t = 0; t + 1 < ntokens; t++)
	{
		RtbReference	ref;

		if (tokens[t].code == ':' && rtb_reference_read(text, &tokens[t], &ref) &&
			!is_known(known, ref.name))
			rtb_reference_unknown(text, &ref, known);
	}
}

/* all parameters of a text: list of RtbReference * */
static List *
find_references(const char *text)
{
	List	   *refs = NIL;
	int			ntokens;
	RtbToken   *tokens = rtb_script_tokens(text, &ntokens);

	for (int t = 0; t + 1 < ntokens; t++)
	{
		RtbReference	ref;

		if (tokens[t].code != ':' || !rtb_reference_read(text, &tokens[t], &ref))
			continue;
		rtb_reference_check_alone(text, &ref, &tokens[t + 1]);
		refs = lappend(refs, memcpy(palloc(sizeof(ref)), &ref, sizeof(ref)));
	}
	return refs;
}

/* blank the parameters of a text: the n-th raw name is a number if bit n is set */
static char *
blank_as(const char *text, List *refs, List *raw_names, uint32 numbers)
{
	char	   *blanked = pstrdup(text);
	ListCell   *lc;

	foreach(lc, refs)
	{
		RtbReference  *ref = lfirst(lc);
		int			n = 0;

		blanked[ref->start] = ' ';
		if (ref->style != 0)
			continue;
		while (strcmp(list_nth(raw_names, n), ref->name) != 0)
			n++;
		if (n < MAX_GUESSED && (numbers & ((uint32) 1 << n)) != 0)
		{
			memset(blanked + ref->start, ' ', ref->end - ref->start);
			blanked[ref->start] = '1';
		}
	}
	return blanked;
}

/*
 * A copy of the text, of the same length, that has no parameters: it parses as
 * SQL, and every position in it is the position in the text.  A raw :name
 * becomes a name or a number, whichever makes the text parse (LIMIT takes
 * either, varchar(:n) and FROM :t don't).  If nothing does, the text with
 * names is returned: whoever parses it will find the error.
 */
char *
rtb_script_blank(const char *text)
{
	List	   *refs = NIL;
	List	   *raw_names = NIL;
	uint32		combinations;
	ListCell   *lc;

	if (strchr(text, ':') != NULL)
		refs = find_references(text);
	foreach(lc, refs)
	{
		RtbReference  *ref = lfirst(lc);

		if (ref->style == 0 && !is_known(raw_names, ref->name))
			raw_names = lappend(raw_names, ref->name);
	}
	if (raw_names != NIL)
	{
		combinations = (uint32) 1 << Min(list_length(raw_names), MAX_GUESSED);
		for (uint32 numbers = 0; numbers < combinations; numbers++)
		{
			char	   *blanked = blank_as(text, refs, raw_names, numbers);

			CHECK_FOR_INTERRUPTS();
			if (rtb_script_parses(blanked))
				return blanked;
			pfree(blanked);
		}
	}
	return blank_as(text, refs, raw_names, 0);
}
