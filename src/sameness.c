/*
 * sameness.c
 *	  Do an arm's passes count?  Same rows, same work, possible times.
 *
 * Reasons are phrases for the column notes.  A cell with one is not
 * comparable, whatever its times say.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "cell.h"

#include <math.h>

/* a pass may beat the smallest price of its statements by this factor at most */
#define POSSIBLE	0.8
/* the same of round trips, which cost up to four times as much where both ends run on two cores as on one */
#define POSSIBLE_SENT	0.2

/* "in round 3", with the session where there are several */
static char *
place_of(const RtbPass *pass)
{
	if (pass->round == 0)
		return psprintf("in an untimed pass of session %d", pass->session);
	return psprintf("in round %d%s", pass->round,
					pass->session > 1 ? psprintf(" of session %d", pass->session) : "");
}

/* ---- the work done ---- */

/*
 * A count that must be equal in all timed passes: a phrase saying what
 * changed, from what to what; NULL if nothing did.  Unknown counts are left out.
 */
static char *
count_changed(const RtbCell *cell, const char *name, size_t offset)
{
	const RtbPass *first = NULL;
	ListCell   *lc;

	foreach(lc, cell->measured)
	{
		const RtbPass *pass = lfirst(lc);
		int64		value = *(const int64 *) ((const char *) pass + offset);
		int64		expected;

		if (value == RTB_UNKNOWN)
			continue;
		if (first == NULL)
			first = pass;
		expected = *(const int64 *) ((const char *) first + offset);
		if (value != expected)
			return psprintf("%s changed from " INT64_FORMAT " %s to " INT64_FORMAT " %s",
							name, expected, place_of(first), value, place_of(pass));
	}
	return NULL;
}

/* the same for texts */
static char *
text_changed(const List *passes, const char *name, size_t offset)
{
	const RtbPass *first = NULL;
	ListCell   *lc;

	foreach(lc, passes)
	{
		const RtbPass *pass = lfirst(lc);
		const char *value = *(char *const *) ((const char *) pass + offset);
		const char *expected;

		if (value == NULL)
			continue;
		if (first == NULL)
			first = pass;
		expected = *(char *const *) ((const char *) first + offset);
		if (strcmp(value, expected) != 0)
			return psprintf("%s changed from %s %s to %s %s",
							name, expected[0] ? expected : "none", place_of(first),
							value[0] ? value : "none", place_of(pass));
	}
	return NULL;
}

/* did a pass run before another? */
static bool
ran_before(const RtbPass *pass, const RtbPass *other)
{
	return pass->session != other->session ? pass->session < other->session :
		pass->round < other->round;
}

/*
 * WAL records.  Equal work does not write equally many: pruned pages, index
 * clean-up, page splits and a sequence's read-ahead come and go, and a full
 * page image may be a record of its own (a hint bit set after a checkpoint).
 * So passes are told apart by what none of these explains:
 *
 * - each full-page image may be one record too many;
 * - a pass that was given no transaction id wrote no row, only housekeeping;
 * - an update whose page has no room left writes an entry in every index, and
 *   marks the old row apart: three records or more for one.  With the same
 *   number of updates, fewer of them HOT, it is where dead rows lie that changed;
 * - housekeeping is a matter of pages, few beside the records of rows: 8
 *   records and one in twenty are left to it (rolled-back passes of INSERT and
 *   UPDATE without a VACUUM between them stayed within 3 %).
 *
 * What is left to housekeeping is a note; what is more is changed work.
 */
static void
check_wal(RtbCell *cell)
{
	const RtbPass *most = NULL;
	const RtbPass *least = NULL;
	int64		most_rows = 0;
	bool		wrote = false;
	bool		housekeeping;
	bool		moved;
	char	   *explained = "clean-up by the server";
	ListCell   *lc;

	foreach(lc, cell->measured)
	{
		const RtbPass *pass = lfirst(lc);
		int64		rows;

		if (pass->wal_records == RTB_UNKNOWN)
			return;
		rows = pass->wal_records - Max(pass->wal_fpi, 0);
		if (most == NULL || rows > most_rows)
		{
			most = pass;
			most_rows = rows;
		}
		if (least == NULL || pass->wal_records < least->wal_records)
			least = pass;
		wrote |= pass->xids != 0;
	}
	if (most == NULL || most_rows <= least->wal_records)
		return;
	housekeeping = !wrote || most_rows - least->wal_records <= 8 + least->wal_records / 20;
	moved = !housekeeping && most->updates == least->updates &&
		most->hot_updates != RTB_UNKNOWN && most->hot_updates < least->hot_updates;
	if (moved)
		explained = psprintf("HOT updates from " INT64_FORMAT " to " INT64_FORMAT,
							 least->hot_updates, most->hot_updates);
	if (housekeeping || moved)
		cell->notes = lappend(cell->notes,
							  psprintf("WAL records vary from " INT64_FORMAT " to " INT64_FORMAT
									   " (%s)",
									   least->wal_records, most->wal_records, explained));
	else
	{
		const RtbPass *from = ran_before(most, least) ? most : least;
		const RtbPass *to = from == most ? least : most;

		cell->reasons = lappend(cell->reasons,
								psprintf("WAL records changed from " INT64_FORMAT " %s to " INT64_FORMAT " %s",
										 from->wal_records, place_of(from),
										 to->wal_records, place_of(to)));
	}
}

