/*
 * scaling.c
 *	  How an arm's time grows over the points of a run: the price of a
 *	  statement free of fixed cost, and whether it stays what it is.
 *
 * Every figure is made inside a round (or session), across the points it has,
 * and then treated as any other unit: sessions where there are several, the
 * signed-rank interval over them.  Only rounds that have all the points count,
 * so that each unit is about the same line.
 *
 * A slope is that of Theil and Sen: a point that was disturbed does not bend
 * the line.  Failed points are left out; those that are not comparable are
 * not, as their times are the arm's own all the same, but they have no part in
 * how the speedup grows.
 *
 * Memory: everything is palloc'd in the current context; texts may be shared
 * with the run.
 */
#include "postgres.h"

#include "scaling.h"

#include <math.h>

#include "advice.h"
#include "cell.h"
#include "judge.h"
#include "miscadmin.h"
#include "notes.h"
#include "scaling_line.h"
#include "stats.h"

/* the error that the arms of a run share at most */
#define FAMILY_ALPHA	0.05

/*
 * Twice the work may cost so many times as much before the price counts as one
 * that grows with the size, or so few times before the fixed cost does: a
 * quarter more or less each.
 */
#define GROWS			2.5
#define DOMINATES		1.6

/* ---- the word ---- */

/*
 * What twice the work costs, as an rtb_line_exponent, decides; an interval that has
 * 1 on its other side, or in it, does not let it.  Without an interval nothing
 * is said.
 */
static char *
word_of(const RtbLine *line, RtbScaling *scaling, double alpha)
{
	RtbEstimate e = rtb_line_estimate(line, NULL, rtb_line_work_exponent, alpha);
	double		work_doubles = scaling->per_statement ? NAN : scaling->doubling;

	if (isnan(e.level))
		return NULL;
	/* nothing more was asked for, and yet it took longer */
	if (!scaling->per_statement && line->same_effect &&
		e.value >= log2(DOMINATES) && e.low > 0)
	{
		scaling->notes = lappend(scaling->notes,
								 "statements, rows and fired statements do not vary over the points, the time does");
		return "grows with size";
	}
	if ((e.value >= log2(GROWS) || work_doubles > GROWS) && e.low > 1)
		return "grows with size";
	if (e.value <= log2(DOMINATES) && e.high < 1)
		return "fixed cost dominates";
	if (isnan(e.value))
		return NULL;
	/* what is not flat by its estimate, or could be anything by its interval */
	if (e.value >= log2(GROWS) || e.value <= log2(DOMINATES) ||
		(e.low < log2(DOMINATES) && e.high > log2(GROWS)))
	{
		scaling->notes = lappend(scaling->notes, "the interval is too wide for a word");
		return NULL;
	}
	return scaling->per_statement ? "flat per statement" : "flat per unit";
}

/* ---- notes ---- */

static void
note(RtbScaling *scaling, const char *phrase)
{
	scaling->notes = lappend(scaling->notes, (char *) phrase);
}

/*
 * What may make a statement's price grow: the relations read whole by the
 * shapes at the largest point, and the advice found there.  The advice is true
 * of points that are too small for it to show, too.
 */
static void
note_causes(const RtbLine *line, RtbScaling *scaling)
{
	const RtbCell *cell = line->cells[line->n - 1];
	const RtbPass *pass = rtb_cell_counted(cell);
	List	   *advice = NIL;
	ListCell   *lc;

	foreach(lc, rtb_notes_findings(cell, RTB_FOUND_NOTE))
	{
		if (rtb_is_advice(lfirst(lc)))
			advice = lappend(advice, lfirst(lc));
	}
	if (pass != NULL && (advice || (scaling->word && strcmp(scaling->word, "grows with size") == 0)))
	{
		scaling->notes = list_concat(scaling->notes, rtb_whole_reads(pass->plan_shape, false));
		scaling->notes = list_concat(scaling->notes, rtb_whole_reads(pass->fired_shape, true));
	}
	scaling->notes = list_concat(scaling->notes, advice);
}

static void
note_figures(const RtbLine *line, RtbScaling *scaling)
{
	if (scaling->price_ns.units == 0)
		note(scaling, "no round has all points");
	else if (isnan(scaling->price_ns.level))
		note(scaling, psprintf("an interval at %g%% needs at least %d %s, and there are %d",
							   100 * (1 - RTB_ALPHA), rtb_judge_needed(RTB_ALPHA),
							   scaling->sessions ? "sessions" : "rounds", scaling->price_ns.units));
	else if (!scaling->price_ns.corrected)
		note(scaling, "level not corrected");
	if (!scaling->per_statement)
		note(scaling, "statements do not vary over the points: the price is that of a unit of the point");
	if (line->point[0] <= 0)
		note(scaling, "a point that is not above 0 has no logarithm: no exponents, no word");
	/* a line that is bent upwards meets no work at all below no time at all */
	if (scaling->fixed_ns.high < 0)
	{
		note(scaling, "no fixed cost: the price is not the same at all points");
		scaling->fixed_ns.value = scaling->fixed_ns.low = scaling->fixed_ns.high = NAN;
	}
}

