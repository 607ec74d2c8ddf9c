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
#include "utils/memutils.h"

#include "script.h"

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

/*
 * rtb_wire_name
 *		Give a statement a name to prepare it by, which no other session has used:
 *		a pooler may have handed on what was prepared by another one.
 */
void
rtb_wire_name(WireStatement *st)
{
	static int	given = 0;

	snprintf(st->name, sizeof(st->name), "rtbench_%d_%d", MyProcPid, ++given);
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

			st->text = lfirst(ls);
			find_pieces(st);
			st->is_query = rtb_script_is_query(st->text);
		}
		if (step->kind != RTB_STEP_STATEMENT)
			state->reads_only = IsA(linitial_node(RawStmt, rtb_script_parse(step->text))->stmt, SelectStmt);
		open_steps(step->body, &state->body, &state->nbody);
	}
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
	state->protocol = arm->protocol != RTB_PROTOCOL_UNSET ? arm->protocol : rtb_wire_options.protocol;
	state->batch_size = Max(arm->batch > 0 ? arm->batch : rtb_wire_options.batch, 1);
	state->fetch_size = arm->fetch_size > 0 ? arm->fetch_size : rtb_wire_options.fetch_size;
	open_steps(arm->steps, &state->steps, &state->nsteps);
	initStringInfo(&state->batch);
	initStringInfo(&state->copied);
	MemoryContextSwitchTo(old);
	return state;
}

static void
release_steps(WireStep *steps, int nsteps, bool *prepared)
{
	for (int i = 0; i < nsteps; i++)
	{
		for (int n = 0; n < steps[i].nstatements; n++)
		{
			*prepared |= steps[i].statements[n].prepared;
			steps[i].statements[n].prepared = false;
		}
		if (steps[i].store != NULL)
			tuplestore_end(steps[i].store);
		steps[i].store = NULL;
		steps[i].desc = NULL;
		release_steps(steps[i].body, steps[i].nbody, prepared);
	}
}

/*
 * rtb_wire_release_arm
 *		Forget what one pass prepared; also right after an error.
 */
void
rtb_wire_release_arm(void *state)
{
	WireArm    *arm = state;
	bool		prepared = false;

	release_steps(arm->steps, arm->nsteps, &prepared);
	MemoryContextReset(arm->pass_cxt);
	if (prepared && rtb_connection_usable(rtb_wire))
		(void) rtb_connection_query(rtb_wire, "DEALLOCATE ALL", NULL);
}

/*
 * rtb_wire_close_arm
 *		Free an arm's state.
 */
void
rtb_wire_close_arm(void *state)
{
	WireArm    *arm = state;
	bool		prepared = false;

	release_steps(arm->steps, arm->nsteps, &prepared);
	MemoryContextDelete(arm->cxt);
}
