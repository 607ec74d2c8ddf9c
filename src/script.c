/*
 * script.c
 *	  SQL text, read by the server's own scanner and parser.
 *
 * Only raw parsing: no catalog is read, so that a text may name tables which
 * its own setup makes later.  Errors of the parser keep their position, as a
 * position in the text given (the internal query of the error), never in the
 * query that called us.
 *
 * Memory: results are palloc'd in the current context; so is what the parser
 * leaves behind.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "mb/pg_wchar.h"
#include "nodes/parsenodes.h"
#include "parser/parse_type.h"
#include "parser/parser.h"
#include "parser/scanner.h"
#include "parser/scansup.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "compat.h"
#include "script.h"

/*
 * A text is read over and over, so what the server has to remark on it (names
 * that are cut, backslashes in strings) is kept quiet but for once.
 */
static int
quiet_begin(void)
{
	int			nestlevel = NewGUCNestLevel();

	/* of this process, wherever the arms run; outside a transaction nothing would set it back */
	if (IsTransactionState())
		(void) set_config_option("client_min_messages", "error", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	return nestlevel;
}

static void
quiet_end(int nestlevel)
{
	AtEOXact_GUC(true, nestlevel);
}

/* a position that the parser reports is one in this text */
static void
script_error_callback(void *arg)
{
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery((const char *) arg);
	}
}

/*
 * Inside ereport(): the error stands at this byte offset of the text.
 */
int
rtb_script_errposition(const char *text, int offset)
{
	internalerrquery(text);
	return internalerrposition(pg_mbstrlen_with_len(text, offset) + 1);
}

/*
 * Raw parse trees of a text: a list of RawStmt *, never empty, in the current
 * memory context.  Throws syntax errors, and one for a text that holds nothing
 * but white space, comments and semicolons.
 */
List *
rtb_script_parse(const char *text)
{
	ErrorContextCallback callback;
	List	   *trees;
	int			nestlevel = quiet_begin();

	callback.callback = script_error_callback;
	callback.arg = unconstify(char *, text);
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	trees = raw_parser(text, RAW_PARSE_DEFAULT);
	error_context_stack = callback.previous;
	quiet_end(nestlevel);

	if (trees == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("there is no statement in the text"),
				 errhint("White space and comments alone do nothing: write at least one SQL statement.")));
	return trees;
}

/*
 * Have the server remark on a text that parses, as it would when it is run:
 * NOTICE of names that are cut, WARNING of backslashes in strings.
 */
void
rtb_script_remark(const char *text)
{
	(void) raw_parser(text, RAW_PARSE_DEFAULT);
}

/* an error about the text, not one of memory or stack? */
static bool
is_about_text(int code)
{
	return ERRCODE_TO_CATEGORY(code) == ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION ||
		ERRCODE_TO_CATEGORY(code) == ERRCODE_DATA_EXCEPTION ||
		code == ERRCODE_FEATURE_NOT_SUPPORTED;
}

/*
 * Does the text parse?  Its errors are swallowed: the parser holds nothing but
 * memory, which is freed.  Everything else is thrown.
 */
bool
rtb_script_parses(const char *text)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller, "rtbench trial parse",
												  ALLOCSET_DEFAULT_SIZES);
	volatile bool parses = true;
	int			nestlevel = quiet_begin();

	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		(void) raw_parser(text, RAW_PARSE_DEFAULT);
	}
	PG_CATCH();
	{
		if (!is_about_text(geterrcode()))
			PG_RE_THROW();
		FlushErrorState();
		parses = false;
	}
	PG_END_TRY();
	quiet_end(nestlevel);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return parses;
}

/*
 * Error unless the text is a type's name.  Only its syntax is read.
 */
void
rtb_script_check_type(const char *name)
{
	ErrorContextCallback callback;

	callback.callback = script_error_callback;
	callback.arg = unconstify(char *, name);
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	(void) RTB_PARSE_TYPE_NAME(name);
	error_context_stack = callback.previous;
}

/*
 * Tokens of a text, in the current memory context.  Throws lexical errors.
 */
