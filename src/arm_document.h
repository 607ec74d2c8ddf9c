/*
 * arm_document.h
 *	  An arm's jsonb document, read and checked.
 */
#ifndef RTB_ARM_DOCUMENT_H
#define RTB_ARM_DOCUMENT_H

#include "postgres.h"

#include "definition_text.h"
#include "scenario.h"

extern RtbArm *rtb_arm_read(Jsonb *document, const RtbTextRules *rules);
extern char *rtb_arm_name(Jsonb *document);

#endif							/* RTB_ARM_DOCUMENT_H */
