/*
 * fill.c
 *	  Parameters in SQL text: :name, :'name' and :"name", as in psql.
 *
 * Told apart by the core scanner, so never in strings, comments, casts or :=.
 * The name is what directly follows the colon, case as written.  Stricter than
 * psql in two ways, so that a value can never change how a text is read: a
 * parameter is a word of its own (t_:n is an error), and a raw :name takes
 * only a number, a boolean, null, or a text that is a number or a plain name.
 *
 * The bodies of DO and CREATE FUNCTION are strings, but of SQL: there the known
 * names are filled in, and others left alone (a body may slice arrays).  The
 * body is then quoted anew, so that a value cannot end it.
 *
 * Memory: results are palloc'd in the current context.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "json_access.h"
#include "script.h"

/* one :name in a text */
typedef struct Reference
{
	char		style;			/* 0 raw, '\'' a literal, '"' an identifier */
	int			start;			/* of the colon */
	int			end;
	char	   *name;
} Reference;

/* so many raw names of a text are tried as names and as numbers */
#define MAX_GUESSED 8

static char *fill(const char *text, Jsonb *parameters, bool in_body);

/* psql's characters of a variable's name; a digit doesn't begin one */
static bool
name_char(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9') || c == '_' || IS_HIGHBIT_SET(c);
}

static bool
name_start(unsigned char c)
{
	return name_char(c) && !(c >= '0' && c <= '9');
}

/*
 * Error unless a name can be written as a parameter's.
 */
void
rtb_script_check_parameter_name(const char *name)
{
	const char *c = name;

	if (name_start(*c))
		while (name_char(*c))
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
	return name_char(c) || c == '$' || c == '\'' || c == '"';
}

/* what stands behind a colon, if it is a parameter: false if not */
static bool
read_reference(const char *text, const RtbToken *colon, Reference *ref)
{
	const char *at = text + colon->end;
	const char *name;

	ref->style = (*at == '\'' || *at == '"') ? *at++ : 0;
	ref->start = colon->start;
	name = at;
	if (!name_start(*at))
		return false;
	while (name_char(*at))
		at++;
	ref->name = pnstrdup(name, at - name);
	if (ref->style != 0 && *at++ != ref->style)
		return false;
	ref->end = at - text;
	return true;
}

/* a parameter is a word of its own */
static void
check_reference_alone(const char *text, const Reference *ref, const RtbToken *next)
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

static void
unknown_parameter(const char *text, const Reference *ref, List *known)
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
		Reference	ref;

		if (tokens[t].code == ':' && read_reference(text, &tokens[t], &ref) &&
			!is_known(known, ref.name))
			unknown_parameter(text, &ref, known);
	}
}

/* all parameters of a text: list of Reference * */
static List *
find_references(const char *text)
{
	List	   *refs = NIL;
	int			ntokens;
	RtbToken   *tokens = rtb_script_tokens(text, &ntokens);

	for (int t = 0; t + 1 < ntokens; t++)
	{
		Reference	ref;

		if (tokens[t].code != ':' || !read_reference(text, &tokens[t], &ref))
			continue;
		check_reference_alone(text, &ref, &tokens[t + 1]);
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
		Reference  *ref = lfirst(lc);
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
		Reference  *ref = lfirst(lc);

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

/* does it read as one number, as the scanner has numbers? */
static bool
is_number(const char *s)
{
	if (*s == '-' || *s == '+')
		s++;
	if (!isdigit((unsigned char) *s))
		return false;
	while (isdigit((unsigned char) *s))
		s++;
	if (*s == '.')
	{
		s++;
		if (!isdigit((unsigned char) *s))
			return false;
		while (isdigit((unsigned char) *s))
			s++;
	}
	if (*s == 'e' || *s == 'E')
	{
		s++;
		if (*s == '-' || *s == '+')
			s++;
		if (!isdigit((unsigned char) *s))
			return false;
		while (isdigit((unsigned char) *s))
			s++;
	}
	return *s == '\0';
}

/* does it read as one name, possibly qualified, that needs no quotes? */
static bool
is_plain_name(const char *s)
{
	do
	{
		if (!name_start(*s))
			return false;
		while (name_char(*s))
			s++;
	} while (*s++ == '.');
	return s[-1] == '\0';
}

/* the text form of a scalar; NULL for null */
static char *
scalar_text(const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvNull:
			return NULL;
		case jbvBool:
			return value->val.boolean ? "true" : "false";
		case jbvNumeric:
			return DatumGetCString(DirectFunctionCall1(numeric_out,
													   NumericGetDatum(value->val.numeric)));
		case jbvString:
			return pnstrdup(value->val.string.val, value->val.string.len);
		default:
			return NULL;
	}
}

/* always in quotes, so that no value is taken for a key word */
static char *
quoted_name(const char *name)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '"');
	for (; *name; name++)
	{
		if (*name == '"')
			appendStringInfoChar(&buf, '"');
		appendStringInfoChar(&buf, *name);
	}
	appendStringInfoChar(&buf, '"');
	return buf.data;
}

/* what a value becomes in the text; refuses what would not be one token */
static char *
value_text(const char *text, const Reference *ref, const JsonbValue *value)
{
	char	   *s;

	if (value->type == jbvBinary)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("parameter \"%s\" is an object or array", ref->name),
				 errhint("Values are numbers, strings, booleans and null.")));

	s = scalar_text(value);
	if (ref->style == '\'')
		return s == NULL ? "NULL" : quote_literal_cstr(s);
	if (ref->style == '"')
	{
		if (s == NULL || s[0] == '\0')
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("parameter \"%s\" is %s and cannot be a name", ref->name,
							s == NULL ? "null" : "empty"),
					 rtb_script_errposition(text, ref->start)));
		return quoted_name(s);
	}
	if (value->type == jbvString && !is_number(s) && !is_plain_name(s))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the value of parameter \"%s\" cannot stand in SQL as it is", ref->name),
				 errdetail("It is \"%s\"; raw values are numbers, booleans, null, and plain names.", s),
				 errhint("Write :'%s' for a string, :\"%s\" for a name in quotes.",
						 ref->name, ref->name),
				 rtb_script_errposition(text, ref->start)));
	return s == NULL ? "null" : s;
}