RtbToken *
rtb_script_tokens(const char *text, int *count)
{
	ErrorContextCallback callback;
	core_yy_extra_type extra;
	core_yyscan_t scanner;
	RtbToken   *tokens;
	int			room = 64;
	int			n = 0;
	int			nestlevel = quiet_begin();

	callback.callback = script_error_callback;
	callback.arg = unconstify(char *, text);
	callback.previous = error_context_stack;
	error_context_stack = &callback;

	tokens = palloc(room * sizeof(RtbToken));
	scanner = scanner_init(text, &extra, &ScanKeywords, ScanKeywordTokens);
	RTB_SCANNER_QUIET(&extra);	/* the parser itself warns */

	for (;;)
	{
		core_YYSTYPE value;
		YYLTYPE		start;
		int			code;

		CHECK_FOR_INTERRUPTS();
		value.str = NULL;
		code = core_yylex(&value, &start, scanner);
		if (code == 0)
			break;
		if (n == room)
			tokens = repalloc(tokens, (room *= 2) * sizeof(RtbToken));
		tokens[n].code = code;
		tokens[n].start = start;
		/* the scanner keeps a zero byte behind the token it just returned */
		tokens[n].end = start + (int) strlen(extra.scanbuf + start);
		tokens[n].str = (code == RTB_TOKEN_IDENT || code == RTB_TOKEN_SCONST) ? value.str : NULL;
		tokens[n].number = (code == RTB_TOKEN_PARAM) ? value.ival : 0;
		n++;
	}

	scanner_finish(scanner);
	error_context_stack = callback.previous;
	quiet_end(nestlevel);
	*count = n;
	return tokens;
}

/* text[from .. to), without white space around it */
static char *
trimmed(const char *text, int from, int to)
{
	while (from < to && scanner_isspace(text[from]))
		from++;
	while (to > from && scanner_isspace(text[to - 1]))
		to--;
	return pnstrdup(text + from, to - from);
}

/* where a raw statement ends in its text */
static int
statement_end(const RawStmt *raw, const char *text)
{
	return raw->stmt_len > 0 ? raw->stmt_location + raw->stmt_len : (int) strlen(text);
}

/*
 * Split a text into its statements: a list of char *, never empty, each
 * without its semicolon and the white space around it, in the current memory
 * context.  Comments before a statement stay with it: some are read as hints.
 * Throws what rtb_script_parse() throws.
 */
List *
rtb_script_split(const char *text)
{
	List	   *statements = NIL;
	List	   *trees = rtb_script_parse(text);
	RtbToken   *tokens;
	int			ntokens;
	int			from = 0;
	int			t = 0;
	ListCell   *lc;

	tokens = rtb_script_tokens(text, &ntokens);
	foreach(lc, trees)
	{
		int			end = statement_end(lfirst_node(RawStmt, lc), text);

		/* the semicolon of the statement before, and empty statements */
		while (t < ntokens && tokens[t].code == ';')
			from = tokens[t++].end;
		statements = lappend(statements, trimmed(text, from, end));
		while (t < ntokens && tokens[t].start < end)
			t++;
		from = end;
	}
	return statements;
}

/*
 * The highest n of the $n that a text refers to, 0 if there are none.  Those
 * in the bodies of CREATE FUNCTION and PREPARE are not the text's own.
 * Throws what rtb_script_parse() throws.
 */
int
rtb_script_parameter_count(const char *text)
{
	List	   *trees;
	RtbToken   *tokens;
	int			ntokens;
	int			highest = 0;
	int			t = 0;
	ListCell   *lc;

	if (strchr(text, '$') == NULL)
		return 0;

	trees = rtb_script_parse(text);
	tokens = rtb_script_tokens(text, &ntokens);
	foreach(lc, trees)
	{
		RawStmt    *raw = lfirst_node(RawStmt, lc);
		int			end = statement_end(raw, text);
		bool		own = !IsA(raw->stmt, CreateFunctionStmt) && !IsA(raw->stmt, PrepareStmt);

		for (; t < ntokens && tokens[t].start < end; t++)
			if (own && tokens[t].number > highest)
				highest = tokens[t].number;
	}
	return highest;
}
