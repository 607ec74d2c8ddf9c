/*
 * survivors.c
 *	  What survives the end of a pass's transaction, undone outside the clock.
 *
 * Memory: nothing is kept but what a session noted before its pass.
 */
#include "postgres.h"

#include "survivors.h"

#include "commands/prepare.h"
#include "commands/sequence.h"
#include "nodes/value.h"
#include "storage/lock.h"
#include "utils/memutils.h"

#include "own_sql.h"
#include "pass_settings.h"
#include "written.h"

/*
 * rtb_survivors_note
 *		Before a pass: what is there already.
 */
void
rtb_survivors_note(RtbSession *s, const RtbPassRequest *rq)
{
	s->in_pass = true;
	if (s->transport->far)
		return;
	s->locks_before = rq->locked || !s->options.own_transactions ? rtb_advisory_locks() : NIL;
	s->prepared_before = s->options.own_transactions ? NIL : rtb_prepared_statements();
	s->in_pass = true;
}

/* prepared statements are not undone by a rollback: drop those that are new */
static void
drop_prepared(List *before)
{
	List	   *now = rtb_prepared_statements();
	ListCell   *lc;

	foreach(lc, list_difference(now, before))
		DropPreparedStatement(strVal(lfirst(lc)), false);
}

/* statements prepared since then; in any state outside an aborted transaction */
static int
count_prepared(RtbSession *s, List *before)
{
	MemoryContext old = CurrentMemoryContext;
	int			n;

	s->transport->begin(NULL);
	n = list_length(list_difference(rtb_prepared_statements(), before));
	s->transport->rollback();
	MemoryContextSwitchTo(old);
	return n;
}

/* session locks that an arm took, or gave back although they are the caller's session's */
static void
settle_locks(RtbSession *s, const RtbPassRequest *rq)
{
	int			released = rtb_advisory_locks_release(s->locks_before);

	if (rq->locked != NULL)
		s->at->leaked_locks = released;
	if (!s->options.own_transactions && !rtb_advisory_locks_regain(s->locks_before))
		ereport(WARNING,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("arm \"%s\" released an advisory lock of this session, which another one has taken since",
						s->at->arms[rq->arm]->name)));
}

/* the same at a far end; what an arm that committed has left goes with all of its session */
static void
release_far(RtbSession *s, const RtbPassRequest *rq)
{
	if (rq->locked != NULL && !rtb_own_is_other())
	{
		RtbOwnRows *rows = rtb_own_rows("SELECT pg_catalog.count(*) FROM pg_catalog.pg_locks"
										" WHERE pid = pg_catalog.pg_backend_pid() AND locktype = 'advisory'", 0, NULL);

		s->at->leaked_locks = (int) rtb_own_row_int64(rows, 0, 1);
		rows = rtb_own_rows("SELECT pg_catalog.count(*) FROM pg_catalog.pg_prepared_statements WHERE from_sql", 0, NULL);
		s->at->leaked_statements = (int) rtb_own_row_int64(rows, 0, 1);
	}
	if (s->at->arms[rq->arm]->ending != RTB_ENDING_ROLLBACK)
		rtb_pass_forget_session(s->transport);
	else if (!rtb_own_is_other())
		s->transport->toplevel("SELECT pg_catalog.pg_advisory_unlock_all()");
	s->in_pass = false;
}

/*
 * rtb_survivors_release
 *		Undo what a pass's rollback has left: session locks, prepared statements,
 *		currval(), and of an arm that committed its settings.  Outside any
 *		transaction of the pass's own.
 */
void
rtb_survivors_release(RtbSession *s, const RtbPassRequest *rq)
{
	if (s->transport->far)
	{
		release_far(s, rq);
		return;
	}
	if (rq->locked != NULL || !s->options.own_transactions)
		settle_locks(s, rq);
	if (rq->locked != NULL)
		s->at->leaked_statements = count_prepared(s, s->prepared_before);
	if (s->options.own_transactions)
	{
		LockReleaseAll(USER_LOCKMETHOD, true);
		DropAllPreparedStatements();
		ResetSequenceCaches();
		if (s->at->arms[rq->arm]->ending != RTB_ENDING_ROLLBACK)
			rtb_pass_forget_session(s->transport);
	}
	else
		drop_prepared(s->prepared_before);
	s->in_pass = false;
}

/*
 * rtb_session_release_pass
 *		After an error that ended the run in the caller's transaction, and the
 *		rollback: release what the running pass, if there was one, left.
 */
void
rtb_session_release_pass(RtbSession *s)
{
	MemoryContext old = MemoryContextSwitchTo(s->pass_cxt);

	if (s->in_pass)
	{
		s->in_pass = false;
		rtb_advisory_locks_release(s->locks_before);
		(void) rtb_advisory_locks_regain(s->locks_before);
		drop_prepared(s->prepared_before);
	}
	MemoryContextSwitchTo(old);
}
