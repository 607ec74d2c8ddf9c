/*
 * judge.c
 *	  From a run's raw passes to one result for each point and arm.
 *
 * A pure function of the run: it reads neither catalogs nor clock, so the
 * same passes give the same verdicts, from memory or from the tables.
 *
 * Memory: everything is palloc'd in the current context; texts may be shared
 * with the run.
 */
#include "postgres.h"

#include "judge.h"

#include <math.h>

#include "cell.h"
#include "miscadmin.h"
#include "stats.h"

/* the error that all comparisons of a run share at most */
#define FAMILY_ALPHA	0.05

/* z of 80 % power: a difference is seen 8 times in 10 */
#define POWER_Z			0.8416212335729143

typedef struct Judge
{
	const RtbRun *run;
	int64		comparisons;
	double		alpha;			/* corrected for them */
	double		empty_statement_ns;
} Judge;

/* two digits, and never as a power of ten */
static char *
percent(double share)
{
	return psprintf(share < 0.1 ? "%.2g%%" : "%.0f%%", 100 * share);
}

/*
 * Ratio from its units on the log scale: Hodges-Lehmann and the signed-rank
 * interval, at the corrected level if so many units reach it, else at the
 * plain one, else none.
 */
static RtbRatio
ratio_of_units(const Judge *judge, const double *units, int n)
{
	RtbRatio	ratio = {n, NAN, NAN, NAN, NAN, true};
	double		alpha = judge->alpha;
	double		low;
	double		high;

	if (n == 0)
		return ratio;
	ratio.estimate = exp(rtb_hodges_lehmann(units, n));
	if (rtb_signed_rank_critical(n, alpha) == RTB_NO_CRITICAL)
	{
		alpha = RTB_ALPHA;
		ratio.corrected = false;
	}
	if (rtb_signed_rank_interval(units, n, alpha, &low, &high))
	{
		ratio.low = exp(low);
		ratio.high = exp(high);
		ratio.level = 1 - alpha;
	}
	return ratio;
}

/* ---- words ---- */

static bool
excludes_one(const RtbRatio *ratio)
{
	return ratio->low > 1 || ratio->high < 1;	/* false for NaN */
}

/* the verdict on a ratio that may be judged; margin 0.02 is 2 % */
static char *
word_for(const RtbRatio *ratio, double margin)
{
	if (isnan(ratio->level))
		return "more rounds needed";
	if (ratio->low > 1 + margin)
		return "faster";
	if (ratio->high < 1 / (1 + margin))
		return "slower";
	if (ratio->low >= 1 / (1 + margin) && ratio->high <= 1 + margin)
		return psprintf("same within %g%%", 100 * margin);
	if (ratio->low > 1)
		return "slightly faster";
	if (ratio->high < 1)
		return "slightly slower";
	return "no difference detected";
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

/* ---- notes ---- */

static List *
note(List *notes, char *text)
{
	return lappend(notes, text);
}

static char *
join(List *phrases)
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

static char *
failure_note(const RtbPass *pass)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "%s: %s", pass->sqlstate,
					 pass->message ? pass->message : "no message");
	if (pass->failed_step > 0)
		appendStringInfo(&buf, ", in step %d", pass->failed_step);
	if (pass->failed_statement > 0)
		appendStringInfo(&buf, ", statement " INT64_FORMAT, pass->failed_statement);
	return buf.data;
}

static List *
finding_notes(const RtbCell *cell, RtbFindingKind kind)
{
	List	   *notes = NIL;
	ListCell   *lc;

	foreach(lc, cell->run->findings)
	{
		RtbFinding *finding = lfirst(lc);

		if (finding->kind == kind && rtb_cell_finding(cell, finding))
			notes = note(notes, finding->detail);
	}
	return notes;
}

static int64
loop_queries_of(const RtbPass *pass)
{
	return pass->loop_queries;
}

/* what the passes' work says beside the columns */
static List *
work_notes(const RtbCell *cell)
{
	List	   *notes = NIL;
	int64		loop_queries = rtb_cell_count(cell, loop_queries_of);
	const RtbPass *pass;

	if (cell->timed == NIL || cell->failed)
		return NIL;
	if (loop_queries > 0)
		notes = note(notes, psprintf("loop queries " INT64_FORMAT, loop_queries));
	pass = linitial(cell->timed);
	if (pass->fired_shape && pass->fired_shape[0] != '\0')
		notes = note(notes, psprintf("fired: %s", pass->fired_shape));
	return list_concat(notes, cell->notes);
}

/* passes far from the others, and a total that says the opposite of the ratio */
static List *
outlier_notes(const RtbCell *baseline, const RtbCell *cell, const RtbResult *result)
{
	int			n = list_length(cell->timed);
	double	   *times = palloc(Max(n, 1) * sizeof(double));
	double		total = rtb_cell_total_ratio(baseline, cell);
	int			outliers;
	bool		opposed;
	List	   *notes = NIL;
	ListCell   *lc;

	foreach(lc, cell->timed)
		times[foreach_current_index(lc)] = ((RtbPass *) lfirst(lc))->elapsed_ns;
	outliers = rtb_outliers(times, n);
	opposed = (total - 1) * (result->speedup.estimate - 1) < 0;
	if (outliers > 0)
		notes = note(notes, psprintf("%d of %d passes beyond Q3 + 3 IQR", outliers, n));
	if (cell != baseline && !isnan(result->speedup.estimate) && !isnan(total) &&
		(opposed || outliers > 0))
		notes = note(notes, psprintf("ratio of total times %.4g%s", total,
									 opposed ? psprintf(", where the speedup is %.4g",
														result->speedup.estimate) : ""));
	return notes;
}