/* ---- the speedup ---- */

/* those of a line's points at which the arm was compared, and the baseline's there */
static void
compared_points(const RtbRun *run, const RtbLine *line, List *results, RtbLine *arm, RtbLine *base)
{
	List	   *cells = NIL;
	List	   *base_cells = NIL;
	ListCell   *lc;

	for (int i = 0; i < line->n; i++)
	{
		foreach(lc, results)
		{
			const RtbResult *result = lfirst(lc);

			if (result->arm == line->cells[i]->arm && result->point == line->cells[i]->point &&
				isfinite(result->speedup.estimate))
			{
				cells = lappend(cells, line->cells[i]);
				base_cells = lappend(base_cells,
									 rtb_cell_collect(run, true, result->point, run->baseline));
				break;
			}
		}
	}
	*arm = rtb_line_of(cells);
	*base = rtb_line_of(base_cells);
}

static void
growth_of_speedup(const RtbRun *run, const RtbLine *line, List *results, double alpha,
				  RtbScaling *scaling)
{
	RtbLine		arm;
	RtbLine		base;

	if (scaling->arm == run->baseline)
		return;
	compared_points(run, line, results, &arm, &base);
	if (arm.n < 2)
		note(scaling, psprintf("compared at %d point%s: growth of the speedup is not known",
							   arm.n, arm.n == 1 ? "" : "s"));
	else
		scaling->speedup_growth = rtb_line_estimate(&arm, &base, rtb_line_speedup_growth, alpha);
}

/* ---- a whole run ---- */

static const RtbEstimate no_estimate = {0, NAN, NAN, NAN, NAN, true, NAN, false};

static RtbScaling *
scaling_of_arm(const RtbRun *run, int arm, List *results, double alpha)
{
	RtbScaling *scaling = palloc0(sizeof(RtbScaling));
	RtbLine		line = rtb_line_of_arm(run, arm);

	scaling->arm = arm;
	scaling->points = line.n;
	scaling->price_ns = scaling->fixed_ns = no_estimate;
	scaling->exponent = scaling->speedup_growth = no_estimate;
	scaling->flatness = scaling->span = scaling->doubling = NAN;
	if (line.n < 2)
	{
		note(scaling, run->points == NIL ? "nothing is swept: how time grows is not known" :
			 line.n == 1 ? "times at one point only: how time grows is not known" :
			 "no times: how time grows is not known");
		return scaling;
	}
	scaling->per_statement = line.per_statement;
	scaling->price_ns = rtb_line_estimate(&line, NULL, rtb_line_slope, alpha);
	scaling->fixed_ns = rtb_line_estimate(&line, NULL, rtb_line_intercept, alpha);
	scaling->exponent = rtb_line_estimate(&line, NULL, rtb_line_exponent, alpha);
	scaling->sessions = rtb_line_units(&line, NULL, rtb_line_slope).sessions;
	if (line.point[0] > 0)
	{
		scaling->span = line.point[line.n - 1] / line.point[0];
		scaling->flatness = exp(rtb_line_estimate(&line, NULL, rtb_line_log_flatness, alpha).value);
		if (isfinite(rtb_line_upper_of_pair(&line)))
			scaling->doubling = exp(rtb_line_estimate(&line, NULL, rtb_line_log_doubling, alpha).value);
	}
	note_figures(&line, scaling);
	growth_of_speedup(run, &line, results, alpha, scaling);
	scaling->word = word_of(&line, scaling, alpha);
	note_causes(&line, scaling);
	return scaling;
}

/*
 * How each arm of a run grows over the run's points: list of RtbScaling *, in
 * the run's order, palloc'd in the current context.  Intervals are at 99 %,
 * corrected over the arms.  Throws nothing but cancellation.
 */
List *
rtb_scaling(const RtbRun *run)
{
	List	   *results = rtb_judge(run);
	double		alpha = Min(RTB_ALPHA, FAMILY_ALPHA / list_length(run->arms));
	List	   *scalings = NIL;

	for (int arm = 0; arm < list_length(run->arms); arm++)
		scalings = lappend(scalings, scaling_of_arm(run, arm, results, alpha));
	return scalings;
}
