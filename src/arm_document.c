/*
 * arm_document.c
 *	  An arm's jsonb document: its shape, and what its texts may say.
 *
 * The shape, stable from version to version:
 *
 *	arm		{"arm": name, "steps": [step, ...], "description": text,
 *			 "before": text, "plans": "fresh" | "kept",
 *			 "ending": "rollback" | "commit" | "autocommit",
 *			 "protocol": name, "batch": n, "fetch_size": n}
 *	step	{"statement": text, "types": [type name, ...], "plans": ...,
 *			 "subtransaction": "none" | "internal" | "savepoint"}
 *			{"foreach": query, "body": [step, ...], "commit_every": n}
 *			{"generated": query}
 *			{"rows": query, "copy": text}
 *			each with "only_if": "$n" | {parameter: value or [value, ...], ...}
 *
 * Only "arm", "steps", and what names the kind of step are required.  An
 * unknown key is an error.  "plans" of an arm holds for its steps that do not
 * say otherwise.
 *
 * Memory: results are palloc'd in the current context.
 */
#include "postgres.h"

#include "arm_document.h"

#include "json_access.h"
#include "script.h"
#include "step_document.h"

static const char *const arm_keys[] =
{"arm", "steps", "description", "before", "plans", "ending",
	"protocol", "batch", "fetch_size", NULL};

/* how an arm's pass ends */
static RtbEnding
get_ending(JsonbContainer *object)
{
	char	   *ending = rtb_json_text(object, "ending");

	if (ending == NULL || strcmp(ending, "rollback") == 0)
		return RTB_ENDING_ROLLBACK;
	if (strcmp(ending, "commit") == 0)
		return RTB_ENDING_COMMIT;
	if (strcmp(ending, "autocommit") == 0)
		return RTB_ENDING_AUTOCOMMIT;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for \"ending\": \"%s\"", ending),
			 errhint("Valid values are \"rollback\", \"commit\" and \"autocommit\".")));
}

/* a number of statements or rows to a message; 0 if it is not given */
static int
get_size(JsonbContainer *object, const char *key)
{
	int64		size = rtb_json_value(object, key) != NULL ? rtb_json_integer(object, key) : 1;

	if (size < 1 || size > RTB_MOST_IN_BATCH)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be between 1 and %d", key, RTB_MOST_IN_BATCH)));
	return rtb_json_value(object, key) != NULL ? (int) size : 0;
}

/* how an arm's statements are sent over a connection */
static void
read_protocol(RtbArm *arm, JsonbContainer *object)
{
	char	   *protocol = rtb_json_text(object, "protocol");

	if (protocol != NULL)
		arm->protocol = rtb_protocol_read(protocol, false);
	arm->batch = get_size(object, "batch");
	arm->fetch_size = get_size(object, "fetch_size");
	if (arm->batch > 0 && protocol != NULL && arm->protocol != RTB_PROTOCOL_PIPELINE &&
		arm->protocol != RTB_PROTOCOL_MULTI)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("protocol \"%s\" has no batches", protocol),
				 errhint("\"batch\" belongs to \"pipeline\" and \"multi\".")));
}

/*
 * The name of an arm's document, checked as far as that: it is an object, and
 * an arm's.  Throws, with the way out, for what is no arm.
 */
char *
rtb_arm_name(Jsonb *document)
{
	char	   *name;

	if (!JB_ROOT_IS_OBJECT(document))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an arm must be a document, not %s",
						JB_ROOT_IS_SCALAR(document) ? "a plain value" : "an array"),
				 errhint("Make it by rtbench.arm(name, statement, ...).")));
	name = rtb_json_text(&document->root, "arm");
	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an arm's document must have a key \"arm\", its name"),
				 errhint("Make it by rtbench.arm(name, statement or step, ...).")));
	rtb_check_name(name, "arm");
	return name;
}

/*
 * Read an arm from its document, everything in it checked by the rules given.
 * With RTB_TEXT_FILL the texts are ready to run; otherwise parameters in them
 * are blanked and only the checks matter.  Throws for all that is wrong with
 * the document, in the error's context where.
 */
RtbArm *
rtb_arm_read(Jsonb *document, const RtbTextRules *rules)
{
	RtbArm	   *arm = palloc0(sizeof(RtbArm));
	RtbStepReading reading = {rules};
	JsonbContainer *object = &document->root;
	char	   *before;

	arm->name = rtb_arm_name(document);
	rtb_json_check_keys(object, "an arm", arm_keys);
	arm->ending = get_ending(object);
	read_protocol(arm, object);
	arm->description = rtb_json_text(object, "description");
	before = rtb_json_text(object, "before");
	if (before != NULL)
	{
		RtbTextPlace place;

		rtb_text_place_push(&place, "\"before\"", 0, "arm", arm->name);
		before = rtb_text_prepare(before, rules);
		rtb_text_require_no_columns(before);
		arm->before = rtb_script_split(before);
		rtb_text_place_pop(&place);
	}
	reading.arm = arm->name;
	reading.plans_kept = rtb_plans_kept_read(object, false);
	arm->steps = rtb_steps_read(&reading, object, "steps", false);
	arm->savepoints = reading.savepoints;
	arm->copies = reading.copies;
	if (reading.commits_in_loop && arm->ending != RTB_ENDING_COMMIT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"commit_every\" belongs to an arm that commits, and \"%s\" does not", arm->name),
				 errhint("Give the arm the option ending => 'commit'.")));
	if (reading.savepoints && arm->ending == RTB_ENDING_AUTOCOMMIT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("savepoints need a transaction of several statements, and in arm \"%s\" each is one of its own", arm->name),
				 errhint("Use ending => 'commit' instead of 'autocommit'.")));
	return arm;
}
