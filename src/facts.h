/*
 * facts.h
 *	  What a run's figures depend on beside the arms: settings and machine.
 */
#ifndef RTB_FACTS_H
#define RTB_FACTS_H

#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/jsonb.h"

/* what the far end of a connection says of itself; NULL where it does not */
typedef struct RtbFarFacts
{
	char	   *server_version; /* as it reports it when connected */
	char	   *version;		/* what SELECT version() says */
	char	   *settings;		/* an object as text, as rtb_facts_settings() has it */
} RtbFarFacts;

extern Jsonb *rtb_facts_settings(void);
extern char *rtb_facts_question(void);
extern void rtb_facts_add(StringInfo buf, const char *name, const char *value);
extern Jsonb *rtb_facts_machine(int64 empty_statement_ns);
extern Jsonb *rtb_facts_far_machine(int64 empty_statement_ns, const char *version);
extern Jsonb *rtb_json_to_jsonb(const char *json);

#endif							/* RTB_FACTS_H */
