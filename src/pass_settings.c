/*
 * pass_settings.c
 *	  Settings of a pass, and what an arm that commits leaves in the session.
 *
 * The settings of a pass that is rolled back go with its transaction.  Those
 * of one that commits must hold in all of its transactions, so they are the
 * session's, as is whatever the arm has SET; afterwards the session is brought
 * back to what it was when it began.
 *
 * Memory: nothing is kept.
 */
#include "postgres.h"

#include "pass_settings.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "utils/guc.h"
#include "utils/portal.h"

#include "own_sql.h"
#include "wire.h"
#include "worker.h"

static void
set(const char *name, const char *value, bool committing)
{
	if (committing && rtb_own_is_far())
		rtb_set_far(name, value, false);
	else if (committing)
		SetConfigOption(name, value, PGC_USERSET, PGC_S_SESSION);
	else
		rtb_set_local(name, value);
}

/*
 * rtb_pass_set_up
 *		In a transaction that stands before an arm's statements: the pass's
 *		settings, and what the arm wants done before.
 *
 * Returns whether that got the transaction its id.  Throws what the statements
 * throw.
 */
bool
rtb_pass_set_up(RtbSession *s, const RtbArm *arm, bool committing)
{
	bool		had_xid = TransactionIdIsValid(GetCurrentTransactionIdIfAny());
	ListCell   *lc;

	if (s->at->fixture.path != NULL)
		set("search_path", s->at->fixture.path, committing);
	/* a flood of NOTICEs would be timed as the arm's work, which only over a connection it is */
	if (!s->transport->far)
		set("client_min_messages", "error", committing);
	foreach(lc, arm->before)
	{
		s->transport->sql(lfirst(lc));
	}
	return !committing && !had_xid && TransactionIdIsValid(GetCurrentTransactionIdIfAny());
}

/*
 * All of DISCARD ALL but what would end the plans that are to be kept.
 */
static void
forget_far(const RtbTransport *transport)
{
	static const char *const parts[] = {"CLOSE ALL", "SET SESSION AUTHORIZATION DEFAULT", "RESET ALL", "UNLISTEN *",
	"SELECT pg_catalog.pg_advisory_unlock_all()", "DISCARD TEMP", "DISCARD SEQUENCES"};
	RtbOwnRows *rows;

	if (!rtb_wire_keeps())
	{
		transport->toplevel("DISCARD ALL");
		return;
	}
	for (int i = 0; i < lengthof(parts); i++)
		transport->toplevel(parts[i]);
	rows = rtb_own_rows("SELECT pg_catalog.quote_ident(name) FROM pg_catalog.pg_prepared_statements WHERE from_sql", 0, NULL);
	for (int i = 0; i < rows->n; i++)
		transport->toplevel(psprintf("DEALLOCATE %s", rtb_own_row_text(rows, i, 1)));
}

/*
 * rtb_pass_forget_session
 *		Bring a worker's session back to what it was before an arm committed:
 *		settings, role, temporary tables, open cursors.  Outside any transaction.
 */
void
rtb_pass_forget_session(const RtbTransport *transport)
{
	if (rtb_own_is_other())
	{
		/* a new session has nothing of an old one */
		if (rtb_own_try("DISCARD ALL", false) == NULL)
			rtb_wire_renew();
		return;
	}
	if (transport->far)
	{
		forget_far(transport);
		return;
	}
	rtb_worker_restore_settings();
	StartTransactionCommand();
	PortalHashTableDeleteAll();
	ResetTempTableNamespace();
	CommitTransactionCommand();
}
