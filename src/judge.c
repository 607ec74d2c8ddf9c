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
#include "estimate.h"
#include "miscadmin.h"
#include "notes.h"
#include "stats.h"
#include "units.h"

/* the error that all comparisons of a run share at most */
#define FAMILY_ALPHA	0.05

typedef struct Judge
{
	const RtbRun *run;
	int64		comparisons;
	double		alpha;			/* corrected for them */
	double		empty_statement_ns;
} Judge;

/* a ratio from its units on the log scale */
static RtbRatio
ratio_of_units(const Judge *judge, const RtbUnits *units)
{
	RtbEstimate e = rtb_estimate(units->d, units->n, judge->alpha);

	return (RtbRatio) {e.units, exp(e.value), exp(e.low), exp(e.high), e.level, e.corrected,
					   e.autocorrelation, e.averaged};
}

/* ---- words ---- */

/*
 * rtb_judge_word
 *		The verdict on a ratio that may be judged; margin 0.02 is 2 %.
 */
char *
rtb_judge_word(const RtbRatio *ratio, double margin)
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

/* ---- the baseline beside itself ---- */

/*
 * What the control says at a point: a phrase for the baseline's notes.  Where
 * the interval of A'/A excludes 1, whatever disturbs the baseline disturbs
 * every ratio: that becomes a reason against it, and so against the others.
 */
static char *
check_control(const Judge *judge, RtbCell *baseline)
{
	RtbUnits	units;
	RtbRatio	control;

	if (baseline->failed || baseline->reasons || list_length(judge->run->arms) < 2)
		return NULL;
	units = rtb_units_control(baseline);
	if (units.n == 0)
		return "no control";
	control = ratio_of_units(judge, &units);
	if (isnan(control.level))
		return NULL;
	if (control.low > 1 || control.high < 1)
		baseline->reasons = lappend(baseline->reasons,
									psprintf("control failed: the baseline beside itself is %.4g (%.4g to %.4g), not 1",
											 control.estimate, control.low, control.high));
	return psprintf("noise floor %s",
					rtb_notes_percent(expm1((log(control.high) - log(control.low)) / 2)));
}

/* ---- one arm at one point ---- */

static const RtbRatio no_ratio = {0, NAN, NAN, NAN, NAN, true, NAN, false};

/* what a verdict on these units holds for */
static char *
scope_of(bool sessions, int n)
{
	return sessions ? psprintf("%d sessions", n) : "this backend only";
}

/* a verdict on an arm that can be compared; returns what is noted about it */
static List *
judge_ratio(const Judge *judge, const RtbCell *baseline, const RtbCell *cell, RtbResult *result)
{
	RtbUnits	units = rtb_units_speedup(baseline, cell, false);
	RtbUnits	cpu_units = rtb_units_speedup(baseline, cell, true);
	double		margin = judge->run->margin;
	List	   *notes;

	result->speedup = ratio_of_units(judge, &units);
	result->cpu_speedup = ratio_of_units(judge, &cpu_units);
	result->scope = scope_of(units.sessions, units.n);
	result->verdict = rtb_judge_word(&result->speedup, margin);
	notes = rtb_notes_units(&units, &result->speedup);
	notes = list_concat(notes, rtb_notes_verdict(result));
	notes = list_concat(notes, rtb_notes_order(baseline, cell, judge->alpha, margin));
	return list_concat(notes, rtb_notes_outliers(baseline, cell, &result->speedup));
}

static RtbResult *
judge_cell(const Judge *judge, const RtbCell *baseline, const RtbCell *cell, char *effect)
{
	RtbResult  *result = palloc0(sizeof(RtbResult));
	List	   *reasons = list_copy(cell->reasons);
	List	   *notes = NIL;

	result->has_point = cell->has_point;
	result->point = cell->point;
	result->arm = cell->arm;
	result->comparisons = judge->comparisons;
	result->speedup = result->cpu_speedup = no_ratio;
	rtb_cell_figures(cell, RTB_ALPHA, result);
	if (result->sessions > 0)
		result->scope = scope_of(result->sessions > 1, result->sessions);
	result->checked = rtb_notes_join(rtb_notes_findings(cell, RTB_FOUND_CHECKED));

	if (cell != baseline && !cell->failed)
		reasons = list_concat(reasons, rtb_cells_differ(baseline, cell));
	if (cell->failed)
	{
		result->verdict = "failed";
		notes = list_make1(rtb_notes_failure(cell->failed));
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
		notes = rtb_notes_outliers(baseline, cell, &result->speedup);
	}
	else
		notes = judge_ratio(judge, baseline, cell, result);
	if (effect)
		notes = lappend(notes, effect);
	notes = list_concat(notes, rtb_notes_findings(cell, RTB_FOUND_NOTE));
	notes = list_concat(notes, rtb_notes_work(cell));
	result->notes = rtb_notes_join(notes);
	return result;
}

