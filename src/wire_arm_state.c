/*
 * wire_arm_state.c
 *	  An arm's state over a connection: its steps and their statements.
 *
 * Memory: a context for the arm, pass_cxt below it for a pass, row_cxt for one
 * row of the outermost driver.
 */
#include "postgres.h"

#include "wire_arm_private.h"

#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/value.h"
#include "parser/parse_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "script.h"

static int	names_given = 0;
static int	kept = 0;			/* statements that stay prepared over the connection */

/* ---- types ---- */

/*
 * A type's name as a cast has it without what that would cut off: a parameter's
 * type has no length.  Names that say none are left as they are, as other
 * engines know them.
 */
static char *
bare_type(const char *name)
{
	TypeName   *type = RTB_PARSE_TYPE_NAME(name);
	StringInfoData buf;
	ListCell   *lc;

	if (type->typmods == NIL)
		return pstrdup(name);
	initStringInfo(&buf);
	foreach(lc, type->names)
		appendStringInfo(&buf, "%s%s", buf.len > 0 ? "." : "", quote_identifier(strVal(lfirst(lc))));
	if (type->arrayBounds != NIL)
		appendStringInfoString(&buf, "[]");
	return buf.data;
}

/*
 * A statement whose parameters' types are given, by casts: $1 becomes of the
 * type that it is cast to, and so does a literal in its place.
 */
static char *
typed_text(const char *text, List *types)
{
	int			ntokens;
	RtbToken   *tokens = rtb_script_tokens(text, &ntokens);
	StringInfoData buf;
	int			from = 0;

	initStringInfo(&buf);
	for (int i = 0; i < ntokens; i++)
	{
		if (tokens[i].code != RTB_TOKEN_PARAM || tokens[i].number > list_length(types))
			continue;
		appendBinaryStringInfo(&buf, text + from, tokens[i].start - from);
		appendStringInfo(&buf, "($%d::%s)", tokens[i].number, bare_type(list_nth(types, tokens[i].number - 1)));
		from = tokens[i].end;
	}
	appendStringInfoString(&buf, text + from);
	return buf.data;
}

/* ---- opening ---- */

/* where the parameters stand in a text */
static void
find_pieces(WireStatement *st)
{
	int			ntokens;
	RtbToken   *tokens = rtb_script_tokens(st->text, &ntokens);
	int			from = 0;

	st->pieces = palloc0(sizeof(WirePiece) * (ntokens + 1));
	for (int i = 0; i < ntokens; i++)
	{
		if (tokens[i].code != RTB_TOKEN_PARAM)
			continue;
		st->pieces[st->npieces++] = (WirePiece) {st->text + from, tokens[i].start - from, tokens[i].number};
		from = tokens[i].end;
	}
	st->pieces[st->npieces++] = (WirePiece) {st->text + from, (int) strlen(st->text + from), 0};
}

static void
open_steps(List *steps, WireStep **out, int *nout)
{
	ListCell   *lc;
	int			n = 0;

	*nout = list_length(steps);
	*out = palloc0(sizeof(WireStep) * Max(*nout, 1));
	foreach(lc, steps)
	{
		const RtbStep *step = lfirst(lc);
		WireStep   *state = &(*out)[n++];
		ListCell   *ls;

		state->step = step;
		state->statements = palloc0(sizeof(WireStatement) * list_length(step->statements));
		foreach(ls, step->statements)
		{
			WireStatement *st = &state->statements[state->nstatements++];

			st->text = step->types == NIL ? lfirst(ls) : typed_text(lfirst(ls), step->types);
			st->kept = step->plans_kept;
			find_pieces(st);
			st->is_query = rtb_script_is_query(st->text);
			st->has_comment = strstr(st->text, "--") != NULL;
		}
		if (step->kind != RTB_STEP_STATEMENT)
			state->reads_only = IsA(linitial_node(RawStmt, rtb_script_parse(step->text))->stmt, SelectStmt);
		open_steps(step->body, &state->body, &state->nbody);
	}
}

/* several statements that a client sends as one text */
bool
rtb_wire_is_one_text(const RtbStep *step)
{
	return list_length(step->statements) > 1 && step->nparams == 0 && step->subtransaction == RTB_SUBXACT_NONE;
}

/* the arm's own, or the run's */
RtbProtocol
rtb_wire_protocol_of(const RtbArm *arm)
{
	return arm->protocol != RTB_PROTOCOL_UNSET ? arm->protocol : rtb_wire_options.protocol;
}

