/*
 * pilot.c
 *	  The first, untimed passes at a point: what do the arms write, does each
 *	  leave the same as itself, do all leave the same?
 *
 * For each arm: one pass to discover what it writes, then two that are
 * digested (each arm against itself, then arms against the baseline).  Where
 * two arms differ both run once more with row hashes, to say how many rows
 * each side has alone.  Single executions are timed in the second digested
 * pass only.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "check.h"
#include "cleaning.h"
#include "difference.h"
#include "hooks.h"
#include "own_sql.h"
#include "probe.h"
#include "sequences.h"
#include "session.h"
#include "stats.h"
#include "step_timer.h"
#include "written.h"

/* what a digest of the tables costs is measured on this many rows of each */
#define RTB_FORECAST_ROWS	5000

#define ROUNDING_PHRASE \
	", in the last digits of floating-point values only: the order in which they are added decides, " \
	"so round them, as by round(x::numeric, 6), or add them as numeric"

typedef struct Pilot
{
	RtbSession *s;
	RtbCheck  **first;			/* by arm: digest of the first and */
	RtbCheck  **second;			/* the second digested pass */
	List	  **unstable;		/* by arm: of RtbColumn *: what differs within it */
	bool		different;		/* arms differ in more than that */
	int64	  **moves;			/* by arm: of sequences, in the second digested pass */
	RtbCounts  *counts;			/* by arm: of the discovery pass */
	List	   *locked;			/* of Oid: union over all arms, */
	List	   *modes;			/* and the strongest lock modes */
	bool		wrote;			/* some arm's pass got a transaction id */
} Pilot;

/* ---- discovery ---- */

static void
note_counts(RtbSession *s, int arm, const RtbCounts *c)
{
	if (c->parallel)
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "CPU time is not known: parallel workers may have taken part");
	if (c->sql_functions)
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "statements of SQL functions that were not inlined are counted");
	if (c->rules)
		rtb_session_find(s, RTB_FOUND_NOTE, arm, "statements added by rules are counted");
	if (c->notifies)
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "notifications queued: their cost and serialisation at commit are not measured");
	if (c->truncates)
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "TRUNCATE: removing and syncing files at commit is not measured, the time is a lower bound; triggers on DELETE do not fire; its ACCESS EXCLUSIVE lock keeps readers out until the transaction ends");
	if (c->ddl)
		rtb_session_find(s, RTB_FOUND_NOTE, arm,
						 "changes the catalogs: definitions are not compared, dead catalog rows of rolled-back passes stay, and work on files at commit is not measured");
}

/* what stays in the session when the transaction is gone; of a failed arm too */
static void
note_leaks(RtbSession *s, int arm)
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

/* a worker is not a client's backend in everything */
static void
note_preload(RtbSession *s)
{
	const char *libraries = GetConfigOption("session_preload_libraries", true, false);

	if (s->options.own_transactions && libraries != NULL && libraries[0] != '\0')
		rtb_session_find(s, RTB_FOUND_NOTE, -1,
						 "session_preload_libraries (%s) are not loaded in the worker", libraries);
}

/* run body in a transaction with SPI connected, wherever this session runs */
static void
in_transaction(RtbSession *s, void (*body) (Pilot *), Pilot *p)
{
	MemoryContext old = CurrentMemoryContext;

	s->transport->begin();
	body(p);
	s->transport->rollback();
	MemoryContextSwitchTo(old);
}

/* an arm's locks into the union of all */
static void
add_locked(Pilot *p, List *locked, List *modes)
{
	ListCell   *lo;
	ListCell   *lm;

	forboth(lo, locked, lm, modes)
	{
		ListCell   *known;
		int			place = -1;

		foreach(known, p->locked)
		{
			if (lfirst_oid(known) == lfirst_oid(lo))
				place = foreach_current_index(known);
		}
		if (place < 0)
		{
			p->locked = lappend_oid(p->locked, lfirst_oid(lo));
			p->modes = lappend_int(p->modes, lfirst_int(lm));
		}
		else
			lfirst_int(list_nth_cell(p->modes, place)) =
				Max(list_nth_int(p->modes, place), lfirst_int(lm));
	}
}

