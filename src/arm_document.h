/*
 * arm_document.h
 *	  An arm's or step's jsonb document, read and checked.
 */
#ifndef RTB_ARM_DOCUMENT_H
#define RTB_ARM_DOCUMENT_H

#include "postgres.h"

#include "scenario.h"

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
} RtbTextRules;

extern RtbArm *rtb_arm_read(Jsonb *document, const RtbTextRules *rules);
extern void rtb_step_check(Jsonb *document);
extern char *rtb_arm_name(Jsonb *document);
extern char *rtb_text_prepare(const char *text, const RtbTextRules *rules);
extern void rtb_text_require_no_columns(const char *text);
extern void rtb_check_name(const char *name, const char *what);

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

#endif							/* RTB_ARM_DOCUMENT_H */