/* a pass that was not timed beside the timed ones */
static char *
count_unlike(const RtbPass *pass, const RtbPass *timed, const char *name, size_t offset)
{
	int64		expected = *(const int64 *) ((const char *) pass + offset);
	int64		value = *(const int64 *) ((const char *) timed + offset);

	if (pass->round != 0 || value == RTB_UNKNOWN || expected == RTB_UNKNOWN || value == expected)
		return NULL;
	return psprintf("%s changed from " INT64_FORMAT " %s to " INT64_FORMAT " %s",
					name, expected, place_of(pass), value, place_of(timed));
}

/*
 * The same of the very first pass, whose tables are those that are digested,
 * and of the untimed passes that were digested beside the timed ones, which
 * may all have had nothing left to do.
 */
static char *
count_unlike_untimed(const RtbCell *cell, const char *name, size_t offset)
{
	const RtbPass *timed = linitial(cell->measured);
	char	   *unlike = cell->first ? count_unlike(cell->first, timed, name, offset) : NULL;
	ListCell   *lc;

	foreach(lc, cell->digested)
	{
		if (unlike == NULL)
			unlike = count_unlike(lfirst(lc), timed, name, offset);
	}
	return unlike;
}

static void
add_reason(RtbCell *cell, char *reason)
{
	if (reason)
		cell->reasons = lappend(cell->reasons, reason);
}

static void
check_work(RtbCell *cell)
{
	static const struct
	{
		const char *name;
		size_t		offset;
	}			counts[] = {
		{"round trips", offsetof(RtbPass, round_trips)},
		{"statements", offsetof(RtbPass, statements)},
		{"fired", offsetof(RtbPass, fired)},
		{"loop queries", offsetof(RtbPass, loop_queries)},
		{"rows", offsetof(RtbPass, rows)},
		{"transactions", offsetof(RtbPass, transactions)}
	};
	char	   *plannings;

	for (int i = 0; i < lengthof(counts); i++)
	{
		char	   *changed = count_changed(cell, counts[i].name, counts[i].offset);

		add_reason(cell, changed ? changed :
				   count_unlike_untimed(cell, counts[i].name, counts[i].offset));
	}
	check_wal(cell);
	add_reason(cell, text_changed(cell->measured, "plan shape", offsetof(RtbPass, plan_shape)));
	add_reason(cell, text_changed(cell->measured, "fired plan shape", offsetof(RtbPass, fired_shape)));

	plannings = count_changed(cell, "plannings", offsetof(RtbPass, plannings));
	if (plannings)
		cell->notes = lappend(cell->notes, plannings);
}

/* ---- times ---- */

/*
 * What a pass asked for, each of which has at least the price of an empty
 * statement: over a connection messages, but for BEGIN and COMMIT, which may
 * stand outside of the clock.
 */
static int64
askings_of(const RtbPass *pass, const char **name, double *possible)
{
	bool		sent = pass->bytes_sent != RTB_UNKNOWN;

	*name = sent ? "round trips" : "statements";
	*possible = sent ? POSSIBLE_SENT : POSSIBLE;
	return sent ? pass->round_trips - 2 : pass->statements;
}

/*
 * rtb_pass_impossible
 *		Did the pass take less time than so many empty statements do?
 */
bool
rtb_pass_impossible(const RtbPass *pass, double empty_statement_ns)
{
	const char *name;
	double		possible;
	int64		askings = askings_of(pass, &name, &possible);

	return askings > 0 && pass->elapsed_ns != RTB_UNKNOWN &&
		pass->elapsed_ns < possible * askings * empty_statement_ns;
}

