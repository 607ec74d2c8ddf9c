/*
 * json_access.h
 *	  Members of jsonb objects, read by key.
 */
#ifndef RTB_JSON_ACCESS_H
#define RTB_JSON_ACCESS_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/jsonb.h"

extern JsonbValue *rtb_json_member(JsonbContainer *object, const char *key);
extern JsonbValue *rtb_json_value(JsonbContainer *object, const char *key);
extern char *rtb_json_text(JsonbContainer *object, const char *key);
extern JsonbContainer *rtb_json_array(JsonbContainer *object, const char *key);
extern int64 rtb_json_integer(JsonbContainer *object, const char *key);
extern List *rtb_json_keys(JsonbContainer *object);
extern List *rtb_json_texts(JsonbContainer *object, const char *key);
extern void rtb_json_check_keys(JsonbContainer *object, const char *what, const char *const *valid);

#endif							/* RTB_JSON_ACCESS_H */
