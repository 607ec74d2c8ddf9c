/*
 * definition_text.h
 *	  The texts of a definition: names, places for errors, parameters.
 */
#ifndef RTB_DEFINITION_TEXT_H
#define RTB_DEFINITION_TEXT_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/jsonb.h"

/* how the texts of a document are checked */
typedef enum RtbTextMode
{
	RTB_TEXT_ALONE,				/* any parameter's name may stand for something */
	RTB_TEXT_NAMES,				/* parameters must be known */
	RTB_TEXT_FILL				/* and are replaced by their values */
} RtbTextMode;

typedef struct RtbTextRules
{
	RtbTextMode mode;
	List	   *known;			/* of char *, with RTB_TEXT_NAMES */
	Jsonb	   *values;			/* an object, with RTB_TEXT_FILL */
	bool		savepoints;		/* SAVEPOINT and what belongs to it may be there */
	bool		copy;			/* the text is a COPY FROM STDIN */
} RtbTextRules;

/* error context of the texts of one definition */
typedef struct RtbTextPlace
{
	const char *what;			/* "step", "setup", ... */
	int			step;			/* 0: none */
	const char *of;				/* "arm", "scenario" */
	const char *name;			/* NULL: not known yet */
	ErrorContextCallback callback;
} RtbTextPlace;

extern void rtb_text_place_push(RtbTextPlace *place, const char *what, int step,
								const char *of, const char *name);
extern void rtb_text_place_pop(RtbTextPlace *place);

extern char *rtb_text_prepare(const char *text, const RtbTextRules *rules);
extern void rtb_text_require_no_columns(const char *text);
extern void rtb_check_name(const char *name, const char *what);

#endif							/* RTB_DEFINITION_TEXT_H */
