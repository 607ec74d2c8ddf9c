/*
 * script.h
 *	  SQL text: split into statements, parameters filled in, told apart.
 */
#ifndef RTB_SCRIPT_H
#define RTB_SCRIPT_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/jsonb.h"

/* statements of a text as the server's parser splits it: list of char *, without ';' */
extern List *rtb_script_split(const char *text);
/* :name, :'name', :"name" replaced from a jsonb object of values */
extern char *rtb_script_fill(const char *text, Jsonb *parameters);
/* the text with each parameter's colon blanked: parses, and positions stay true */
extern char *rtb_script_blank(const char *text);
/* error if a statement cannot run in a pass (VACUUM, COMMIT, COPY FROM STDIN ...) */
extern void rtb_script_refuse(const char *statement);
/* highest $n */
extern int	rtb_script_parameter_count(const char *text);

#endif							/* RTB_SCRIPT_H */
