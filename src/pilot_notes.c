/*
 * pilot_notes.c
 *	  What the pilot found, in words.
 *
 * Findings go to the session's sink; texts are made in the current context.
 */
#include "postgres.h"

#include "pilot.h"

#include "catalog/pg_class.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "advice.h"
#include "difference.h"
#include "own_sql.h"
#include "sequences.h"
#include "written.h"

/* ---- of the discovery pass ---- */

/* how durable commits are is the far end's to say */
static void
note_durability(RtbSession *s, int arm)
{
	const char *synchronous = NULL;
	const char *fsync = NULL;

	if (!s->transport->far)
	{
		synchronous = GetConfigOption("synchronous_commit", false, false);
		fsync = GetConfigOption("fsync", false, false);
	}
	else if (!rtb_own_is_other())
	{
		RtbOwnRows *rows = rtb_own_rows("SELECT pg_catalog.current_setting('synchronous_commit'),"
										" pg_catalog.current_setting('fsync')", 0, NULL);

		synchronous = rtb_own_row_text(rows, 0, 1);
		fsync = rtb_own_row_text(rows, 0, 2);
	}
	if (synchronous != NULL)
		rtb_session_find(s, RTB_FOUND_NOTE, arm, "commits with synchronous_commit = %s, fsync = %s",
						 synchronous, fsync);
	else
		rtb_session_find(s, RTB_FOUND_NOTE, arm, "commits; how durable they are at the far end is not known");
}

void
rtb_pilot_note_counts(RtbSession *s, int arm, const RtbCounts *c)
{
	bool		commits = s->at->arms[arm]->ending != RTB_ENDING_ROLLBACK;

	if (commits)
		note_durability(s, arm);
	if (commits && s->transport == &rtb_spi_worker_transport)
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "no socket: round trips cost nothing here, so that this is the floor of a difference from arms with more or fewer of them");
	if (c->parallel)
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "CPU time is not known: parallel workers may have taken part");
	if (c->sql_functions)
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "statements of SQL functions that were not inlined are counted");
	if (c->foreign)
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "foreign tables are used: statements that their servers are sent on its behalf, and those round trips, are not counted");
	if (c->notices > 0)
		rtb_session_find(s, RTB_FOUND_NOTE, arm, c->notices == 1 ? "1 notice of the far end in a pass"
						 : INT64_FORMAT " notices of the far end in a pass", c->notices);
	if (c->rules)
		rtb_session_find(s, RTB_FOUND_NOTE, arm, "statements added by rules are counted");
	if (c->notifies && !commits)
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "notifications queued: their cost and serialisation at commit are not measured");
	if (c->notifies && commits)
		rtb_session_find(s, RTB_FOUND_NOTE, arm, "notifications are committed: sessions that listen get them");
	if (c->truncates && !commits)
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "TRUNCATE: removing and syncing files at commit is not measured, the time is a lower bound; triggers on DELETE do not fire; its ACCESS EXCLUSIVE lock keeps readers out until the transaction ends");
	if (c->ddl && !commits)
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "changes the catalogs: definitions are not compared, dead catalog rows of rolled-back passes stay, and work on files at commit is not measured");
}

/* what a client cannot do as the arm's options ask */
void
rtb_pilot_note_sending(RtbSession *s, int arm)
{
	char	   *unbatched;

	if (!s->transport->far)
		return;
	unbatched = rtb_wire_note_unbatched(s->at->arms[arm]);
	if (unbatched != NULL)
		rtb_session_find(s, RTB_FOUND_NOTE, arm, "%s", unbatched);
	if (rtb_wire_ignores_fetch_size(s->at->arms[arm]))
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "fetch_size does nothing: a cursor needs a transaction block, and ending 'autocommit' has none");
}

/* which index is missing, or is not used */
void
rtb_pilot_note_advice(RtbSession *s, int arm)
{
	ListCell   *lc;

	foreach(lc, rtb_advice_found())
		rtb_session_find(s, RTB_FOUND_NOTE, arm, "%s", (char *) lfirst(lc));
}

