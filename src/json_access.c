/*
 * json_access.c
 *	  Members of jsonb objects, read by key.
 *
 * Nothing here reads a catalog or needs a transaction.  Results are palloc'd
 * in the current context, or point into the object.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "json_access.h"

/*
 * A key's value, JSON null included; NULL if the key is absent.
 */
JsonbValue *
rtb_json_member(JsonbContainer *object, const char *key)
{
	return getKeyJsonValueFromContainer(object, key, strlen(key), NULL);
}

/*
 * A key's value; NULL if the key is absent or its value null.
 */
JsonbValue *
rtb_json_value(JsonbContainer *object, const char *key)
{
	JsonbValue *value = rtb_json_member(object, key);

	return (value == NULL || value->type == jbvNull) ? NULL : value;
}

/*
 * A key's text; NULL if the key is absent or its value null.  Throws for a
 * value of another type.
 */
char *
rtb_json_text(JsonbContainer *object, const char *key)
{
	JsonbValue *value = rtb_json_value(object, key);

	if (value == NULL)
		return NULL;
	if (value->type != jbvString)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must be a text", key)));
	return pnstrdup(value->val.string.val, value->val.string.len);
}

/*
 * A key's array; NULL if the key is absent or its value null.  Throws for a
 * value of another type.
 */
JsonbContainer *
rtb_json_array(JsonbContainer *object, const char *key)
{
	JsonbValue *value = rtb_json_value(object, key);

	if (value == NULL)
		return NULL;
	if (value->type != jbvBinary || !JsonContainerIsArray(value->val.binary.data))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must be an array", key)));
	return value->val.binary.data;
}

/*
 * A key's whole number; 0 if the key is absent or its value null.  Throws for
 * a value of another type, or out of range.
 */
int64
rtb_json_integer(JsonbContainer *object, const char *key)
{
	JsonbValue *value = rtb_json_value(object, key);

	if (value == NULL)
		return 0;
	if (value->type != jbvNumeric)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must be a number", key)));
	return DatumGetInt64(DirectFunctionCall1(numeric_int8, NumericGetDatum(value->val.numeric)));
}

/*
 * An object's keys: list of char *.
 */
List *
rtb_json_keys(JsonbContainer *object)
{
	List	   *keys = NIL;
	JsonbIterator *it = JsonbIteratorInit(object);
	JsonbIteratorToken token;
	JsonbValue	value;

	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
		if (token == WJB_KEY)
			keys = lappend(keys, pnstrdup(value.val.string.val, value.val.string.len));
	return keys;
}

/*
 * A key's array of texts: list of char *, NIL if it is absent.  Throws for an
 * array that holds anything else.
 */
List *
rtb_json_texts(JsonbContainer *object, const char *key)
{
	JsonbContainer *array = rtb_json_array(object, key);
	List	   *texts = NIL;
	int			n = array == NULL ? 0 : JsonContainerSize(array);

	for (int i = 0; i < n; i++)
	{
		JsonbValue *value = getIthJsonbValueFromContainer(array, i);

		if (value->type != jbvString)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"%s\" must hold texts only", key)));
		texts = lappend(texts, pnstrdup(value->val.string.val, value->val.string.len));
	}
	return texts;
}

/*
 * Error for an object that has keys it should not have; what: its name in the
 * message, valid: ends with NULL.
 */
void
rtb_json_check_keys(JsonbContainer *object, const char *what, const char *const *valid)
{
	StringInfoData list;
	ListCell   *lc;

	foreach(lc, rtb_json_keys(object))
	{
		const char *key = lfirst(lc);
		int			i = 0;

		while (valid[i] != NULL && strcmp(valid[i], key) != 0)
			i++;
		if (valid[i] != NULL)
			continue;

		initStringInfo(&list);
		for (i = 0; valid[i] != NULL; i++)
			appendStringInfo(&list, "%s\"%s\"", i > 0 ? ", " : "", valid[i]);
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized key \"%s\" in %s", key, what),
				 errhint("Valid keys are %s.", list.data)));
	}
}
