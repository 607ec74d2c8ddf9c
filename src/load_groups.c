/*
 * load_groups.c
 *	  The groups of a load: their documents, read and checked.
 *
 * The shape, stable from version to version:
 *
 *	group	{"group": name, "arm": arm document | name of a scenario's arm,
 *			 "variant": name, "sessions": n, "rate": transactions a second,
 *			 "parameters": {...}}
 *
 * Only "group" and "arm" are required.  Documents of one group are variants of
 * it.  A scenario's arms make groups by their names: "group/variant".
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "load.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"

#include "arm_document.h"
#include "json_access.h"
#include "sweep_arguments.h"

#define VARIANT_SEPARATOR	'/'

static const char *const keys[] = {"group", "arm", "variant", "sessions", "rate", "parameters"};

/* ---- reading one ---- */

/* one document, before variants of a group are put together */
typedef struct Asked
{
	char	   *group;
	char	   *variant;		/* or NULL: as the arm is called */
	Jsonb	   *arm;
	int			sessions;
	double		rate;
	Jsonb	   *parameters;		/* or NULL */
} Asked;

static double
json_number(JsonbContainer *object, const char *key, double otherwise)
{
	JsonbValue *value = rtb_json_value(object, key);

	if (value == NULL)
		return otherwise;
	if (value->type != jbvNumeric)
		return NAN;
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8, NumericGetDatum(value->val.numeric)));
}

static void
check_keys(JsonbContainer *object)
{
	ListCell   *lc;

	foreach(lc, rtb_json_keys(object))
	{
		int			i = 0;

		while (i < lengthof(keys) && strcmp(keys[i], lfirst(lc)) != 0)
			i++;
		if (i == lengthof(keys))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("unrecognized key \"%s\" in a group of a load", (char *) lfirst(lc)),
					 errhint("Groups are made by rtbench.load_group().")));
	}
}

/* a scenario's arm by its name */
static Jsonb *
named_arm(const RtbScenario *scenario, const char *group, const char *name)
{
	StringInfoData names;
	ListCell   *ln;
	ListCell   *ld;

	if (scenario->id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("arm \"%s\" of group \"%s\" does not exist", name, group),
				 errdetail("Arms have names where a scenario is named."),
				 errhint("Make it by rtbench.arm(), or give the load a scenario.")));
	initStringInfo(&names);
	forboth(ln, scenario->arm_names, ld, scenario->arm_documents)
	{
		if (strcmp(lfirst(ln), name) == 0)
			return lfirst(ld);
		appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", (char *) lfirst(ln));
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("arm \"%s\" of group \"%s\" does not exist", name, group),
			 errhint("Arms of scenario \"%s\": %s.", scenario->name, names.data)));
}

/* an arm that is written out */
static Jsonb *
given_arm(JsonbValue *value, const char *group)
{
	if (value == NULL || value->type != jbvBinary)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("group \"%s\" has no arm", group),
				 errhint("Make it by rtbench.arm().")));
	return JsonbValueToJsonb(value);
}

static Jsonb *
object_member(JsonbContainer *object, const char *key, const char *group)
{
	JsonbValue *value = rtb_json_value(object, key);

	if (value == NULL)
		return NULL;
	if (value->type != jbvBinary || !JsonContainerIsObject(value->val.binary.data))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" of group \"%s\" must be an object", key, group)));
	return JsonbValueToJsonb(value);
}

static Asked *
read_document(Jsonb *document, const RtbScenario *scenario)
{
	Asked	   *asked = palloc0(sizeof(Asked));
	JsonbContainer *object = &document->root;
	JsonbValue *arm;
	double		sessions;

	if (!JB_ROOT_IS_OBJECT(document))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a group of a load must be an object"),
				 errhint("Make it by rtbench.load_group().")));
	check_keys(object);
	asked->group = rtb_json_text(object, "group");
	if (asked->group == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a group of a load has no name"),
				 errhint("Make it by rtbench.load_group().")));
	rtb_check_name(asked->group, "group");
	arm = rtb_json_value(object, "arm");
	if (arm != NULL && arm->type == jbvString)
		asked->arm = named_arm(scenario, asked->group, rtb_json_text(object, "arm"));
	else
		asked->arm = given_arm(arm, asked->group);
	asked->variant = rtb_json_text(object, "variant");
	if (asked->variant != NULL)
		rtb_check_name(asked->variant, "variant");
	sessions = json_number(object, "sessions", 1);
	if (!(sessions >= 1 && sessions <= RTB_LOAD_SESSIONS && sessions == floor(sessions)))
		rtb_load_refuse_sessions(asked->group);
	asked->sessions = (int) sessions;
	if (rtb_json_value(object, "rate") != NULL)
	{
		asked->rate = json_number(object, "rate", NAN);
		if (!(asked->rate > 0) || isinf(asked->rate))
			rtb_load_refuse_rate(asked->group);
	}
	asked->parameters = object_member(object, "parameters", asked->group);
	return asked;
}