int
rtb_wire_fetch_size_of(const RtbArm *arm)
{
	return arm->fetch_size > 0 ? arm->fetch_size : rtb_wire_options.fetch_size;
}

/*
 * rtb_wire_open_arm
 *		State of an arm in a context of its own, under the current one.
 */
void *
rtb_wire_open_arm(const RtbArm *arm)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "rtbench wire arm",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	WireArm    *state = palloc0(sizeof(WireArm));

	state->cxt = cxt;
	state->pass_cxt = AllocSetContextCreate(cxt, "rtbench wire pass", ALLOCSET_DEFAULT_SIZES);
	state->row_cxt = AllocSetContextCreate(cxt, "rtbench wire row", ALLOCSET_DEFAULT_SIZES);
	state->arm = arm;
	state->protocol = rtb_wire_protocol_of(arm);
	state->batch_size = Max(arm->batch > 0 ? arm->batch : rtb_wire_options.batch, 1);
	state->fetch_size = rtb_wire_fetch_size_of(arm);
	open_steps(arm->steps, &state->steps, &state->nsteps);
	initStringInfo(&state->batch);
	initStringInfo(&state->copied);
	MemoryContextSwitchTo(old);
	return state;
}

/* ---- preparing and releasing ---- */

/*
 * rtb_wire_prepare
 *		Prepare a statement, a round trip.
 *
 * One that was interrupted may be there all the same, so the next attempt has
 * another name.  Behind a pooler all names are other processes' too: somebody
 * else's statement would be run.
 */
void
rtb_wire_prepare(WireArm *arm, WireStatement *st, const RtbValues *values)
{
	if (rtb_wire_pooled())
		snprintf(st->name, sizeof(st->name), "rtbench_%d_%x_%d", MyProcPid, (uint32) MyStartTimestamp, ++names_given);
	else if (st->name[0] == '\0' || st->attempted)
		snprintf(st->name, sizeof(st->name), "rtbench_%d", ++names_given);
	st->attempted = true;
	rtb_connection_prepare(rtb_wire, st->name, st->text, values);
	st->attempted = false;
	st->prepared = true;
	kept += st->kept;
	arm->run->kept += st->kept;
}

/*
 * rtb_wire_keeps
 *		Are there statements that must stay prepared?
 */
bool
rtb_wire_keeps(void)
{
	return kept > 0;
}

/* forget what was prepared; in buf what says so to the far end */
static void
release_steps(WireStep *steps, int nsteps, bool kept_too, StringInfo buf)
{
	for (int i = 0; i < nsteps; i++)
	{
		for (int n = 0; n < steps[i].nstatements; n++)
		{
			WireStatement *st = &steps[i].statements[n];

			if (!st->prepared || (st->kept && !kept_too))
				continue;
			st->prepared = false;
			kept -= st->kept;
			appendStringInfo(buf, "DEALLOCATE %s;", st->name);
		}
		if (steps[i].store != NULL)
			tuplestore_end(steps[i].store);
		steps[i].store = NULL;
		steps[i].desc = NULL;
		release_steps(steps[i].body, steps[i].nbody, kept_too, buf);
	}
}

/*
 * At the far end.  Behind a pooler names may not be there: a statement that is
 * left does no harm.
 */
static void
deallocate(StringInfo buf)
{
	if (buf->len > 0 && rtb_connection_usable(rtb_wire) && !(rtb_wire_keeps() && rtb_wire_pooled()))
		(void) rtb_connection_query(rtb_wire, rtb_wire_keeps() ? buf->data : "DEALLOCATE ALL", NULL);
}

/*
 * rtb_wire_release_arm
 *		Forget what one pass prepared; also right after an error.
 */
void
rtb_wire_release_arm(void *state)
{
	WireArm    *arm = state;
	StringInfoData buf;
	MemoryContext old = MemoryContextSwitchTo(arm->pass_cxt);

	initStringInfo(&buf);
	release_steps(arm->steps, arm->nsteps, false, &buf);
	deallocate(&buf);
	MemoryContextSwitchTo(old);
	MemoryContextReset(arm->pass_cxt);
}

/*
 * rtb_wire_close_arm
 *		Free an arm's state, kept statements included.
 */
void
rtb_wire_close_arm(void *state)
{
	WireArm    *arm = state;
	StringInfoData buf;
	MemoryContext old = MemoryContextSwitchTo(arm->cxt);

	initStringInfo(&buf);
	release_steps(arm->steps, arm->nsteps, true, &buf);
	deallocate(&buf);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(arm->cxt);
}
