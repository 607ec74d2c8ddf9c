/*
 * step_condition.h
 *	  Steps that run only under a condition.
 */
#ifndef RTB_STEP_CONDITION_H
#define RTB_STEP_CONDITION_H

#include "postgres.h"

#include "utils/jsonb.h"

#include "arm_document.h"

extern bool rtb_condition_read(JsonbContainer *step, const RtbTextRules *rules, bool inside,
							   int *column);

#endif							/* RTB_STEP_CONDITION_H */