/*
 * Append a value.  A sign or quote must not join an operator before it: with
 * -5 for n, "a -:n" would begin a comment.
 */
static void
append_value(StringInfo buf, const char *value)
{
	if (buf->len > 0 && strchr("+-*/<>=~!@#%^&|`?", buf->data[buf->len - 1]) != NULL &&
		!name_char(value[0]))
		appendStringInfoChar(buf, ' ');
	appendStringInfoString(buf, value);
}

/* the options of a statement that has a body in a language that is read here */
static List *
body_options(Node *stmt)
{
	List	   *options = NIL;
	const char *language = NULL;
	ListCell   *lc;

	if (IsA(stmt, DoStmt))
	{
		options = ((DoStmt *) stmt)->args;
		language = "plpgsql";
	}
	else if (IsA(stmt, CreateFunctionStmt))
		options = ((CreateFunctionStmt *) stmt)->options;

	foreach(lc, options)
	{
		DefElem    *option = lfirst_node(DefElem, lc);

		if (strcmp(option->defname, "language") == 0)
			language = strVal(option->arg);
	}
	if (language == NULL || (strcmp(language, "plpgsql") != 0 && strcmp(language, "sql") != 0))
		return NIL;
	return options;
}

/* mark the tokens that are bodies of DO and CREATE FUNCTION / PROCEDURE */
static bool *
find_bodies(const char *text, const RtbToken *tokens, int ntokens)
{
	bool	   *is_body = palloc0(ntokens * sizeof(bool));
	ListCell   *lc;

	foreach(lc, rtb_script_parse(rtb_script_blank(text)))
	{
		ListCell   *lc2;

		foreach(lc2, body_options(lfirst_node(RawStmt, lc)->stmt))
		{
			DefElem    *option = lfirst_node(DefElem, lc2);
			int			t = 0;

			if (strcmp(option->defname, "as") != 0)
				continue;
			/* its location is that of the string, or of AS before it */
			while (t < ntokens && tokens[t].start < option->location)
				t++;
			if (t < ntokens && tokens[t].code != RTB_TOKEN_SCONST)
				t++;
			if (t < ntokens && tokens[t].code == RTB_TOKEN_SCONST)
				is_body[t] = true;
		}
	}
	return is_body;
}

/* would this body, between these dollar quotes, end where it should? */
static bool
dollar_quotes_hold(const char *body, const char *quote)
{
	char	   *rest = psprintf("%s%s", body, quote);

	return strstr(rest, quote) == rest + strlen(body);
}

/* append a filled-in body in the kind of quotes that the text had */
static void
append_body(StringInfo buf, const char *text, const RtbToken *token, const char *body)
{
	const char *open = text + token->start;
	char	   *quote;
	int			n = 0;

	if (*open != '$')
	{
		appendStringInfoString(buf, quote_literal_cstr(body));
		return;
	}
	quote = pnstrdup(open, strchr(open + 1, '$') + 1 - open);
	while (!dollar_quotes_hold(body, quote))
		quote = psprintf("$body%d$", ++n);
	appendStringInfo(buf, "%s%s%s", quote, body, quote);
}

/* fill in one text, or the body of one */
static char *
fill(const char *text, Jsonb *parameters, bool in_body)
{
	StringInfoData buf;
	RtbToken   *tokens;
	bool	   *is_body = NULL;
	int			ntokens;
	int			copied = 0;

	if (strchr(text, ':') == NULL)
		return pstrdup(text);

	tokens = rtb_script_tokens(text, &ntokens);
	if (!in_body)
		is_body = find_bodies(text, tokens, ntokens);
	initStringInfo(&buf);
	for (int t = 0; t < ntokens; t++)
	{
		Reference	ref;
		JsonbValue *value = NULL;

		if (!in_body && is_body[t])
		{
			appendBinaryStringInfo(&buf, text + copied, tokens[t].start - copied);
			append_body(&buf, text, &tokens[t], fill(tokens[t].str, parameters, true));
			copied = tokens[t].end;
			continue;
		}
		if (tokens[t].code != ':' || t + 1 == ntokens ||
			!read_reference(text, &tokens[t], &ref))
			continue;
		if (parameters != NULL)
			value = rtb_json_member(&parameters->root, ref.name);
		if (value == NULL)
		{
			if (in_body)
				continue;
			unknown_parameter(text, &ref,
							  parameters == NULL ? NIL : rtb_json_keys(&parameters->root));
		}
		check_reference_alone(text, &ref, &tokens[t + 1]);
		appendBinaryStringInfo(&buf, text + copied, ref.start - copied);
		append_value(&buf, value_text(text, &ref, value));
		copied = ref.end;
	}
	appendStringInfoString(&buf, text + copied);
	return buf.data;
}

/*
 * The text with every parameter replaced by its value: parameters is a jsonb
 * object, or NULL for none.  The result is palloc'd in the current memory
 * context.  Throws syntax errors, and for names unknown or values refused.
 */
char *
rtb_script_fill(const char *text, Jsonb *parameters)
{
	return fill(text, parameters, false);
}