/* ---- all arms at one point ---- */

/* every arm's passes at a point, each checked by itself */
static List *
cells_at(const Judge *judge, bool has_point, int64 point, bool ended)
{
	List	   *cells = NIL;

	CHECK_FOR_INTERRUPTS();
	for (int arm = 0; arm < list_length(judge->run->arms); arm++)
	{
		RtbCell    *cell = rtb_cell_collect(judge->run, has_point, point, arm);

		rtb_cell_check(cell, judge->empty_statement_ns, ended);
		cells = lappend(cells, cell);
	}
	return cells;
}

static List *
judge_point(const Judge *judge, bool has_point, int64 point)
{
	List	   *cells = cells_at(judge, has_point, point, true);
	RtbCell    *baseline = list_nth(cells, judge->run->baseline);
	char	   *control = check_control(judge, baseline);
	List	   *results = NIL;
	ListCell   *lc;

	if (control)
		baseline->notes = lappend(baseline->notes, control);
	foreach(lc, cells)
		results = lappend(results, judge_cell(judge, baseline, lfirst(lc),
											  rtb_notes_effect(cells, lfirst(lc))));
	return results;
}

/* ---- levels ---- */

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
 *		The smallest number of units that gives an interval at 1 - alpha:
 *		1 + ceil(log2(1 / alpha)), since all n units lie on one side of the true
 *		ratio with probability 2^(1-n).
 */
int
rtb_judge_needed(double alpha)
{
	int			n = 1;

	while (rtb_signed_rank_critical(n, alpha) == RTB_NO_CRITICAL)
		n++;
	return n;
}

/* ---- a whole run ---- */

static Judge
judge_of(const RtbRun *run)
{
	return (Judge) {run, comparisons_of(run), rtb_judge_alpha(run), rtb_run_empty_statement_ns(run)};
}

/*
 * rtb_judge_half_width
 *		The widest half-width, on the log scale, of the speedups at a point of a
 *		run under way, of the arms that can be judged whatever is still to come.
 *
 * 0 if there is no such arm, NaN if none of them has an interval yet, infinity
 * if only some have.  palloc'd in the current context, which the caller may
 * reset.
 */
double
rtb_judge_half_width(const RtbRun *run, bool has_point, int64 point)
{
	Judge		judge = judge_of(run);
	List	   *cells = cells_at(&judge, has_point, point, false);
	RtbCell    *baseline = list_nth(cells, run->baseline);
	double		widest = 0;
	int			with = 0;
	int			without = 0;
	ListCell   *lc;

	foreach(lc, cells)
	{
		const RtbCell *cell = lfirst(lc);
		RtbUnits	units;
		RtbEstimate e;

		if (cell == baseline || cell->failed || cell->reasons ||
			rtb_cells_differ(baseline, cell))
			continue;
		units = rtb_units_speedup(baseline, cell, false);
		e = rtb_estimate(units.d, units.n, judge.alpha);
		if (isnan(e.level))
			without++;
		else
		{
			with++;
			widest = Max(widest, (e.high - e.low) / 2);
		}
	}
	if (without == 0)
		return widest;
	return with == 0 ? NAN : INFINITY;
}

/*
 * Judge a run: list of RtbResult *, for each point in the run's order each
 * arm in the run's order, also those that were not measured or failed.
 * palloc'd in the current context; throws nothing but cancellation.
 */
List *
rtb_judge(const RtbRun *run)
{
	Judge		judge = judge_of(run);
	List	   *results = NIL;
	ListCell   *lc;

	if (run->points == NIL)
		return judge_point(&judge, false, 0);
	foreach(lc, run->points)
		results = list_concat(results, judge_point(&judge, true, *(int64 *) lfirst(lc)));
	return results;
}