/* ---- what a client can do ---- */

static bool
has_internal(List *steps)
{
	ListCell   *lc;

	foreach(lc, steps)
	{
		const RtbStep *step = lfirst(lc);

		if (step->subtransaction == RTB_SUBXACT_INTERNAL || has_internal(step->body))
			return true;
	}
	return false;
}

/* would it take an internal subtransaction, which a client can't begin? */
static bool
is_inside_only(Jsonb *document)
{
	RtbTextRules rules = {RTB_TEXT_ALONE};

	return has_internal(rtb_arm_read(document, &rules)->steps);
}

static void
refuse_inside_only(const Asked *asked)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("arm \"%s\" of group \"%s\" has internal subtransactions, which a client cannot begin",
					rtb_arm_name(asked->arm), asked->group),
			 errhint("Use subtransaction => 'savepoint', or transport => 'worker'.")));
}

/* can the arm be run that way? */
static void
check_way(const RtbLoad *load, const Asked *asked)
{
	RtbTextRules rules = {RTB_TEXT_ALONE};

	if (load->wire == NULL)
		rtb_arguments_require_connection(rtb_arm_read(asked->arm, &rules), load->transport);
	else if (is_inside_only(asked->arm))
		refuse_inside_only(asked);
}

/* of all arms of a scenario those that a client can't run are left out, and named */
static bool
can_be_clients(const Asked *asked)
{
	if (!is_inside_only(asked->arm))
		return true;
	ereport(NOTICE,
			(errmsg("arm \"%s\" is left out: it has internal subtransactions, which a client cannot begin",
					rtb_arm_name(asked->arm))));
	return false;
}

/* ---- a scenario's arms as groups ---- */

/* a parameter of the name group_suffix, a number */
static double
group_parameter(const RtbScenario *scenario, const char *group, const char *suffix)
{
	return json_number(&scenario->parameters->root, psprintf("%s_%s", group, suffix), 0);
}

static Asked *
asked_of_arm(const RtbScenario *scenario, char *name, Jsonb *document)
{
	Asked	   *asked = palloc0(sizeof(Asked));
	char	   *separator = strchr(name, VARIANT_SEPARATOR);
	double		sessions;

	asked->group = separator == NULL ? name : pnstrdup(name, separator - name);
	asked->variant = separator == NULL ? NULL : pstrdup(separator + 1);
	asked->arm = document;
	sessions = json_number(&scenario->parameters->root, psprintf("%s_sessions", asked->group), 1);
	if (!(sessions >= 1 && sessions <= RTB_LOAD_SESSIONS && sessions == floor(sessions)))
		rtb_load_refuse_sessions(asked->group);
	asked->sessions = (int) sessions;
	asked->rate = group_parameter(scenario, asked->group, "rate");
	if (!(asked->rate >= 0) || isinf(asked->rate))
		rtb_load_refuse_rate(asked->group);
	return asked;
}

/* of several variants a load that compares nothing takes the first */
static bool
has_group(List *asked, const char *group)
{
	ListCell   *lc;

	foreach(lc, asked)
		if (strcmp(((Asked *) lfirst(lc))->group, group) == 0)
			return true;
	return false;
}

static List *
asked_of_scenario(const RtbScenario *scenario, bool compare, bool by_clients)
{
	List	   *asked = NIL;
	ListCell   *ln;
	ListCell   *ld;

	forboth(ln, scenario->arm_names, ld, scenario->arm_documents)
	{
		Asked	   *one = asked_of_arm(scenario, lfirst(ln), lfirst(ld));

		if ((compare || !has_group(asked, one->group)) && (!by_clients || can_be_clients(one)))
			asked = lappend(asked, one);
	}
	return asked;
}

/* ---- putting a load together ---- */

static Jsonb *
concat(Jsonb *defaults, Jsonb *given)
{
	if (given == NULL)
		return defaults;
	return DatumGetJsonbP(DirectFunctionCall2(jsonb_concat, JsonbPGetDatum(defaults),
											  JsonbPGetDatum(given)));
}

/* the arm with its parameters filled in: what a session runs */
static RtbLoadVariant *
make_variant(const RtbScenario *scenario, const Asked *asked)
{
	RtbLoadVariant *variant = palloc0(sizeof(RtbLoadVariant));
	RtbScenario one = {0};

	variant->arm = rtb_arm_name(asked->arm);
	variant->name = asked->variant != NULL ? asked->variant : variant->arm;
	if (asked->parameters != NULL && scenario->id != 0)
	{
		/* throws for names that the scenario does not know */
		RtbScenario copy = *scenario;

		rtb_scenario_set_parameters(&copy, asked->parameters);
	}
	one.name = asked->group;
	one.parameters = concat(scenario->parameters, asked->parameters);
	one.arm_documents = list_make1(asked->arm);
	rtb_scenario_validate(&one);
	variant->work = rtb_work_document(&one, false, 0);
	return variant;
}