static void
check_times(RtbCell *cell, double empty_statement_ns)
{
	ListCell   *lc;

	foreach(lc, cell->measured)
	{
		const RtbPass *pass = lfirst(lc);

		if (pass->below_resolution || pass->elapsed_ns == 0)
		{
			add_reason(cell, psprintf("below resolution: a pass takes " INT64_FORMAT " ns %s",
									  pass->elapsed_ns, place_of(pass)));
			break;
		}
	}
	if (isnan(empty_statement_ns))
		return;
	foreach(lc, cell->measured)
	{
		const RtbPass *pass = lfirst(lc);

		if (rtb_pass_impossible(pass, empty_statement_ns))
		{
			const char *name;
			double		possible;
			int64		askings = askings_of(pass, &name, &possible);

			add_reason(cell, psprintf("impossible: %.1f us for " INT64_FORMAT
									  " %s %s, where an empty one costs at least %.2f us",
									  pass->elapsed_ns / 1000.0, askings, name,
									  place_of(pass), empty_statement_ns / 1000));
			break;
		}
	}
}

/* ---- rows ---- */

/* the digest of a pass before the timed ones, or of the last; NULL if there is none */
static const char *
digest_of(const RtbCell *cell, bool last)
{
	ListCell   *lc;

	foreach(lc, cell->digested)
	{
		const RtbPass *pass = lfirst(lc);

		if ((pass->kind == RTB_PASS_LAST || pass->kind == RTB_PASS_CLOSING) == last)
			return pass->digest;
	}
	return NULL;
}

static bool
add_findings(RtbCell *cell, RtbFindingKind kind)
{
	bool		found = false;
	ListCell   *lc;

	foreach(lc, cell->run->findings)
	{
		const RtbFinding *finding = lfirst(lc);

		if (finding->kind != kind || !rtb_cell_finding(cell, finding))
			continue;
		add_reason(cell, finding->detail);
		found = true;
	}
	return found;
}

static void
check_rows(RtbCell *cell, bool ended)
{
	bool		explained;

	explained = add_findings(cell, RTB_FOUND_UNREADABLE);
	explained |= add_findings(cell, RTB_FOUND_UNSTABLE);
	if (explained)
		return;
	add_reason(cell, text_changed(cell->digested, "digest", offsetof(RtbPass, digest)));
	if (cell->digested == NIL)
		add_reason(cell, "what it does was not digested");
	else if (digest_of(cell, false) == NULL)
		add_reason(cell, "what it does was not digested before the timed passes");
	else if (ended && digest_of(cell, true) == NULL)
		add_reason(cell, "what it does was not digested after the timed passes");
}

/*
 * Find out whether a cell's passes count, by themselves: reasons and notes
 * are added to the cell.  empty_statement_ns is the smallest price of an
 * empty statement, NaN if it is not known; ended: there are no more
 * passes to come, so that the last ones must have been digested.
 */
void
rtb_cell_check(RtbCell *cell, double empty_statement_ns, bool ended)
{
	if (cell->failed)
		return;
	if (cell->timed == NIL)
	{
		add_reason(cell, "not measured");
		add_findings(cell, RTB_FOUND_UNREADABLE);
		add_findings(cell, RTB_FOUND_UNSTABLE);
		return;
	}
	check_rows(cell, ended);
	check_work(cell);
	check_times(cell, empty_statement_ns);
}

static bool
is_unstable(const RtbCell *cell)
{
	ListCell   *lc;

	foreach(lc, cell->run->findings)
	{
		const RtbFinding *finding = lfirst(lc);

		if (finding->kind == RTB_FOUND_UNSTABLE && rtb_cell_finding(cell, finding))
			return true;
	}
	return false;
}

/*
 * Why an arm cannot be compared with the baseline although it may agree with
 * itself: list of char *, NIL if it can.
 */
List *
rtb_cells_differ(const RtbCell *baseline, const RtbCell *arm)
{
	const char *name = list_nth(baseline->run->arms, baseline->arm);
	const char *mine = digest_of(arm, false);
	const char *other = digest_of(baseline, false);
	List	   *reasons = NIL;
	ListCell   *lc;

	if (baseline->failed)
		return list_make1(psprintf("the baseline \"%s\" failed here", name));
	foreach(lc, arm->run->findings)
	{
		const RtbFinding *finding = lfirst(lc);

		if (finding->kind == RTB_FOUND_DIFFERENT && rtb_cell_finding(arm, finding))
			reasons = lappend(reasons, finding->detail);
	}
	/* what does not even agree with itself is told so already */
	if (reasons == NIL && mine && other && strcmp(mine, other) != 0 &&
		!is_unstable(arm) && !is_unstable(baseline))
		reasons = list_make1(psprintf("digest %s differs from %s of the baseline", mine, other));
	if (baseline->reasons)
		reasons = lappend(reasons, psprintf("the baseline \"%s\" is not comparable: %s", name,
											(char *) linitial(baseline->reasons)));
	return reasons;
}
