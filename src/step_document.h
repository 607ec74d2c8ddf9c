/*
 * step_document.h
 *	  The steps of an arm's jsonb document, read and checked.
 */
#ifndef RTB_STEP_DOCUMENT_H
#define RTB_STEP_DOCUMENT_H

#include "postgres.h"

#include "definition_text.h"
#include "scenario.h"

/* an arm's document while its steps are read; begin with what the arm says */
typedef struct RtbStepReading
{
	const RtbTextRules *rules;
	const char *arm;			/* its name, or NULL */
	bool		plans_kept;		/* the arm's default */
	bool		savepoints;		/* some were read */
	bool		commits_in_loop;	/* a foreach has commit_every */
	bool		copies;			/* there is a COPY FROM STDIN */
	int			steps;			/* read so far */
} RtbStepReading;

extern List *rtb_steps_read(RtbStepReading *reading, JsonbContainer *holder, const char *key,
							bool inside);
extern bool rtb_plans_kept_read(JsonbContainer *object, bool otherwise);
extern void rtb_step_check(Jsonb *document);

#endif							/* RTB_STEP_DOCUMENT_H */