/* what belongs to a verdict on a ratio */
static List *
ratio_notes(const Judge *judge, const RtbResult *result, bool sessions)
{
	const RtbRatio *ratio = &result->speedup;
	const RtbRatio *cpu = &result->cpu_speedup;
	List	   *notes = NIL;

	if (isnan(ratio->level))
	{
		int			needed = rtb_judge_needed(RTB_ALPHA);

		notes = note(notes, psprintf("an interval at %g%% needs at least %d %s, and there are %d",
									 100 * (1 - RTB_ALPHA), needed,
									 sessions ? "sessions" : "rounds", ratio->units));
	}
	else if (!ratio->corrected)
		notes = note(notes, "level not corrected");
	if (strcmp(result->verdict, "no difference detected") == 0)
		notes = note(notes, psprintf("a difference of %s or more would have been seen 8 times in 10",
									 percent(detectable(ratio))));
	if (excludes_one(cpu) && !excludes_one(ratio))
		notes = note(notes, psprintf("only CPU time resolves a difference: speedup %.3f (%.3f to %.3f)",
									 cpu->estimate, cpu->low, cpu->high));
	return notes;
}

/* ---- one arm at one point ---- */

static const RtbRatio no_ratio = {0, NAN, NAN, NAN, NAN, true};

static RtbResult *
judge_cell(const Judge *judge, const RtbCell *baseline, const RtbCell *cell, char *effect)
{
	RtbResult  *result = palloc0(sizeof(RtbResult));
	List	   *reasons = list_copy(cell->reasons);
	List	   *notes = NIL;
	bool		sessions;
	bool		cpu_sessions;
	double	   *units;
	int			n;

	result->has_point = cell->has_point;
	result->point = cell->point;
	result->arm = cell->arm;
	result->comparisons = judge->comparisons;
	result->speedup = result->cpu_speedup = no_ratio;
	rtb_cell_figures(cell, RTB_ALPHA, result);
	result->checked = join(finding_notes(cell, RTB_FOUND_CHECKED));

	if (cell != baseline && !cell->failed)
		reasons = list_concat(reasons, rtb_cells_differ(baseline, cell));
	if (cell->failed)
	{
		result->verdict = "failed";
		notes = note(notes, failure_note(cell->failed));
	}
	else if (reasons)
	{
		result->verdict = "not comparable";
		notes = reasons;
	}
	else if (cell == baseline)
	{
		result->verdict = "baseline";
		result->speedup.estimate = 1;
		notes = outlier_notes(baseline, cell, result);
	}
	else
	{
		n = rtb_cell_units(baseline, cell, false, &units, &sessions);
		result->speedup = ratio_of_units(judge, units, n);
		n = rtb_cell_units(baseline, cell, true, &units, &cpu_sessions);
		result->cpu_speedup = ratio_of_units(judge, units, n);
		result->verdict = word_for(&result->speedup, judge->run->margin);
		notes = ratio_notes(judge, result, sessions);
		notes = list_concat(notes, outlier_notes(baseline, cell, result));
	}
	if (effect)
		notes = note(notes, effect);
	notes = list_concat(notes, finding_notes(cell, RTB_FOUND_NOTE));
	notes = list_concat(notes, work_notes(cell));
	result->notes = join(notes);
	return result;
}

/* ---- all arms at one point ---- */

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
 * A phrase about an arm that did nothing, beside what the others did: where
 * nobody touched a row equal digests prove nothing.
 */
static char *
effect_note(List *cells, const RtbCell *cell)
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

static List *
judge_point(const Judge *judge, bool has_point, int64 point)
{
	List	   *cells = NIL;
	List	   *results = NIL;
	RtbCell    *baseline;
	ListCell   *lc;

	CHECK_FOR_INTERRUPTS();
	for (int arm = 0; arm < list_length(judge->run->arms); arm++)
	{
		RtbCell    *cell = rtb_cell_collect(judge->run, has_point, point, arm);

		rtb_cell_check(cell, judge->empty_statement_ns);
		cells = lappend(cells, cell);
	}
	baseline = list_nth(cells, judge->run->baseline);
	foreach(lc, cells)
		results = lappend(results, judge_cell(judge, baseline, lfirst(lc),
											  effect_note(cells, lfirst(lc))));
	return results;
}

/* verdicts that are read together */
static int64
comparisons_of(const RtbRun *run)
{
	return (int64) (list_length(run->arms) - 1) * Max(list_length(run->points), 1);
}

/*
 * rtb_judge_alpha
 *		1 - level, corrected over the comparisons that are read together.
 */
double
rtb_judge_alpha(const RtbRun *run)
{
	int64		comparisons = comparisons_of(run);

	return comparisons == 0 ? RTB_ALPHA : Min(RTB_ALPHA, FAMILY_ALPHA / comparisons);
}

/*
 * rtb_judge_needed
 *		The smallest number of units that gives an interval at 1 - alpha.
 */
int
rtb_judge_needed(double alpha)
{
	int			n = 1;

	while (rtb_signed_rank_critical(n, alpha) == RTB_NO_CRITICAL)
		n++;
	return n;
}

/*
 * Judge a run: list of RtbResult *, for each point in the run's order each
 * arm in the run's order, also those that were not measured or failed.
 * palloc'd in the current context; throws nothing but cancellation.
 */
List *
rtb_judge(const RtbRun *run)
{
	Judge		judge;
	List	   *results = NIL;
	ListCell   *lc;

	judge.run = run;
	judge.empty_statement_ns = rtb_run_empty_statement_ns(run);
	judge.comparisons = comparisons_of(run);
	judge.alpha = rtb_judge_alpha(run);
	if (run->points == NIL)
		return judge_point(&judge, false, 0);
	foreach(lc, run->points)
		results = list_concat(results, judge_point(&judge, true, *(int64 *) lfirst(lc)));
	return results;
}