static int
mode_on(const Pilot *p, Oid relid)
{
	ListCell   *lo;
	ListCell   *lm;

	forboth(lo, p->locked, lm, p->modes)
	{
		if (lfirst_oid(lo) == relid)
			return lfirst_int(lm);
	}
	return 0;
}

static void
describe_written(Pilot *p)
{
	RtbSession *s = p->s;
	ListCell   *lc;

	MemoryContextSwitchTo(s->at->cxt);
	s->at->written = rtb_written_describe(p->locked, s->at->fixture.schema, s->options.ignore_columns);
	foreach(lc, s->at->written)
	{
		RtbRelation *rel = lfirst(lc);

		rel->scratch |= list_member_oid(s->at->fixture.relations, rel->relid);
		rel->mode = mode_on(p, rel->relid);
	}
	rtb_cleaning_sizes(s);
}

static void
discover(Pilot *p)
{
	RtbSession *s = p->s;

	for (int i = 0; i < s->at->narms; i++)
	{
		RtbPassRequest rq = {.kind = RTB_PASS_DISCOVERY, .arm = i, .session = 1};
		List	   *locked = NIL;
		List	   *modes = NIL;
		bool		wrote = false;
		MemoryContext old;

		rq.locked = &locked;
		rq.modes = &modes;
		rq.counts = &p->counts[i];
		rq.wrote = &wrote;
		s->at->leaked_locks = 0;
		s->at->leaked_statements = 0;
		rtb_session_emit(s, rtb_session_pass(s, &rq));
		note_leaks(s, i);
		if (s->at->failed[i])
			continue;
		note_counts(s, i, rq.counts);
		if (rtb_session_keeps_plans(s, i))
			rtb_session_find(s, RTB_FOUND_NOTE, i,
							 "plans kept from earlier passes: parsing and planning of these statements are not measured");
		p->wrote |= wrote;
		s->at->catalogs_change |= rq.counts->ddl || s->at->made != NIL;
		old = MemoryContextSwitchTo(s->at->cxt);
		add_locked(p, locked, modes);
		MemoryContextSwitchTo(old);
		in_transaction(s, describe_written, p);
		/* so that the next arm does not begin with what this one left */
		if (p->wrote)
			rtb_cleaning_choose(s, false);
	}
}

/* ---- what is checked ---- */

static bool
is_written(const RtbSession *s, const char *label)
{
	ListCell   *lc;

	foreach(lc, s->at->written)
	{
		if (strcmp(((RtbRelation *) lfirst(lc))->label, label) == 0)
			return true;
	}
	return false;
}

static void
choose_check(Pilot *p)
{
	RtbSession *s = p->s;
	StringInfoData checked;
	StringInfoData unreadable;
	ListCell   *lc;

	initStringInfo(&checked);
	initStringInfo(&unreadable);
	foreach(lc, s->at->written)
	{
		const RtbRelation *rel = lfirst(lc);

		if (rel->relkind == RELKIND_SEQUENCE)
			s->at->sequences_advanced |= rel->scratch;
		else if (rel->unreadable != NULL)
			appendStringInfo(&unreadable, "%s%s (%s)", unreadable.len ? ", " : "",
							 rel->label, rel->unreadable);
		else
			appendStringInfo(&checked, "%s%s", checked.len ? ", " : "", rel->label);
	}
	foreach(lc, s->at->made)
	{
		if (!is_written(s, strVal(lfirst(lc))))
			appendStringInfo(&checked, "%s%s (made by an arm)", checked.len ? ", " : "",
							 strVal(lfirst(lc)));
	}
	if (s->at->work->check_query != NULL)
	{
		s->at->check_mode = RTB_CHECK_QUERY;
		resetStringInfo(&checked);
		appendStringInfoString(&checked, "check query");
	}
	else if (checked.len > 0 || unreadable.len > 0)
	{
		s->at->check_mode = RTB_CHECK_TABLES;
		if (s->options.ignore_columns != NIL)
			appendStringInfoString(&checked, " (without the ignored columns)");
		if (unreadable.len > 0)
			rtb_session_find(s, RTB_FOUND_UNREADABLE, -1, "%s", unreadable.data);
	}
	else
		s->at->check_mode = RTB_CHECK_RETURNED;
	s->at->check_returned = s->at->check_mode == RTB_CHECK_RETURNED || s->options.compare_returned;
	if (s->at->check_returned)
		appendStringInfo(&checked, "%sreturned rows", checked.len ? ", " : "");
	rtb_session_find(s, RTB_FOUND_CHECKED, -1, "%s", checked.data);
}

