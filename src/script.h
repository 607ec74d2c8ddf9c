/*
 * script.h
 *	  SQL text: split into statements, parameters filled in, told apart.
 */
#ifndef RTB_SCRIPT_H
#define RTB_SCRIPT_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/jsonb.h"

/*
 * What the core scanner returns besides ASCII characters.  scanner.h promises
 * these numbers to every parser built on it; gram.h itself is not installed.
 */
typedef enum RtbTokenCode
{
	RTB_TOKEN_IDENT = 258,
	RTB_TOKEN_SCONST = 261,
	RTB_TOKEN_PARAM = 267
} RtbTokenCode;

typedef struct RtbToken
{
	int			code;
	int			start;			/* byte offsets in the text */
	int			end;
	char	   *str;			/* of IDENT and SCONST: the value */
	int			number;			/* of PARAM: the n of $n */
} RtbToken;

/* script.c: statements of a text as the server's parser splits it: list of char *, without ';' */
extern List *rtb_script_split(const char *text);
/* its raw parse trees: list of RawStmt *, never empty */
extern List *rtb_script_parse(const char *text);
/* does it parse? */
extern bool rtb_script_parses(const char *text);
/* error unless it is a type's name */
extern void rtb_script_check_type(const char *name);
/* its tokens */
extern RtbToken *rtb_script_tokens(const char *text, int *count);
/* highest $n */
extern int	rtb_script_parameter_count(const char *text);
/* for use in ereport(): points at a byte of a text */
extern int	rtb_script_errposition(const char *text, int offset);

/* fill.c: :name, :'name', :"name" replaced from a jsonb object of values */
extern char *rtb_script_fill(const char *text, Jsonb *parameters);

/* reference.c: the text without its parameters: parses, and positions stay true */
extern char *rtb_script_blank(const char *text);
/* error if the text names a parameter that is not among these (list of char *) */
extern void rtb_script_check_names(const char *text, List *known);
/* error for a name that cannot be written as a parameter's */
extern void rtb_script_check_parameter_name(const char *name);
/* for use in ereport(): a hint that lists the known names */
extern int	rtb_script_hint_known(List *known);

/* refuse.c: error if a statement cannot run in a pass (VACUUM, COMMIT, COPY FROM STDIN ...) */
extern void rtb_script_remark(const char *text);
extern void rtb_script_refuse(const char *statement, bool savepoints);
extern void rtb_script_refuse_parsed(const Node *stmt);
/* could the text end or begin a transaction, as far as its words tell? */
extern bool rtb_script_may_control(const char *text);
/* does the text hold a SAVEPOINT, RELEASE or ROLLBACK TO? */
extern bool rtb_script_has_savepoint(const char *text);
/* is the text one query that only reads, as a cursor wants it? */
extern bool rtb_script_is_query(const char *text);
/* error unless the text is one COPY FROM STDIN that takes rows in text format */
extern void rtb_script_require_copy(const char *text);
/* error unless the text is one query that returns rows; what: its role, for the message */
extern void rtb_script_require_query(const char *text, const char *what, bool may_write);

#endif							/* RTB_SCRIPT_H */
