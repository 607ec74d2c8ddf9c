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
#include "stats.h"
#include "units.h"

/* the error that the arms of a run share at most */
#define FAMILY_ALPHA	0.05

/*
 * Twice the work may cost so many times as much before the price counts as one
 * that grows with the size, or so few times before the fixed cost does: a
 * quarter more or less each.
 */
#define GROWS			2.5
#define DOMINATES		1.6

/* one arm's passes at its points, in ascending order, and the work at each */
typedef struct Line
{
	int			n;
	RtbCell   **cells;
	double	   *point;
	double	   *work;			/* statements, or the point */
	bool		per_statement;	/* they vary over the points */
	bool		same_effect;	/* neither rows nor fired statements vary over them */
} Line;

/* one figure for each round that has all points */
typedef double (*Figure) (const Line *line, const double *times, const double *base_times);

/* ---- the points that an arm has ---- */

static int
compare_cells(const ListCell *a, const ListCell *b)
{
	const RtbCell *p = lfirst(a);
	const RtbCell *q = lfirst(b);

	return (p->point > q->point) - (p->point < q->point);
}

static int64
statements_of(const RtbPass *pass)
{
	return pass->statements;
}

static int64
rows_of(const RtbPass *pass)
{
	return pass->rows;
}

static int64
fired_of(const RtbPass *pass)
{
	return pass->fired;
}

static bool
has_times(const RtbCell *cell)
{
	ListCell   *lc;

	foreach(lc, cell->timed)
	{
		if (((RtbPass *) lfirst(lc))->elapsed_ns <= 0)
			return false;
	}
	return cell->timed != NIL;
}

/* do the counts differ between the points? -1: they are not known */
static int
varies(const Line *line, int64 (*count) (const RtbPass *), double *counts)
{
	int			differ = 0;

	for (int i = 0; i < line->n; i++)
	{
		counts[i] = (double) rtb_cell_count(line->cells[i], count);
		if (counts[i] == RTB_UNKNOWN)
			return -1;
		differ |= counts[i] != counts[0];
	}
	return differ;
}

static Line
line_of(List *cells)
{
	int			n = list_length(cells);
	Line		line = {n, palloc0(Max(n, 1) * sizeof(RtbCell *)),
						palloc(Max(n, 1) * sizeof(double)), NULL, false, false};
	ListCell   *lc;

	foreach(lc, cells)
	{
		RtbCell    *cell = lfirst(lc);

		line.cells[foreach_current_index(lc)] = cell;
		line.point[foreach_current_index(lc)] = (double) cell->point;
	}
	return line;
}

/* the points at which an arm has times, ascending and each once */
static Line
line_of_arm(const RtbRun *run, int arm)
{
	List	   *cells = NIL;
	Line		line;
	ListCell   *lc;

	foreach(lc, run->points)
	{
		int64		point = *(int64 *) lfirst(lc);
		bool		known = false;
		RtbCell    *cell = rtb_cell_collect(run, true, point, arm);
		ListCell   *other;

		foreach(other, cells)
			known |= ((RtbCell *) lfirst(other))->point == point;
		if (!known && cell->failed == NULL && has_times(cell))
			cells = lappend(cells, cell);
	}
	list_sort(cells, compare_cells);
	line = line_of(cells);
	line.work = palloc(Max(line.n, 1) * sizeof(double));
	line.same_effect = varies(&line, rows_of, line.work) == 0 &&
		varies(&line, fired_of, line.work) == 0;
	line.per_statement = varies(&line, statements_of, line.work) == 1;
	if (!line.per_statement)
		memcpy(line.work, line.point, line.n * sizeof(double));
	return line;
}

/* ---- rounds that have all points ---- */