/* what stays in the session when the transaction is gone; of a failed arm too */
void
rtb_pilot_note_leaks(RtbSession *s, int arm)
{
	if (s->at->leaked_locks > 0)
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "side effect: %d session-level advisory lock%s the transaction (released by rtbench after each pass)",
						 s->at->leaked_locks, s->at->leaked_locks == 1 ? " outlives" : "s outlive");
	if (s->at->leaked_statements > 0)
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "side effect: %d prepared statement%s the transaction (dropped by rtbench after each pass)",
						 s->at->leaked_statements,
						 s->at->leaked_statements == 1 ? " outlives" : "s outlive");
}

/* of another engine: what it is, as it says itself, and what is not known of it */
static void
note_server(RtbSession *s)
{
	const char *reported = rtb_connection_parameter(rtb_wire, "server_version");
	RtbOwnRows *rows;

	if (!rtb_own_is_other())
		return;
	rtb_session_find(s, RTB_FOUND_NOTE, -1, "server \"%s\" reports version %s", rtb_wire_options.name,
					 reported ? reported : "none");
	rows = rtb_own_try("SELECT version()", false);
	if (rows != NULL && rows->n == 1 && rtb_own_row_text(rows, 0, 1) != NULL)
		rtb_session_find(s, RTB_FOUND_NOTE, -1, "it calls itself %s", rtb_own_row_text(rows, 0, 1));
	rtb_session_find(s, RTB_FOUND_NOTE, -1,
					 "another engine: what it spends inside itself is not seen, nor which tables an arm writes: "
					 "those of the scratch schema are all compared, or what the check query returns, and no others; "
					 "sequences, advisory locks and deferred constraint triggers are not looked at");
}

/*
 * rtb_pilot_require_check
 *		Where it cannot be told what arms write, and they write, a check query
 *		must say what is compared.
 *
 * In what statements do for others (CALL, DO, a function) changed rows do not
 * show: a note says what is compared.
 */
void
rtb_pilot_require_check(RtbPilot *p)
{
	RtbSession *s = p->s;
	bool		changed = false;

	if (!s->transport->far || rtb_wire_counts() || s->at->work->check_query != NULL || s->at->written != NIL)
		return;
	for (int i = 0; i < s->at->narms; i++)
		changed |= !s->at->failed[i] && p->counts[i].changed;
	if (changed)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("which tables the arms write cannot be told on \"%s\"", rtb_wire_options.name),
				 s->at->commits ? errdetail("Their statements change rows, and the far end shows no table as written. What they have committed stays.")
				 : errdetail("Their statements change rows, and the far end shows no table as written."),
				 errhint("Say what they must leave alike: check_query => 'SELECT ...'.")));
	if (rtb_own_is_other())
		rtb_session_find(s, RTB_FOUND_NOTE, -1,
						 "no check query and no setup: if the arms write by functions or procedures, that is not compared");
}

/* nobody at the far end looks at what arms commit: said before they do, and kept */
static void
note_unguarded(RtbSession *s)
{
	static const char phrase[] = "what arms commit outside the scratch schema is not seen there, and stays";

	rtb_session_find(s, RTB_FOUND_NOTE, -1, "%s", phrase);
	if (!s->told_unguarded)
		ereport(NOTICE,
				(errmsg("%s: %s", rtb_wire_options.name, phrase),
				 errdetail("%s", rtb_wire_pooled() ? "The far end is behind a pooler." : "The far end has no rtbench, which would refuse it.")));
	s->told_unguarded = true;
}

/* a worker is not a client's backend in everything */
void
rtb_pilot_note_preload(RtbSession *s)
{
	const char *libraries = GetConfigOption("session_preload_libraries", true, false);

	if (s->transport->far)
	{
		rtb_session_find(s, RTB_FOUND_NOTE, -1, rtb_wire_counts() ?
						 "statements, buffers, WAL and plans were counted at the far end, in untimed passes" :
						 "%s: fired statements, buffers, WAL and plans are not known, and statements are those sent",
						 rtb_wire_pooled() ? "the far end is behind a pooler" : "the far end has no rtbench");
		if (rtb_wire_options.is_server)
			note_server(s);
		if (s->at->commits && !rtb_wire_counts())
			note_unguarded(s);
	}
	else if (s->options.own_transactions && libraries != NULL && libraries[0] != '\0')
		rtb_session_find(s, RTB_FOUND_NOTE, -1,
						 "session_preload_libraries (%s) are not loaded in the worker", libraries);
}