/* ---- the cost of digesting ---- */

static void
forecast_digests(Pilot *p)
{
	RtbSession *s = p->s;
	double		seconds = 0;
	int			digests = 2 * s->at->narms + s->at->narms;
	double		limit = s->options.budget_ms / 1000.0 / 10;
	ListCell   *lc;

	if (s->at->check_mode != RTB_CHECK_TABLES)
		return;
	foreach(lc, s->at->written)
	{
		const RtbRelation *rel = lfirst(lc);
		RtbDigest	digest;
		int64		started;
		double		spent;
		char	   *query;

		if (rel->relkind == RELKIND_SEQUENCE || rel->unreadable != NULL || rel->tuples <= RTB_FORECAST_ROWS)
			continue;
		MemoryContextSwitchTo(s->at->cxt);
		rtb_digest_init(&digest);
		query = psprintf("SELECT %s FROM ONLY %s LIMIT %d", rel->columns ? rel->columns : "",
						 rel->name, RTB_FORECAST_ROWS);
		started = rtb_clock_ns();
		s->transport->digest(query, &digest, NULL);
		spent = (rtb_clock_ns() - started) / 1e9;
		if (digest.rows > 0)
			seconds += spent * rel->tuples / digest.rows;
	}
	if (seconds * digests > limit && s->options.budget_ms > 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("digesting the written tables would take too long"),
				 errdetail("%d digests of about %.2g s each are forecast, more than a tenth of max_time.",
						   digests, seconds),
				 errhint("Name a check query that reads only what the arms change (check_query => ...), or raise max_time.")));
}

/* ---- each arm against itself, then against the baseline ---- */

/* a time in words, in the unit that makes it a number from 1 to 999 */
static char *
time_words(int64 ns)
{
	if (ns < INT64CONST(999500))
		return psprintf("%.3g us", ns / 1e3);
	if (ns < INT64CONST(999500000))
		return psprintf("%.3g ms", ns / 1e6);
	return psprintf("%.3g s", ns / 1e9);
}

static void
emit_steps(RtbSession *s, int arm, RtbStepTimer *timers)
{
	int			n = rtb_arm_step_count(s->at->arms[arm]);

	for (int id = 1; id <= n; id++)
	{
		RtbStepTimer *t = &timers[id - 1];
		RtbStepTime step = {0};

		if (t->calls == 0)
			continue;
		step.has_point = s->at->work->has_point;
		step.point = s->at->work->point;
		step.arm = arm;
		step.step = id;
		step.statement = rtb_arm_step(s->at->arms[arm], id)->text;
		step.calls = t->calls;
		step.first_ns = t->first_ns;
		step.later_ns = rtb_time_sample_median(&t->later);
		step.custom_plans = t->has_plan ? t->custom_plans : RTB_UNKNOWN;
		step.generic_plans = t->has_plan ? t->generic_plans : RTB_UNKNOWN;
		step.custom_ns = rtb_time_sample_median(&t->custom);
		step.generic_ns = rtb_time_sample_median(&t->generic);
		s->sink.step(s->sink.arg, &step);
		if (t->has_plan && t->first_generic > 1 && t->custom_plans > 0 &&
			step.custom_ns != RTB_UNKNOWN && step.generic_ns != RTB_UNKNOWN)
			rtb_session_find(s, RTB_FOUND_NOTE, arm,
							 "step %d changed from custom to generic plan at execution " INT64_FORMAT
							 ": %s an execution before, %s after; fewer executions measure another plan",
							 id, t->first_generic, time_words(step.custom_ns),
							 time_words(step.generic_ns));
	}
}