static RtbLoadGroup *
find_group(const RtbLoad *load, const char *name)
{
	ListCell   *lc;

	foreach(lc, load->groups)
		if (strcmp(((RtbLoadGroup *) lfirst(lc))->name, name) == 0)
			return lfirst(lc);
	return NULL;
}

/* one more variant of a group that there is already */
static void
add_variant(RtbLoad *load, RtbLoadGroup *group, const Asked *asked, RtbLoadVariant *variant)
{
	int			index = list_length(load->groups) - 1;
	ListCell   *lc;

	while (list_nth(load->groups, index) != group)
		index--;
	if (load->compared >= 0 && load->compared != index)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("groups \"%s\" and \"%s\" both have variants",
						((RtbLoadGroup *) list_nth(load->groups, load->compared))->name, group->name),
				 errhint("One group is varied while the others stay.")));
	if (group->sessions != asked->sessions || group->rate != asked->rate)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("variants of group \"%s\" differ in their sessions or rate", group->name),
				 errdetail("The same sessions go on and only change what they do.")));
	foreach(lc, group->variants)
		if (strcmp(((RtbLoadVariant *) lfirst(lc))->name, variant->name) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("there are two variants \"%s\" of group \"%s\"", variant->name, group->name),
					 errhint("Tell them apart by variant => 'name'.")));
	if (list_length(group->variants) >= RTB_LOAD_VARIANTS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("group \"%s\" has more than %d variants", group->name, RTB_LOAD_VARIANTS)));
	group->variants = lappend(group->variants, variant);
	load->compared = index;
}

static void
add_group(RtbLoad *load, const RtbScenario *scenario, const Asked *asked, bool compare)
{
	RtbLoadVariant *variant = make_variant(scenario, asked);
	RtbLoadGroup *group = find_group(load, asked->group);

	if (group != NULL && !compare)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("there are two groups of the name \"%s\"", asked->group),
				 errhint("rtbench.run_load_compare() compares variants of a group.")));
	if (group != NULL)
	{
		add_variant(load, group, asked, variant);
		return;
	}
	if (list_length(load->groups) >= RTB_LOAD_GROUPS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a load has at most %d groups", RTB_LOAD_GROUPS),
				 errhint("Give one group more sessions.")));
	group = palloc0(sizeof(RtbLoadGroup));
	group->name = asked->group;
	group->sessions = asked->sessions;
	group->rate = asked->rate;
	group->variants = list_make1(variant);
	load->groups = lappend(load->groups, group);
}

/*
 * rtb_load_read_groups
 *		Set the load's groups and its setup: of the documents (list of Jsonb *),
 *		or of all arms of the scenario where there are none.
 *
 * compare: documents of one group are variants of it, and one group must have
 * some.  Throws for everything that could not be run.
 */
void
rtb_load_read_groups(RtbLoad *load, RtbScenario *scenario, List *documents, bool compare)
{
	RtbScenario fixture = *scenario;
	List	   *asked = NIL;
	ListCell   *lc;

	if (scenario->setup == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a load needs a setup"),
				 errdetail("Its transactions are committed, and what is committed on your own tables could not be taken back."),
				 errhint("Give a setup that makes the tables that the load works on.")));
	foreach(lc, documents)
		asked = lappend(asked, read_document(lfirst(lc), scenario));
	if (documents == NIL)
		asked = asked_of_scenario(scenario, compare, load->wire != NULL);
	foreach(lc, asked)
		check_way(load, lfirst(lc));
	if (asked == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there are no groups"),
				 errhint("Give at least one, made by rtbench.load_group().")));
	load->compared = -1;
	foreach(lc, asked)
		add_group(load, scenario, lfirst(lc), compare);
	if (compare && load->compared < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no group has variants to compare"),
				 errhint("Give two or more groups of one name, with different arms or parameters.")));
	if (rtb_load_sessions(load) > RTB_LOAD_SESSIONS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a load has at most %d sessions", RTB_LOAD_SESSIONS)));
	fixture.arm_names = fixture.arm_documents = NIL;
	fixture.check_query = NULL;
	load->setup = rtb_work_document(&fixture, false, 0);
}

/*
 * rtb_load_sessions
 *		Sessions of all groups.
 */
int
rtb_load_sessions(const RtbLoad *load)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, load->groups)
		n += ((RtbLoadGroup *) lfirst(lc))->sessions;
	return n;
}