/* a simulated distance as it really was */
void
rtb_pilot_tell_distance(RtbSession *s)
{
	RtbDelivered waited = rtb_wire_waited();
	char	   *delivered = s->transport->far ? rtb_wire_delivered_text(&waited) : NULL;

	if (delivered != NULL)
		rtb_session_find(s, RTB_FOUND_NOTE, -1, "%s", delivered);
}

/* ---- sequences ---- */

/* what no rollback sets back on the user's own sequences */
void
rtb_pilot_tell_advanced(RtbPilot *p)
{
	RtbSession *s = p->s;
	ListCell   *lc;

	foreach(lc, s->at->written)
	{
		const RtbRelation *rel = lfirst(lc);
		bool		advanced = false;
		bool		unknown = false;

		if (rel->relkind != RELKIND_SEQUENCE || rel->scratch)
			continue;
		for (int i = 0; i < s->at->narms; i++)
		{
			int64		move = p->moves[i] ? p->moves[i][foreach_current_index(lc)] : RTB_MOVE_UNKNOWN;

			/* what is set back by TRUNCATE is so by its transaction */
			advanced |= move > 0;
			unknown |= move == RTB_MOVE_UNKNOWN;
		}
		if (advanced)
			rtb_session_find(s, RTB_FOUND_NOTE, -1,
							 "advances sequence %s, which no rollback sets back", rel->label);
		else if (unknown)
			rtb_session_find(s, RTB_FOUND_NOTE, -1,
							 "may advance sequence %s, which no rollback sets back: where it stands is not known after every arm", rel->label);
	}
}

void
rtb_pilot_compare_sequences(RtbPilot *p)
{
	RtbSession *s = p->s;
	int			base = s->options.baseline;

	for (int i = 0; i < s->at->narms; i++)
	{
		const char *name = s->at->arms[i]->name;
		const char *base_name = s->at->arms[base]->name;
		char	   *set_back;
		char	   *drawn;

		if (i == base || p->moves[i] == NULL || p->moves[base] == NULL)
			continue;
		set_back = rtb_sequences_set_back(s->at->written, p->moves[i], name,
										  p->moves[base], base_name);
		drawn = rtb_sequences_drawn(s->at->written, p->moves[i], name,
									p->moves[base], base_name);
		/* who names a check query has said what counts */
		if (set_back != NULL)
			rtb_session_find(s, s->at->check_mode == RTB_CHECK_QUERY ? RTB_FOUND_NOTE : RTB_FOUND_DIFFERENT,
							 i, "sequences: %s", set_back);
		if (drawn != NULL)
			rtb_session_find(s, RTB_FOUND_NOTE, i, "%s", drawn);
	}
}

/* ---- the way out where columns differ that no two passes have alike ---- */

/* one table's rows as a query without the columns that no two passes have alike */
static void
append_check_query(StringInfo buf, const RtbCheck *check, const RtbRelation *rel, List *unstable,
				   bool several, StringInfo names)
{
	const char *name = rel->scratch || rel->temporary ? rel->label : rel->name;
	StringInfoData columns;
	const RtbCheckPart *part = rtb_check_part(check, rel->label);

	initStringInfo(&columns);
	for (int i = 0; part != NULL && i < part->digest.ncolumns; i++)
	{
		const char *quoted = quote_identifier(part->digest.columns[i]);

		if (rtb_column_in_list(unstable, rel->label, quoted))
			appendStringInfo(names, "%s%s.%s", names->len ? ", " : "", rel->label, quoted);
		else
			appendStringInfo(&columns, "%s%s", columns.len ? ", " : "", quoted);
	}
	if (several)
		appendStringInfo(buf, "%sSELECT %s, ROW(%s)::text FROM %s", buf->len ? " UNION ALL " : "",
						 quote_literal_cstr(rel->label), columns.data, name);
	else
		appendStringInfo(buf, "SELECT %s FROM %s", columns.len ? columns.data : "count(*)", name);
}