static RtbCheck *
digested_pass(Pilot *p, int arm, RtbStepTimer *timers, bool with_row_hashes, bool emit)
{
	RtbSession *s = p->s;
	int64	   *moves = palloc(sizeof(int64) * Max(list_length(s->at->written), 1));
	RtbPassRequest rq = {.kind = RTB_PASS_PILOT, .arm = arm, .session = 1};
	RtbPass    *pass;

	rq.check = rtb_check_create(s->at->cxt);
	rq.with_row_hashes = with_row_hashes;
	rq.timers = timers;
	rq.moves = moves;
	pass = rtb_session_pass(s, &rq);
	if (pass->sqlstate == NULL)
	{
		p->moves[arm] = moves;
		/* what was not digested is not there: the judge must not take it for equal */
		if (rq.check->parts != NIL || s->at->catalogs_change || s->at->check_mode != RTB_CHECK_TABLES)
			pass->digest = rq.check->text;
	}
	if (emit || pass->sqlstate != NULL)
		rtb_session_emit(s, pass);
	return pass->sqlstate == NULL ? rq.check : NULL;
}

static void
note_unstable(Pilot *p, int arm)
{
	RtbDifference *difference = rtb_difference(p->first[arm], p->second[arm], NIL);

	p->unstable[arm] = difference->columns;
	rtb_session_find(p->s, RTB_FOUND_UNSTABLE, arm, "differs from itself (%s)%s",
					 difference->text, difference->rounding ? ROUNDING_PHRASE : "");
	/* better said before the time is spent */
	if (arm == p->s->options.baseline)
		ereport(NOTICE,
				(errmsg("the baseline \"%s\" differs from itself, so no arm can be compared with it",
						p->s->at->arms[arm]->name),
				 errdetail("%s", difference->text)));
}

static void
digest_arms(Pilot *p)
{
	RtbSession *s = p->s;

	for (int i = 0; i < s->at->narms; i++)
	{
		RtbStepTimer *timers;
		MemoryContext old;

		if (!s->at->failed[i])
			p->first[i] = digested_pass(p, i, NULL, false, true);
		if (s->at->failed[i])
			continue;
		old = MemoryContextSwitchTo(s->at->cxt);
		timers = rtb_step_timers_create(rtb_arm_step_count(s->at->arms[i]));
		MemoryContextSwitchTo(old);
		p->second[i] = digested_pass(p, i, timers, false, true);
		if (s->at->failed[i])
			continue;
		emit_steps(s, i, timers);
		pfree(timers);
		if (!rtb_check_equal(p->first[i], p->second[i]))
			note_unstable(p, i);
	}
}

/* both arms once more, with row hashes: how many rows does each side have alone? */
static bool
count_alone(Pilot *p, int arm, int other, uint64 *only_arm, uint64 *only_other)
{
	RtbSession *s = p->s;
	RtbCheck   *a = digested_pass(p, arm, NULL, true, false);
	RtbCheck   *b = a ? digested_pass(p, other, NULL, true, false) : NULL;
	MemoryContext old = CurrentMemoryContext;

	if (a == NULL || b == NULL)
		return false;
	s->transport->begin();
	rtb_check_count_alone(a, b, only_arm, only_other);
	s->transport->rollback();
	MemoryContextSwitchTo(old);
	rtb_check_free(a);
	rtb_check_free(b);
	return true;
}

