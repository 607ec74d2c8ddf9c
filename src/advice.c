/*
 * advice.c
 *	  What the plans of a pass say about indexes, collected.
 *
 * Memory: plans seen and texts are in the context "rtbench advice", which
 * lasts for the process and is emptied by rtb_advice_begin().
 */
#include "postgres.h"

#include "advice.h"

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

#include "plan_shape.h"

/* so many different plans of a pass are looked at, and so much advice is kept */
#define PLANS_SEEN		256
#define MOST_ADVICE		10

static MemoryContext advice_context = NULL;
static List *advice = NIL;		/* of char * */
static uint64 seen[PLANS_SEEN];
static int	nseen = 0;

/* Forget what earlier passes' plans said. */
void
rtb_advice_begin(void)
{
	if (advice_context == NULL)
		advice_context = AllocSetContextCreate(TopMemoryContext, "rtbench advice",
											   ALLOCSET_SMALL_SIZES);
	MemoryContextReset(advice_context);
	advice = NIL;
	nseen = 0;
}

/* has such a plan been looked at in this pass, at this depth? */
static bool
seen_before(const PlannedStmt *stmt, bool fired)
{
	uint64		key = rtb_plan_fingerprint(stmt) + fired;

	for (int i = 0; i < nseen; i++)
	{
		if (seen[i] == key)
			return true;
	}
	if (nseen == PLANS_SEEN)
		return true;
	seen[nseen++] = key;
	return false;
}

/*
 * Look at a plan that is about to run; for rtb_hooks_watch().  Reads the
 * catalogs where it scans a table whole.
 */
void
rtb_advice_starts(const PlannedStmt *stmt)
{
	bool		fired = DatumGetInt32(pg_trigger_depth(NULL)) > 0;
	MemoryContext old;

	if (stmt->planTree == NULL || list_length(advice) >= MOST_ADVICE || seen_before(stmt, fired))
		return;
	old = MemoryContextSwitchTo(advice_context);
	advice = rtb_plan_advice(stmt, fired, advice);
	MemoryContextSwitchTo(old);
}

/* The same of plans that ran elsewhere: lines, or NULL. */
void
rtb_advice_receive(const char *lines)
{
	MemoryContext old = MemoryContextSwitchTo(advice_context);

	while (lines != NULL && *lines != '\0')
	{
		const char *end = strchrnul(lines, '\n');

		advice = lappend(advice, pnstrdup(lines, end - lines));
		lines = *end != '\0' ? end + 1 : end;
	}
	MemoryContextSwitchTo(old);
}

/* What was found since rtb_advice_begin(): list of char *, valid until the next one. */
List *
rtb_advice_found(void)
{
	return advice;
}

/* Is a finding such advice? */
bool
rtb_is_advice(const char *finding)
{
	return strncmp(finding, RTB_INDEX_MISSING, strlen(RTB_INDEX_MISSING)) == 0 ||
		strncmp(finding, RTB_INDEX_UNUSED, strlen(RTB_INDEX_UNUSED)) == 0;
}
