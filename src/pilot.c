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
#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "check.h"
#include "cleaning.h"
#include "difference.h"
#include "pilot.h"
#include "probe.h"
#include "rebuild.h"
#include "session.h"
#include "step_timer.h"
#include "written.h"

/* what a digest of the tables costs is measured on this many rows of each */
#define RTB_FORECAST_ROWS	5000
/* and so often before that is too long */
#define RTB_FORECAST_TRIES	4

#define ROUNDING_PHRASE \
	", in the last digits of floating-point values only: the order in which they are added decides, " \
	"so round them, as by round(x::numeric, 6), or add them as numeric"

/* ---- what is checked ---- */

/* a name in ignore_columns that leaves nothing out is a slip that would be looked for for long */
static void
note_ignored(RtbSession *s)
{
	Bitmapset  *found = NULL;
	ListCell   *lc;

	if (s->options.ignore_columns != NIL && s->at->check_mode != RTB_CHECK_TABLES)
		rtb_session_find(s, RTB_FOUND_NOTE, -1, "ignore_columns leaves nothing out: it is for tables, and %s",
						 s->at->check_mode == RTB_CHECK_QUERY ? "the check query decides" : "none is compared");
	/* what an arm makes may have any columns */
	if (s->at->check_mode != RTB_CHECK_TABLES || s->at->made != NIL)
		return;
	foreach(lc, s->at->written)
		found = bms_add_members(found, ((RtbRelation *) lfirst(lc))->ignored);
	foreach(lc, s->options.ignore_columns)
	{
		if (!bms_is_member(foreach_current_index(lc), found))
			rtb_session_find(s, RTB_FOUND_NOTE, -1, "ignore_columns: no table that is compared has a column %s",
							 quote_identifier(lfirst(lc)));
	}
}

static void
choose_check(RtbPilot *p)
{
	RtbSession *s = p->s;
	StringInfoData checked;
	StringInfoData unreadable;
	ListCell   *lc;

	initStringInfo(&checked);
	initStringInfo(&unreadable);
	rtb_pilot_require_check(p);
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
		if (!rtb_pilot_is_written(s, strVal(lfirst(lc))))
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
	note_ignored(s);
	s->at->check_returned = s->at->check_mode == RTB_CHECK_RETURNED || s->options.compare_returned;
	if (s->at->check_returned)
		appendStringInfo(&checked, "%sreturned rows", checked.len ? ", " : "");
	rtb_session_find(s, RTB_FOUND_CHECKED, -1, "%s", checked.data);
}

/* ---- the cost of digesting ---- */

/* each arm's rows are read twice before it is timed, and once at its end */
static bool
takes_too_long(const RtbSession *s, double seconds, int *digests)
{
	*digests = 2 * s->at->narms + s->at->narms;
	return s->options.budget_ms > 0 && seconds * *digests > s->options.budget_ms / 1000.0 / 10;
}

/* seconds that one digest of the written tables takes, from the first rows of each */
static double
digest_seconds(const RtbSession *s)
{
	double		seconds = 0;
	ListCell   *lc;

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
		query = rtb_written_query(rel, RTB_FORECAST_ROWS);
		started = rtb_clock_ns();
		s->transport->digest(query, &digest, NULL);
		spent = (rtb_clock_ns() - started) / 1e9;
		if (digest.rows > 0)
			seconds += spent * rel->tuples / digest.rows;
	}
	return seconds;
}

static void
forecast_digests(RtbPilot *p)
{
	RtbSession *s = p->s;
	double		seconds = HUGE_VAL;
	int			digests;

	if (s->at->check_mode != RTB_CHECK_TABLES)
		return;
	/* other load comes and goes: nothing is refused for what took long once */
	for (int i = 0; i < RTB_FORECAST_TRIES; i++)
	{
		seconds = Min(seconds, digest_seconds(s));
		if (!takes_too_long(s, seconds, &digests))
			return;
	}
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
		step.first_ns = rtb_step_timer_early(t, 1);
		step.second_ns = rtb_step_timer_early(t, 2);
		step.third_ns = rtb_step_timer_early(t, 3);
		step.later_ns = rtb_time_sample_median(&t->later);
		step.prepare_ns = rtb_time_sample_median(&t->prepare);
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
digested_pass(RtbPilot *p, int arm, RtbStepTimer *timers, bool with_row_hashes, bool emit)
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
note_unstable(RtbPilot *p, int arm)
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
digest_arms(RtbPilot *p)
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
count_alone(RtbPilot *p, int arm, int other, uint64 *only_arm, uint64 *only_other)
{
	RtbSession *s = p->s;
	RtbCheck   *a = digested_pass(p, arm, NULL, true, false);
	RtbCheck   *b = a ? digested_pass(p, other, NULL, true, false) : NULL;
	MemoryContext old = CurrentMemoryContext;

	if (a == NULL || b == NULL)
		return false;
	s->transport->begin(NULL);
	rtb_check_count_alone(a, b, only_arm, only_other);
	s->transport->rollback();
	MemoryContextSwitchTo(old);
	rtb_check_free(a);
	rtb_check_free(b);
	return true;
}

static void
compare_arms(RtbPilot *p)
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

/*
 * The check query's rows before any arm ran, and a forecast from its time; in
 * a transaction of its own.
 */
static void
check_untouched(RtbPilot *p)
{
	RtbSession *s = p->s;
	int64		started = rtb_clock_ns();
	double		seconds;
	int			digests;

	if (s->at->check_mode != RTB_CHECK_QUERY)
		return;
	p->untouched = rtb_check_create(s->at->cxt);
	rtb_check_take(s, p->untouched, false, false);
	rtb_check_finish(p->untouched);
	seconds = (rtb_clock_ns() - started) / 1e9;
	if (takes_too_long(s, seconds, &digests))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("running the check query would take too long"),
				 errdetail("It runs %d times, and took %.2g s: more than a tenth of max_time is forecast.",
						   digests, seconds),
				 errhint("Let it read only what the arms change, or raise max_time.")));
}

/*
 * rtb_session_pilot
 *		The untimed passes at the point, and what they tell.
 */
void
rtb_session_pilot(RtbSession *s)
{
	MemoryContext old = MemoryContextSwitchTo(s->at->cxt);
	RtbPilot   *p = palloc0(sizeof(RtbPilot));

	p->s = s;
	p->first = palloc0(sizeof(RtbCheck *) * s->at->narms);
	p->second = palloc0(sizeof(RtbCheck *) * s->at->narms);
	p->unstable = palloc0(sizeof(List *) * s->at->narms);
	p->moves = palloc0(sizeof(int64 *) * s->at->narms);
	p->counts = palloc0(sizeof(RtbCounts) * s->at->narms);
	rtb_pilot_note_preload(s);
	rtb_pilot_discover(p);
	/* what is read next is to be as it was before any arm ran */
	rtb_rebuild_if_dirty(s);
	choose_check(p);
	if (p->wrote)
		rtb_cleaning_choose(s, true);
	rtb_cleaning_announce(s);
	rtb_pilot_in_transaction(s, forecast_digests, p);
	rtb_pilot_in_transaction(s, check_untouched, p);
	digest_arms(p);
	compare_arms(p);
	rtb_pilot_tell_advanced(p);
	rtb_pilot_tell_distance(s);
	rtb_pilot_compare_sequences(p);
	rtb_pilot_tell_empty_check(p);
	rtb_pilot_tell_blind_check(p);
	rtb_pilot_suggest_check_query(p);
	rtb_rebuild_if_dirty(s);
	MemoryContextSwitchTo(old);
}