static void
compare_arms(Pilot *p)
{
	RtbSession *s = p->s;
	int			base = s->options.baseline;

	if (s->at->failed[base])
		return;
	for (int i = 0; i < s->at->narms; i++)
	{
		RtbDifference *difference;
		uint64		only_arm;
		uint64		only_base;

		if (i == base || s->at->failed[i] || rtb_check_equal(p->second[i], p->second[base]))
			continue;
		/* what an arm does not have twice alike is no difference between arms */
		difference = rtb_difference(p->second[i], p->second[base],
									list_concat_copy(p->unstable[i], p->unstable[base]));
		if (difference->text == NULL)
			continue;
		p->different = true;
		if (difference->rounding)
			rtb_session_find(s, RTB_FOUND_DIFFERENT, i, "differs from the baseline (%s)%s",
							 difference->text, ROUNDING_PHRASE);
		else if (!difference->left_out && count_alone(p, i, base, &only_arm, &only_base))
			rtb_session_find(s, RTB_FOUND_DIFFERENT, i,
							 "differs from the baseline (%s): rows only in %s: " UINT64_FORMAT
							 ", only in %s: " UINT64_FORMAT, difference->text,
							 s->at->arms[i]->name, only_arm, s->at->arms[base]->name, only_base);
		else
			rtb_session_find(s, RTB_FOUND_DIFFERENT, i, "differs from the baseline (%s)",
							 difference->text);
	}
}

/* ---- sequences ---- */

/* what no rollback sets back on the user's own sequences */
static void
tell_advanced(Pilot *p)
{
	RtbSession *s = p->s;
	ListCell   *lc;

	foreach(lc, s->at->written)
	{
		const RtbRelation *rel = lfirst(lc);
		bool		advanced = false;

		if (rel->relkind != RELKIND_SEQUENCE || rel->scratch)
			continue;
		for (int i = 0; i < s->at->narms; i++)
		{
			int64		move = p->moves[i] ? p->moves[i][foreach_current_index(lc)] : RTB_MOVE_UNKNOWN;

			/* what is set back by TRUNCATE is so by its transaction */
			advanced |= move > 0 || move == RTB_MOVE_UNKNOWN;
		}
		if (advanced)
			rtb_session_find(s, RTB_FOUND_NOTE, -1,
							 "advances sequence %s, which no rollback sets back", rel->label);
	}
}

static void
compare_sequences(Pilot *p)
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
	const char *name = rel->scratch || rel->temporary ? quote_identifier(rel->label) : rel->name;
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
static void
suggest_check_query(Pilot *p)
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
static void
tell_empty_check(Pilot *p)
{
	RtbSession *s = p->s;
	bool		digested = false;

	if (s->at->check_mode != RTB_CHECK_QUERY)
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

/*
 * rtb_session_pilot
 *		The untimed passes at the point, and what they tell.
 */
void
rtb_session_pilot(RtbSession *s)
{
	MemoryContext old = MemoryContextSwitchTo(s->at->cxt);
	Pilot	   *p = palloc0(sizeof(Pilot));

	p->s = s;
	p->first = palloc0(sizeof(RtbCheck *) * s->at->narms);
	p->second = palloc0(sizeof(RtbCheck *) * s->at->narms);
	p->unstable = palloc0(sizeof(List *) * s->at->narms);
	p->moves = palloc0(sizeof(int64 *) * s->at->narms);
	p->counts = palloc0(sizeof(RtbCounts) * s->at->narms);
	note_preload(s);
	discover(p);
	choose_check(p);
	if (p->wrote)
		rtb_cleaning_choose(s, true);
	rtb_cleaning_announce(s);
	in_transaction(s, forecast_digests, p);
	digest_arms(p);
	compare_arms(p);
	tell_advanced(p);
	compare_sequences(p);
	tell_empty_check(p);
	suggest_check_query(p);
	MemoryContextSwitchTo(old);
}
