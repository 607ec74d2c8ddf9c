/*
 * notes.c
 *	  What stands in the column notes: phrases about passes, units and ratios.
 *
 * Memory: phrases and lists are palloc'd in the current context; texts may be
 * shared with the run.
 */
#include "postgres.h"

#include "notes.h"

#include <math.h>

#include "estimate.h"
#include "lib/stringinfo.h"
#include "stats.h"

/* z of 80 % power: a difference is seen 8 times in 10 */
#define POWER_Z			0.8416212335729143

/* a ratio that drifts is said at this level of Kendall's tau */
#define DRIFT_ALPHA		0.01

/* A share as percent: two digits, and never as a power of ten. */
char *
rtb_notes_percent(double share)
{
	return psprintf(share < 0.1 ? "%.2g%%" : "%.0f%%", 100 * share);
}

/* Phrases in a row, NULL of none. */
char *
rtb_notes_join(List *phrases)
{
	StringInfoData buf;
	ListCell   *lc;

	if (phrases == NIL)
		return NULL;
	initStringInfo(&buf);
	foreach(lc, phrases)
		appendStringInfo(&buf, "%s%s", buf.len > 0 ? "; " : "", (char *) lfirst(lc));
	return buf.data;
}

/* ---- passes ---- */

/* How an arm failed. */
char *
rtb_notes_failure(const RtbPass *pass)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "%s: %s", pass->sqlstate,
					 pass->message ? pass->message : "no message");
	/* each open subtransaction that has written takes an entry */
	if (strcmp(pass->sqlstate, "53200") == 0)
		appendStringInfoString(&buf, " (a ceiling, set by max_locks_per_transaction)");
	if (pass->failed_step > 0)
		appendStringInfo(&buf, ", in step %d", pass->failed_step);
	if (pass->failed_statement > 0)
		appendStringInfo(&buf, ", statement " INT64_FORMAT, pass->failed_statement);
	/* before the rounds every arm is tried: only later it tells which batch it was */
	if (pass->round > 0)
		appendStringInfo(&buf, ", in round %d of session %d", pass->round, pass->session);
	return buf.data;
}

/* Findings of a kind about an arm at a point. */
List *
rtb_notes_findings(const RtbCell *cell, RtbFindingKind kind)
{
	List	   *notes = NIL;
	ListCell   *lc;

	foreach(lc, cell->run->findings)
	{
		RtbFinding *finding = lfirst(lc);

		if (finding->kind == kind && rtb_cell_finding(cell, finding))
			notes = lappend(notes, finding->detail);
	}
	return notes;
}

static int64
loop_queries_of(const RtbPass *pass)
{
	return pass->loop_queries;
}

/* What the passes' work says beside the columns. */
List *
rtb_notes_work(const RtbCell *cell)
{
	List	   *notes = NIL;
	int64		loop_queries = rtb_cell_count(cell, loop_queries_of);
	const RtbPass *pass;
	char	   *cores;

	if (cell->timed == NIL || cell->failed)
		return NIL;
	cores = rtb_notes_cores(cell);
	if (cores != NULL)
		notes = lappend(notes, cores);
	if (loop_queries > 0)
		notes = lappend(notes, psprintf("loop queries " INT64_FORMAT, loop_queries));
	pass = rtb_cell_counted(cell);
	if (pass && pass->fired_shape && pass->fired_shape[0] != '\0')
		notes = lappend(notes, psprintf("fired: %s", pass->fired_shape));
	if (pass && pass->subxact_overflowed > 0)
		notes = lappend(notes, "more than 64 subtransactions in a transaction: what they cost other sessions is not measured here (rtbench.run_load() can)");
	return list_concat(notes, cell->notes);
}

/* Passes far from the others, and a total that says the opposite of the ratio. */
List *
rtb_notes_outliers(const RtbCell *baseline, const RtbCell *cell, const RtbRatio *speedup)
{
	int			n = list_length(cell->timed);
	double	   *times = palloc(Max(n, 1) * sizeof(double));
	double		total = rtb_units_total_ratio(baseline, cell);
	int			outliers;
	bool		opposed;
	List	   *notes = NIL;
	ListCell   *lc;

	foreach(lc, cell->timed)
		times[foreach_current_index(lc)] = ((RtbPass *) lfirst(lc))->elapsed_ns;
	outliers = rtb_outliers(times, n);
	opposed = (total - 1) * (speedup->estimate - 1) < 0;
	if (outliers > 0)
		notes = lappend(notes, psprintf("%d of %d passes beyond Q3 + 3 IQR", outliers, n));
	if (cell != baseline && !isnan(speedup->estimate) && !isnan(total) &&
		(opposed || outliers > 0))
		notes = lappend(notes, psprintf("ratio of total times %.4g%s", total,
										opposed ? psprintf(", where the speedup is %.4g",
														   speedup->estimate) : ""));
	return notes;
}

static int64
rows_of(const RtbPass *pass)
{
	return pass->rows;
}

static int64
xids_of(const RtbPass *pass)
{
	return pass->xids;
}

static int64
wal_records_of(const RtbPass *pass)
{
	return pass->wal_records;
}

/* how many rows an arm returned or affected, if a pass of it was timed */
static bool
rows_known(const RtbCell *cell, int64 *rows)
{
	*rows = cell->failed ? RTB_UNKNOWN : rtb_cell_count(cell, rows_of);
	return *rows != RTB_UNKNOWN;
}