/*
 * Where columns differ that also differ from pass to pass of one arm (ids, the
 * clock), print the check query without them, ready to be used.
 */
void
rtb_pilot_suggest_check_query(RtbPilot *p)
{
	RtbSession *s = p->s;
	const RtbCheck *check = p->second[s->options.baseline];
	StringInfoData query;
	StringInfoData names;
	const char *what = p->different ?
		"columns differ from pass to pass of one arm" :
		"only columns differ that also differ from pass to pass of one arm";
	List	   *unstable = NIL;
	int			tables = 0;
	ListCell   *lc;

	if (s->at->check_mode != RTB_CHECK_TABLES || check == NULL)
		return;
	for (int i = 0; i < s->at->narms; i++)
		unstable = list_concat(unstable, p->unstable[i]);
	foreach(lc, s->at->written)
		tables += ((RtbRelation *) lfirst(lc))->relkind != RELKIND_SEQUENCE;
	initStringInfo(&query);
	initStringInfo(&names);
	foreach(lc, s->at->written)
	{
		const RtbRelation *rel = lfirst(lc);

		if (rel->relkind != RELKIND_SEQUENCE && rel->unreadable == NULL)
			append_check_query(&query, check, rel, unstable, tables > 1, &names);
	}
	/* rows whose number or combination changes are not mended by leaving columns out */
	if (names.len == 0)
		return;
	if (!s->suggested)
		ereport(NOTICE,
				(errmsg("%s: %s", what, names.data),
				 errhint("Compare without them: check_query => %s", quote_literal_cstr(query.data))));
	s->suggested = true;
	for (int i = 0; i < s->at->narms; i++)
	{
		if (p->unstable[i] != NIL)
			rtb_session_find(s, RTB_FOUND_NOTE, i, "%s: %s; compare with check_query => %s",
							 what, names.data, quote_literal_cstr(query.data));
	}
}

/* equal digests of no rows at all prove nothing */
/* equal digests prove nothing where no arm changes what is digested */
void
rtb_pilot_tell_blind_check(RtbPilot *p)
{
	RtbSession *s = p->s;
	bool		any = false;

	for (int i = 0; i < s->at->narms; i++)
	{
		if (p->second[i] == NULL)
			continue;
		if (p->untouched != NULL && !rtb_check_equal(p->second[i], p->untouched))
			return;
		if (p->untouched == NULL && p->second[i]->parts != NIL)
			return;
		any = true;
	}
	if (!any)
		return;
	if (p->untouched != NULL && p->wrote)
		rtb_session_find(s, RTB_FOUND_NOTE, -1,
						 "the check query returns the same rows before any arm ran: it does not see what the arms write");
	else if (p->untouched == NULL && s->at->check_mode == RTB_CHECK_RETURNED)
		rtb_session_find(s, RTB_FOUND_NOTE, -1,
						 "nothing was compared: no arm returned rows or wrote a table that another transaction can see");
}

void
rtb_pilot_tell_empty_check(RtbPilot *p)
{
	RtbSession *s = p->s;
	bool		digested = false;

	/* where arms write, having no rows left may be what they do */
	if (s->at->check_mode != RTB_CHECK_QUERY || p->wrote)
		return;
	for (int i = 0; i < s->at->narms; i++)
	{
		const RtbCheckPart *part = NULL;

		if (s->at->failed[i] || p->second[i] == NULL)
			continue;
		part = rtb_check_part(p->second[i], "check query");
		if (part == NULL || part->digest.rows > 0)
			return;
		digested = true;
	}
	if (digested)
		rtb_session_find(s, RTB_FOUND_NOTE, -1,
						 "the check query returns no rows: that digests are equal proves nothing");
}

