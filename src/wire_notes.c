/*
 * wire_notes.c
 *	  What an arm asks of its connection and does not get: said in its notes.
 *
 * An arm is compared as one of protocol pipeline or multi.  Where a client must
 * wait for an answer all the same, its steps are priced as sent one by one, which
 * the counts alone do not tell.
 *
 * Memory: texts are made in the current context.
 */
#include "postgres.h"

#include "wire_arm_private.h"

#include "lib/stringinfo.h"

#include "script.h"

/* why a step's statements are no part of a batch; what is sent for it is looked at in this order */
typedef enum Reason
{
	BY_SAVEPOINT,
	BY_SEVERAL,
	BY_CURSOR,
	BY_PARSE,
	BY_GENERATED,
	BY_DRIVER,
	BY_COPY,
	BATCHED
} Reason;

static const char *const reasons[] = {
	[BY_SAVEPOINT] = "each statement stands between SAVEPOINT and RELEASE",
	[BY_SEVERAL] = "a text of several statements is a message of its own",
	[BY_CURSOR] = "fetch_size: read by a cursor",
	[BY_PARSE] = "executed once, after being parsed, which is waited for",
	[BY_GENERATED] = "what is generated may be anything",
	[BY_DRIVER] = "of a query in a loop the rows are waited for",
	[BY_COPY] = "COPY is a message of its own"
};

typedef struct Search
{
	RtbProtocol protocol;
	bool		fetches;		/* queries are read by cursors */
	List	   *found[BATCHED]; /* ids of steps */
} Search;

static bool
has_query(const RtbStep *step)
{
	ListCell   *lc;

	foreach(lc, step->statements)
	{
		if (rtb_script_is_query(lfirst(lc)))
			return true;
	}
	return false;
}

/* of a step that is executed several times, or beside which others could be under way */
static Reason
reason_of(const Search *search, const RtbStep *step, bool looped)
{
	bool		pipeline = search->protocol == RTB_PROTOCOL_PIPELINE;

	switch (step->kind)
	{
		case RTB_STEP_STATEMENT:
			if (step->subtransaction != RTB_SUBXACT_NONE)
				return BY_SAVEPOINT;
			if (rtb_wire_is_one_text(step))
				return pipeline ? BY_SEVERAL : BATCHED;
			if (search->fetches && has_query(step))
				return BY_CURSOR;
			return pipeline && !looped && !step->plans_kept ? BY_PARSE : BATCHED;
		case RTB_STEP_GENERATED:
			/* of multi, texts are gathered */
			return pipeline ? BY_GENERATED : looped ? BY_DRIVER : BATCHED;
		case RTB_STEP_FOREACH:
			return looped ? BY_DRIVER : BATCHED;
		case RTB_STEP_COPY:
			return looped ? BY_COPY : BATCHED;
	}
	return BATCHED;
}

static void
search_steps(Search *search, List *steps, bool looped)
{
	int			plain = 0;
	ListCell   *lc;

	foreach(lc, steps)
		plain += ((RtbStep *) lfirst(lc))->kind == RTB_STEP_STATEMENT;
	foreach(lc, steps)
	{
		const RtbStep *step = lfirst(lc);
		Reason		reason = reason_of(search, step, looped);

		/* nothing is missing where a message goes alone by any protocol */
		if (step->kind == RTB_STEP_STATEMENT && step->subtransaction == RTB_SUBXACT_NONE && !looped && plain < 2)
			reason = BATCHED;
		if (reason != BATCHED)
			search->found[reason] = lappend_int(search->found[reason], step->id);
		search_steps(search, step->body, true);
	}
}

/* "steps 2, 4 (why)" */
static void
append_found(StringInfo buf, List *ids, const char *why)
{
	ListCell   *lc;

	appendStringInfo(buf, "%s step%s ", buf->len > 0 ? "," : "", list_length(ids) > 1 ? "s" : "");
	foreach(lc, ids)
		appendStringInfo(buf, "%s%d", foreach_current_index(lc) > 0 ? ", " : "", lfirst_int(lc));
	appendStringInfo(buf, " (%s)", why);
}

/*
 * rtb_wire_note_unbatched
 *		Which steps of an arm are sent one by one although its protocol sends
 *		batches, and why; NULL if there are none.
 */
char *
rtb_wire_note_unbatched(const RtbArm *arm)
{
	Search		search = {.protocol = rtb_wire_protocol_of(arm)};
	StringInfoData buf;

	if (search.protocol != RTB_PROTOCOL_PIPELINE && search.protocol != RTB_PROTOCOL_MULTI)
		return NULL;
	search.fetches = rtb_wire_fetch_size_of(arm) > 0 && arm->ending != RTB_ENDING_AUTOCOMMIT;
	search_steps(&search, arm->steps, false);
	initStringInfo(&buf);
	for (int i = 0; i < BATCHED; i++)
	{
		if (search.found[i] != NIL)
			append_found(&buf, search.found[i], reasons[i]);
	}
	return buf.len == 0 ? NULL :
		psprintf("protocol %s: sent one by one:%s", rtb_protocol_name(search.protocol), buf.data);
}

static bool
steps_query(List *steps)
{
	ListCell   *lc;

	foreach(lc, steps)
	{
		const RtbStep *step = lfirst(lc);

		if ((!rtb_wire_is_one_text(step) && has_query(step)) || steps_query(step->body))
			return true;
	}
	return false;
}

/*
 * rtb_wire_ignores_fetch_size
 *		Has an arm queries that a cursor were to read, and no transaction block
 *		that a cursor needs?
 */
bool
rtb_wire_ignores_fetch_size(const RtbArm *arm)
{
	return arm->ending == RTB_ENDING_AUTOCOMMIT && rtb_wire_fetch_size_of(arm) > 0 && steps_query(arm->steps);
}