/* by halving: a cell's passes are sorted by session and round */
static const RtbPass *
pass_of_round(const RtbCell *cell, const RtbPass *round)
{
	int			low = 0;
	int			high = list_length(cell->timed);

	while (low < high)
	{
		int			middle = (low + high) / 2;
		const RtbPass *pass = list_nth(cell->timed, middle);

		if (pass->session == round->session && pass->round == round->round)
			return pass;
		if (pass->session != round->session ? pass->session < round->session :
			pass->round < round->round)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* the times of a round at all points, in nanoseconds; false if one is missing */
static bool
times_of_round(const Line *line, const RtbPass *round, double *times)
{
	for (int i = 0; i < line->n; i++)
	{
		const RtbPass *pass = pass_of_round(line->cells[i], round);

		if (pass == NULL || pass->elapsed_ns <= 0)
			return false;
		times[i] = (double) pass->elapsed_ns;
	}
	return true;
}

/* a figure's units; base is NULL, or the baseline's passes at the same points */
static RtbUnits
units_of_figure(const Line *line, const Line *base, Figure figure)
{
	int			most = line->n > 0 ? list_length(line->cells[0]->timed) : 0;
	double	   *times = palloc(Max(line->n, 1) * sizeof(double));
	double	   *base_times = palloc(Max(line->n, 1) * sizeof(double));
	double	   *values = palloc(Max(most, 1) * sizeof(double));
	int		   *sessions = palloc(Max(most, 1) * sizeof(int));
	int			n = 0;

	for (int i = 0; i < most; i++)
	{
		const RtbPass *round = list_nth(line->cells[0]->timed, i);

		CHECK_FOR_INTERRUPTS();
		if (!times_of_round(line, round, times) ||
			(base && !times_of_round(base, round, base_times)))
			continue;
		values[n] = figure(line, times, base_times);
		sessions[n] = round->session;
		n += isfinite(values[n]);
	}
	return rtb_units_of(sessions, values, n);
}

static RtbEstimate
estimate_figure(const Line *line, const Line *base, Figure figure, double alpha)
{
	RtbUnits	units = units_of_figure(line, base, figure);

	return rtb_estimate(units.d, units.n, alpha);
}

/* ---- figures of a round ---- */

static double
slope(const Line *line, const double *times, const double *base_times)
{
	return rtb_theil_sen(line->work, times, line->n);
}

/* the median of what is left when the line's slope is taken off (Sen 1968) */
static double
intercept(const Line *line, const double *times, const double *base_times)
{
	double		price = slope(line, times, base_times);
	double	   *left = palloc(line->n * sizeof(double));

	for (int i = 0; i < line->n; i++)
		left[i] = times[i] - price * line->work[i];
	return rtb_median(left, line->n);
}

static double *
logarithms(const double *x, int n)
{
	double	   *logs = palloc(n * sizeof(double));

	for (int i = 0; i < n; i++)
		logs[i] = log(x[i]);
	return logs;
}

/* NaN where a point has no logarithm */
static double
log_slope(const double *x, const double *y, int n)
{
	return x[0] > 0 ? rtb_theil_sen(logarithms(x, n), logarithms(y, n), n) : NAN;
}

static double
exponent(const Line *line, const double *times, const double *base_times)
{
	return log_slope(line->point, times, line->n);
}

/* the same over the work, which need not be in proportion to the point */
static double
work_exponent(const Line *line, const double *times, const double *base_times)
{
	return log_slope(line->work, times, line->n);
}

static double
speedup_growth(const Line *line, const double *times, const double *base_times)
{
	double	   *speedups = palloc(line->n * sizeof(double));

	for (int i = 0; i < line->n; i++)
		speedups[i] = base_times[i] / times[i];
	return log_slope(line->point, speedups, line->n);
}

/* on the log scale, so that the ratio is the same either way round */
static double
log_flatness(const Line *line, const double *times, const double *base_times)
{
	int			last = line->n - 1;

	return log(times[last] / line->work[last]) - log(times[0] / line->work[0]);
}

/* ln T at a point within the range, on the line between its neighbours on log-log */
static double
log_time_at(const Line *line, const double *times, double point)
{
	int			i = 1;

	while (i < line->n - 1 && line->point[i] < point)
		i++;
	return log(times[i]) - (log(line->point[i]) - log(point)) *
		(log(times[i]) - log(times[i - 1])) / (log(line->point[i]) - log(line->point[i - 1]));
}

/* the largest point that is twice another, else the largest that is twice something within the range */
static double
upper_of_pair(const Line *line)
{
	for (int i = line->n - 1; i > 0; i--)
		for (int k = 0; k < i; k++)
			if (line->point[i] == 2 * line->point[k])
				return line->point[i];
	return line->point[line->n - 1] >= 2 * line->point[0] ? line->point[line->n - 1] : NAN;
}

static double
log_doubling(const Line *line, const double *times, const double *base_times)
{
	double		upper = upper_of_pair(line);

	return log_time_at(line, times, upper) - log_time_at(line, times, upper / 2);
}

/* ---- the word ---- */

/*
 * What twice the work costs, as an exponent, decides; an interval that has
 * 1 on its other side, or in it, does not let it.  Without an interval nothing
 * is said.
 */
static char *
word_of(const Line *line, RtbScaling *scaling, double alpha)
{
	RtbEstimate e = estimate_figure(line, NULL, work_exponent, alpha);
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
note_causes(const Line *line, RtbScaling *scaling)
{
	const RtbCell *cell = line->cells[line->n - 1];
	const RtbPass *pass = llast(cell->timed);
	List	   *advice = NIL;
	ListCell   *lc;

	foreach(lc, rtb_notes_findings(cell, RTB_FOUND_NOTE))
	{
		if (rtb_is_advice(lfirst(lc)))
			advice = lappend(advice, lfirst(lc));
	}
	if (advice || (scaling->word && strcmp(scaling->word, "grows with size") == 0))
	{
		scaling->notes = list_concat(scaling->notes, rtb_whole_reads(pass->plan_shape, false));
		scaling->notes = list_concat(scaling->notes, rtb_whole_reads(pass->fired_shape, true));
	}
	scaling->notes = list_concat(scaling->notes, advice);
}

static void
note_figures(const Line *line, RtbScaling *scaling)
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
compared_points(const RtbRun *run, const Line *line, List *results, Line *arm, Line *base)
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
	*arm = line_of(cells);
	*base = line_of(base_cells);
}

static void
growth_of_speedup(const RtbRun *run, const Line *line, List *results, double alpha,
				  RtbScaling *scaling)
{
	Line		arm;
	Line		base;

	if (scaling->arm == run->baseline)
		return;
	compared_points(run, line, results, &arm, &base);
	if (arm.n < 2)
		note(scaling, psprintf("compared at %d point%s: growth of the speedup is not known",
							   arm.n, arm.n == 1 ? "" : "s"));
	else
		scaling->speedup_growth = estimate_figure(&arm, &base, speedup_growth, alpha);
}

/* ---- a whole run ---- */

static const RtbEstimate no_estimate = {0, NAN, NAN, NAN, NAN, true, NAN, false};

static RtbScaling *
scaling_of_arm(const RtbRun *run, int arm, List *results, double alpha)
{
	RtbScaling *scaling = palloc0(sizeof(RtbScaling));
	Line		line = line_of_arm(run, arm);

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
	scaling->price_ns = estimate_figure(&line, NULL, slope, alpha);
	scaling->fixed_ns = estimate_figure(&line, NULL, intercept, alpha);
	scaling->exponent = estimate_figure(&line, NULL, exponent, alpha);
	scaling->sessions = units_of_figure(&line, NULL, slope).sessions;
	if (line.point[0] > 0)
	{
		scaling->span = line.point[line.n - 1] / line.point[0];
		scaling->flatness = exp(estimate_figure(&line, NULL, log_flatness, alpha).value);
		if (isfinite(upper_of_pair(&line)))
			scaling->doubling = exp(estimate_figure(&line, NULL, log_doubling, alpha).value);
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