/*
 * A phrase about an arm that did nothing, beside what the others did; NULL if
 * there is nothing to say.  Where nobody touched a row equal digests prove
 * nothing.
 */
char *
rtb_notes_effect(List *cells, const RtbCell *cell)
{
	bool		unknown = false;
	int64		most = 0;
	int64		rows;
	ListCell   *lc;

	if (!rows_known(cell, &rows) || rows > 0)
		return NULL;
	foreach(lc, cells)
	{
		const RtbCell *other = lfirst(lc);

		if (rows_known(other, &rows))
			most = Max(most, rows);
		else if (!other->failed && other->timed)
			unknown = true;
	}
	/* without rows a transaction id tells of TRUNCATE and the like; what is done before may get it */
	if (most > 0 && (rtb_cell_count(cell, xids_of) <= 0 || rtb_cell_count(cell, wal_records_of) == 0))
		return psprintf("did nothing: no rows, where others have " INT64_FORMAT, most);
	if (most == 0 && !unknown)
		return "no rows affected";
	return NULL;
}

/* ---- units ---- */

static const char *
units_name(const RtbUnits *units)
{
	return units->sessions ? "sessions" : "rounds";
}

/* a ratio that changes while it is measured: Kendall's tau against the order */
static char *
drift(const RtbUnits *units)
{
	double	   *order = palloc(Max(units->n, 1) * sizeof(double));
	int			half = units->n / 2;
	double		p_value;

	for (int i = 0; i < units->n; i++)
		order[i] = i;
	rtb_kendall(order, units->d, units->n, &p_value);
	if (!(p_value < DRIFT_ALPHA))
		return NULL;
	return psprintf("ratio drifts: %.4g in the first half of the %s, %.4g in the second",
					exp(rtb_hodges_lehmann(units->d, half)), units_name(units),
					exp(rtb_hodges_lehmann(units->d + units->n - half, half)));
}

/* What the units say beside their ratio: too few, correlated, drifting. */
List *
rtb_notes_units(const RtbUnits *units, const RtbRatio *ratio)
{
	List	   *notes = NIL;
	char	   *drifts = drift(units);

	if (units->session > 0)
		notes = lappend(notes, psprintf("%d sessions are too few for an interval: the rounds of session %d are compared",
										units->all_sessions, units->session));
	if (isnan(ratio->level))
		notes = lappend(notes, psprintf("an interval at %g%% needs at least %d %s, and there are %d",
										100 * (1 - RTB_ALPHA), rtb_judge_needed(RTB_ALPHA),
										units_name(units), ratio->units));
	else if (!ratio->corrected)
		notes = lappend(notes, "level not corrected");
	if (!isnan(ratio->autocorrelation))
		notes = lappend(notes, psprintf("%s are correlated (%.2f from one to the next): %s",
										units_name(units), ratio->autocorrelation,
										ratio->averaged ? "neighbouring pairs are averaged" :
										"the interval is widened"));
	if (drifts)
		notes = lappend(notes, drifts);
	return notes;
}

/*
 * The difference that would have been found with 80 % power by an interval of
 * this width: z(alpha/2) standard errors are half of it, and it takes
 * z(alpha/2) + z(0.2) of them (1.33 halves at 99 %, 1.43 at 95 %).
 */
static double
detectable(const RtbRatio *ratio)
{
	double		half = (log(ratio->high) - log(ratio->low)) / 2;

	return expm1(half * (1 + POWER_Z / rtb_normal_quantile((1 - ratio->level) / 2)));
}

static bool
excludes_one(const RtbRatio *ratio)
{
	return ratio->low > 1 || ratio->high < 1;	/* false for NaN */
}

/* What belongs to a verdict on a ratio. */
List *
rtb_notes_verdict(const RtbResult *result)
{
	const RtbRatio *ratio = &result->speedup;
	const RtbRatio *cpu = &result->cpu_speedup;
	List	   *notes = NIL;

	if (strcmp(result->verdict, "no difference detected") == 0)
		notes = lappend(notes, psprintf("a difference of %s or more would have been seen 8 times in 10",
										rtb_notes_percent(detectable(ratio))));
	if (excludes_one(cpu) && !excludes_one(ratio))
		notes = lappend(notes, psprintf("only CPU time resolves a difference: speedup %.3f (%.3f to %.3f)",
										cpu->estimate, cpu->low, cpu->high));
	return notes;
}

/*
 * Does it matter which of both ran first in a round?  Mirror pairs balance
 * that, so it does not move the speedup; but it is a reason to distrust the
 * bench.
 */
List *
rtb_notes_order(const RtbCell *baseline, const RtbCell *cell, double alpha, double margin)
{
	double		first;
	double		last;
	RtbUnits	units = rtb_units_order(baseline, cell, &first, &last);
	RtbEstimate effect = rtb_estimate(units.d, units.n, alpha);

	if (!(effect.low > 0 || effect.high < 0) || fabs(effect.value) <= log1p(margin))
		return NIL;
	return list_make1(psprintf("order effect: the speedup is %.4g where the baseline ran before the arm, %.4g where it ran after it",
							   exp(first), exp(last)));
}
