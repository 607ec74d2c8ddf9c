/*
 * fill.c
 *	  Parameters in SQL text replaced by their values.
 *
 * A value can never change how a text is read: a raw :name takes only a
 * number, a boolean, null, or a text that is a number or a plain name; the
 * other two are quoted.
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
#include "reference.h"

static char *fill(const char *text, Jsonb *parameters, bool in_body);

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
		if (!rtb_name_start(*s))
			return false;
		while (rtb_name_char(*s))
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
value_text(const char *text, const RtbReference *ref, const JsonbValue *value)
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
		!rtb_name_char(value[0]))
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
		RtbReference	ref;
		JsonbValue *value = NULL;

		if (!in_body && is_body[t])
		{
			appendBinaryStringInfo(&buf, text + copied, tokens[t].start - copied);
			append_body(&buf, text, &tokens[t], fill(tokens[t].str, parameters, true));
			copied = tokens[t].end;
			continue;
		}
		if (tokens[t].code != ':' || t + 1 == ntokens ||
			!rtb_reference_read(text, &tokens[t], &ref))
			continue;
		if (parameters != NULL)
			value = rtb_json_member(&parameters->root, ref.name);
		if (value == NULL)
		{
			if (in_body)
				continue;
			rtb_reference_unknown(text, &ref,
							  parameters == NULL ? NIL : rtb_json_keys(&parameters->root));
		}
		rtb_reference_check_alone(text, &ref, &tokens[t + 1]);
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
