/*
 * own_qualify.c
 *	  rtbench's own statements, made independent of the search_path of wherever
 *	  they run.
 *
 * At a far end they run in the arms' transactions and with the arms' path, in
 * which an operator or a type may stand that somebody else has made: it would
 * run with the rights of whoever measures, and decide what is seen.  Here each
 * operator becomes OPERATOR(pg_catalog.=) and each type pg_catalog.oid.  The
 * texts themselves name pg_catalog before functions and tables, do without the
 * words that stand for an operator and cannot be qualified, and have parentheses
 * where one operator should bind closer than another: written so, all bind alike.
 *
 * Memory: results in the current context, nothing else stays.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/memutils.h"

#include "own_sql.h"
#include "script.h"

/* each of these looks for an operator by its bare name */
static const char *const unqualifiable[] = {
	"in", "like", "ilike", "similar", "between", "distinct", "using", "nullif", "overlaps"
};

/* types that are keywords, but have no syntax of their own */
static const char *const keyword_types[] = {"text", "name"};

static bool
is_one_of(const char *const *words, int n, const char *word)
{
	for (int i = 0; i < n; i++)
	{
		if (pg_strcasecmp(words[i], word) == 0)
			return true;
	}
	return false;
}

/* a token as it stands in the text; "" before the first and after the last */
static char *
token_text(const char *sql, const RtbToken *tokens, int n, int i)
{
	return i < 0 || i >= n ? "" : pnstrdup(sql + tokens[i].start, tokens[i].end - tokens[i].start);
}

static bool
is_operator(const RtbToken *token, const char *text, const char *before)
{
	if (token->code == RTB_TOKEN_IDENT || token->code == RTB_TOKEN_SCONST || token->code == RTB_TOKEN_PARAM)
		return false;
	if (text[strspn(text, "+-*/<>=~!@#%^&|`?")] != '\0' || strcmp(text, "=>") == 0)
		return false;
	/* count(*), and a number's sign */
	return before[0] != '(' && before[0] != ',' && pg_strcasecmp(before, "select") != 0;
}

static bool
is_bare_type(const RtbToken *token, const char *text, const char *before, const char *after)
{
	return strcmp(before, "::") == 0 && strcmp(after, ".") != 0 &&
		(token->code == RTB_TOKEN_IDENT || is_one_of(keyword_types, lengthof(keyword_types), text));
}

static void
qualify(StringInfo buf, const char *sql, const RtbToken *tokens, int n)
{
	int			done = 0;

	for (int i = 0; i < n; i++)
	{
		const RtbToken *token = &tokens[i];
		const char *text = token_text(sql, tokens, n, i);
		const char *before = token_text(sql, tokens, n, i - 1);
		const char *after = token_text(sql, tokens, n, i + 1);

		if (token->code != RTB_TOKEN_IDENT && token->code != RTB_TOKEN_SCONST &&
			(is_one_of(unqualifiable, lengthof(unqualifiable), text) ||
			 (pg_strcasecmp(text, "case") == 0 && pg_strcasecmp(after, "when") != 0)))
			elog(ERROR, "\"%s\" in a statement of rtbench's own cannot be qualified: %s", text, sql);
		appendBinaryStringInfo(buf, sql + done, token->start - done);
		if (is_operator(token, text, before))
			appendStringInfo(buf, "OPERATOR(pg_catalog.%s)", text);
		else if (is_bare_type(token, text, before, after))
			appendStringInfo(buf, "pg_catalog.%s", text);
		else
			appendStringInfoString(buf, text);
		done = token->end;
	}
	appendStringInfoString(buf, sql + done);
}

/*
 * rtb_own_qualified
 *		A statement of rtbench's own with its operators and types qualified; what
 *		is no SELECT stays as it is.  A copy in the current memory context.
 *		Throws XX000 for a text that cannot be qualified.
 */
char *
rtb_own_qualified(const char *sql)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext scratch;
	StringInfoData buf;
	RtbToken   *tokens;
	char	   *qualified;
	int			n;

	if (pg_strncasecmp(sql, "SELECT", 6) != 0)
		return pstrdup(sql);
	scratch = AllocSetContextCreate(old, "rtbench own statement", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(scratch);
	tokens = rtb_script_tokens(sql, &n);
	initStringInfo(&buf);
	qualify(&buf, sql, tokens, n);
	qualified = MemoryContextStrdup(old, buf.data);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return qualified;
}
