/*
 * facts.h
 *	  What a run's figures depend on beside the arms: settings and machine.
 */
#ifndef RTB_FACTS_H
#define RTB_FACTS_H

#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/jsonb.h"

extern Jsonb *rtb_facts_settings(void);
extern Jsonb *rtb_facts_machine(int64 empty_statement_ns);
extern Jsonb *rtb_json_to_jsonb(const char *json);

#endif							/* RTB_FACTS_H */
