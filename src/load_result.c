/*
 * load_result.c
 *	  What a load says: rtbench.load_result().
 *
 * A row for each group, and each variant of the compared group that was in
 * force: how that group fared meanwhile.  Ratios are formed inside a round of
 * windows, of a variant to the first one; rounds are the units of the estimate
 * and its interval, as in sweeps.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/json.h"

#include "estimate.h"
#include "facts.h"
#include "judge.h"
#include "load.h"
#include "notes.h"
#include "result_row.h"
#include "stats.h"

PG_FUNCTION_INFO_V1(rtb_sql_load_result);

#define DIGITS			4
#define FAMILY_ALPHA	0.05

/* one group while one variant was in force */
typedef struct Cell
{
	const RtbLoad *load;
	const RtbLoadGroup *group;
	int			variant;
	List	   *windows;		/* of RtbLoadWindow *, by round, without the control's */
	List	   *control;		/* of the baseline */
	List	   *all;
	/* of all its windows */
	RtbHistogram latency;
	double		tps;			/* mean of the windows */
	double		tps_stddev;
	double		due;			/* transactions that were to begin, with a rate */
	double		lag_ms;
	double		lag_max_ms;
	int64		retries;
	int64		xids;
	int64		nerrors;
	bool		overflowed;
	List	   *errors;
	bool		waits_seen;
	List	   *waits;
} Cell;

/* ---- cells ---- */

static void
add_counts(List **into, List *counts)
{
	ListCell   *lc;
	ListCell   *li;

	foreach(lc, counts)
	{
		const RtbLoadCount *count = lfirst(lc);
		RtbLoadCount *sum = NULL;

		foreach(li, *into)
			if (strcmp(((RtbLoadCount *) lfirst(li))->name, count->name) == 0)
				sum = lfirst(li);
		if (sum == NULL)
		{
			sum = palloc0(sizeof(RtbLoadCount));
			sum->name = count->name;
			sum->text = count->text;
			*into = lappend(*into, sum);
		}
		sum->n += count->n;
	}
}

static void
sum_up(Cell *cell)
{
	int			n = list_length(cell->all);
	double		squares = 0;
	double		lag = 0;
	ListCell   *lc;

	cell->lag_ms = cell->lag_max_ms = cell->tps_stddev = NAN;
	foreach(lc, cell->all)
	{
		const RtbLoadWindow *w = lfirst(lc);

		rtb_histogram_merge(&cell->latency, w->latency);
		cell->tps += w->tps / n;
		cell->due += cell->group->rate * w->elapsed_ms / 1000;
		cell->retries += w->retries;
		cell->xids = cell->xids == RTB_UNKNOWN || w->xids == RTB_UNKNOWN ? RTB_UNKNOWN : cell->xids + w->xids;
		cell->waits_seen |= w->waits_seen;
		cell->overflowed |= w->overflowed;
		add_counts(&cell->errors, w->errors);
		add_counts(&cell->waits, w->waits);
		lag += isnan(w->lag_ms) ? 0 : w->lag_ms / n;
		if (!isnan(w->lag_max_ms))
			cell->lag_max_ms = isnan(cell->lag_max_ms) ? w->lag_max_ms : Max(cell->lag_max_ms, w->lag_max_ms);
	}
	if (!isnan(cell->lag_max_ms))
		cell->lag_ms = lag;
	foreach(lc, cell->errors)
		cell->nerrors += ((RtbLoadCount *) lfirst(lc))->n;
	foreach(lc, cell->all)
		squares += pow(((const RtbLoadWindow *) lfirst(lc))->tps - cell->tps, 2);
	if (n > 1)
		cell->tps_stddev = sqrt(squares / (n - 1));
}

static Cell *
collect(const RtbLoad *load, int group, int variant)
{
	Cell	   *cell = palloc0(sizeof(Cell));
	ListCell   *lc;

	cell->load = load;
	cell->group = list_nth(load->groups, group);
	cell->variant = variant;
	foreach(lc, load->windows)
	{
		RtbLoadWindow *w = lfirst(lc);

		if (w->group != group || w->variant != variant)
			continue;
		cell->all = lappend(cell->all, w);
		if (w->control)
			cell->control = lappend(cell->control, w);
		else
			cell->windows = lappend(cell->windows, w);
	}
	sum_up(cell);
	return cell;
}

/* ---- ratios ---- */

/* what is better when it is larger */
static double
figure_of(const RtbLoadWindow *w, bool latency)
{
	return latency ? 1 / rtb_histogram_mean(w->latency) : w->tps;
}

/*
 * How many times as good the others' windows are, each divided by the base's
 * of the same round; *without counts rounds in which there was no transaction.
 */
static RtbRatio
ratio_of(List *base, List *other, bool latency, double alpha, int *without)
{
	double	   *units = palloc(sizeof(double) * Max(list_length(other), 1));
	RtbEstimate e;
	int			n = 0;
	ListCell   *lb;
	ListCell   *lo;

	*without = 0;
	foreach(lo, other)
	{
		const RtbLoadWindow *w = lfirst(lo);

		foreach(lb, base)
		{
			const RtbLoadWindow *b = lfirst(lb);

			if (b->round != w->round)
				continue;
			if (b->latency->n > 0 && w->latency->n > 0)
				units[n++] = log(figure_of(w, latency) / figure_of(b, latency));
			else
				(*without)++;
		}
	}
	e = rtb_estimate(units, n, alpha);
	return (RtbRatio) {e.units, exp(e.value), exp(e.low), exp(e.high), e.level, e.corrected,
					   e.autocorrelation, e.averaged};
}

static int
comparisons_of(const RtbLoad *load)
{
	const RtbLoadGroup *compared = list_nth(load->groups, load->compared);

	return (list_length(compared->variants) - 1) * list_length(load->groups);
}

static double
alpha_of(const RtbLoad *load)
{
	return Min(RTB_ALPHA, FAMILY_ALPHA / Max(comparisons_of(load), 1));
}

/* the baseline's second windows beside its first: does the interval exclude 1? */
static bool
control_failed(const Cell *baseline, bool latency, char **note)
{
	int			without;
	RtbRatio	control = ratio_of(baseline->windows, baseline->control, latency,
								   alpha_of(baseline->load), &without);

	*note = NULL;
	if (isnan(control.level))
		return false;
	if (control.low > 1 || control.high < 1)
	{
		*note = psprintf("control failed: the baseline beside itself is %.4g (%.4g to %.4g), not 1",
						 control.estimate, control.low, control.high);
		return true;
	}
	*note = psprintf("noise floor %s", rtb_notes_percent(expm1((log(control.high) - log(control.low)) / 2)));
	return false;
}

/* ---- rows ---- */

/* counts as an object: as they are, or as shares of all */
static void
add_counts_object(RtbRow *row, List *counts, bool shares)
{
	StringInfoData buf;
	double		all = 0;
	ListCell   *lc;

	foreach(lc, counts)
		all += ((RtbLoadCount *) lfirst(lc))->n;
	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	foreach(lc, counts)
	{
		const RtbLoadCount *count = lfirst(lc);

		if (buf.len > 1)
			appendStringInfoString(&buf, ", ");
		escape_json(&buf, count->name);
		if (shares)
			appendStringInfo(&buf, ": %.3f", count->n / all);
		else
			appendStringInfo(&buf, ": " INT64_FORMAT, count->n);
	}
	appendStringInfoChar(&buf, '}');
	rtb_row_add(row, JsonbPGetDatum(rtb_json_to_jsonb(buf.data)), false);
}

static void
add_ratio(RtbRow *row, const RtbRatio *ratio)
{
	rtb_row_add_significant(row, ratio->estimate, DIGITS);
	rtb_row_add_significant(row, ratio->low, DIGITS);
	rtb_row_add_significant(row, ratio->high, DIGITS);
}

static void
add_decrease(RtbRow *row, double ratio)
{
	/* one decimal: a tenth of a percent */
	rtb_row_add_decimals(row, 100 * (1 - ratio), 1);
}

static char *
join(List *notes)
{
	return notes == NIL ? NULL : rtb_notes_join(notes);
}

static List *
notes_of(const Cell *cell)
{
	List	   *notes = NIL;
	int64		all = cell->latency.n + cell->nerrors;
	ListCell   *lc;

	if (all == 0)
		notes = lappend(notes, "no transaction ended while it was counted: raise duration");
	foreach(lc, cell->errors)
	{
		const RtbLoadCount *count = lfirst(lc);

		notes = lappend(notes, psprintf("%s of the transactions failed with %s: %s",
										rtb_notes_percent((double) count->n / all), count->name,
										count->text ? count->text : ""));
	}
	/* arrivals at random: their number has a standard deviation of its root */
	if (cell->group->rate > 0 && all < cell->due - 4 * sqrt(cell->due))
		notes = lappend(notes, psprintf("behind its schedule: %.4g transactions a second of %.4g",
										cell->tps, cell->group->rate));
	/* of all figures: once for each group */
	return cell->variant == 0 ? list_concat(notes, cell->load->notes) : notes;
}

/* the figures of a group while a variant was in force */
static void
add_figures(RtbRow *row, const Cell *cell, const char *variant, const char *arm)
{
	const RtbHistogram *h = &cell->latency;

	rtb_row_add_bigint(row, cell->load->run);
	rtb_row_add_text(row, cell->group->name);
	rtb_row_add_text(row, variant);
	rtb_row_add_text(row, arm);
	rtb_row_add_int(row, cell->group->sessions);
	rtb_row_add_int(row, list_length(cell->all));
	rtb_row_add_bigint(row, h->n);
	rtb_row_add_significant(row, cell->tps, DIGITS);
	rtb_row_add_significant(row, cell->tps_stddev, 2);
	rtb_row_add_significant(row, rtb_histogram_mean(h) / 1e6, DIGITS);
	rtb_row_add_significant(row, rtb_histogram_stddev(h) / 1e6, DIGITS);
	rtb_row_add_significant(row, rtb_histogram_quantile(h, 0.5) / 1e6, DIGITS);
	rtb_row_add_significant(row, rtb_histogram_quantile(h, 0.95) / 1e6, DIGITS);
	rtb_row_add_significant(row, rtb_histogram_quantile(h, 0.99) / 1e6, DIGITS);
	rtb_row_add_significant(row, h->n > 0 ? h->max / 1e6 : NAN, DIGITS);
	/* as it was given */
	rtb_row_add_numeric(row, cell->group->rate > 0 ? psprintf("%.6g", cell->group->rate) : NULL);
	rtb_row_add_significant(row, cell->lag_ms, 3);
	rtb_row_add_significant(row, cell->lag_max_ms, 3);
	add_counts_object(row, cell->errors, false);
	rtb_row_add_bigint(row, cell->retries);
	rtb_row_add_count(row, cell->xids);
	rtb_row_add(row, BoolGetDatum(cell->overflowed), cell->xids == RTB_UNKNOWN);
	if (cell->waits_seen)
		add_counts_object(row, cell->waits, true);
	else
		rtb_row_add(row, (Datum) 0, true);
}

static void
add_nothing(RtbRow *row, int n)
{
	while (n-- > 0)
		rtb_row_add(row, (Datum) 0, true);
}

/* how it stands beside the first variant */
static void
add_standing(RtbRow *row, const Cell *baseline, const Cell *cell)
{
	const RtbLoad *load = cell->load;
	/* a rate fixes the throughput, and what differs is the latency */
	bool		by_latency = cell->group->rate > 0;
	List	   *notes = notes_of(cell);
	RtbRatio	speedup;
	RtbRatio	latency;
	const RtbRatio *judged = by_latency ? &latency : &speedup;
	bool		failed;
	char	   *control;
	char	   *verdict;
	int			without;

	failed = control_failed(baseline, by_latency, &control);
	if (control != NULL && (failed || cell == baseline))
		notes = lappend(notes, control);
	speedup = ratio_of(baseline->windows, cell->windows, false, alpha_of(load), &without);
	latency = ratio_of(baseline->windows, cell->windows, true, alpha_of(load), &without);
	if (without > 0)
		notes = lappend(notes, psprintf("%d rounds without a transaction left out", without));
	if (judged->units > 0 && !judged->corrected && !isnan(judged->level))
		notes = lappend(notes, "level not corrected");
	if (failed || judged->units == 0)
	{
		/* no ratio of what does not even equal itself */
		verdict = "not comparable";
		speedup = latency = (RtbRatio) {0, NAN, NAN, NAN, NAN, true, NAN, false};
	}
	else if (cell == baseline)
	{
		verdict = "baseline";
		speedup = latency = (RtbRatio) {speedup.units, 1, NAN, NAN, NAN, true, NAN, false};
	}
	else
		verdict = rtb_judge_word(judged, load->margin);
	/* half-width on the log scale; as the method has it for 99 % */
	if (strcmp(verdict, "no difference detected") == 0)
		notes = lappend(notes, psprintf("a difference of %s or more would have been seen 8 times in 10",
										rtb_notes_percent(expm1(1.33 * log(judged->high / judged->low) / 2))));
	add_ratio(row, &speedup);
	add_decrease(row, speedup.estimate);
	add_decrease(row, speedup.high);
	add_decrease(row, speedup.low);
	add_ratio(row, &latency);
	rtb_row_add_significant(row, judged->level, 6);
	rtb_row_add_bigint(row, comparisons_of(load));
	rtb_row_add_text(row, verdict);
	rtb_row_add_text(row, join(notes));
}

static void
put_plain(ReturnSetInfo *rsinfo, const RtbLoad *load, int group)
{
	RtbRow		row = {0};
	Cell	   *cell = collect(load, group, 0);

	add_figures(&row, cell, NULL, ((RtbLoadVariant *) linitial(cell->group->variants))->arm);
	add_nothing(&row, rsinfo->setDesc->natts - row.n - 1);
	rtb_row_add_text(&row, join(notes_of(cell)));
	rtb_row_put(rsinfo, &row);
}

static void
put_compared(ReturnSetInfo *rsinfo, const RtbLoad *load, int group)
{
	const RtbLoadGroup *compared = list_nth(load->groups, load->compared);
	Cell	   *baseline = collect(load, group, 0);

	for (int variant = 0; variant < list_length(compared->variants); variant++)
	{
		RtbRow		row = {0};
		Cell	   *cell = variant == 0 ? baseline : collect(load, group, variant);
		int			own = group == load->compared ? variant : 0;

		add_figures(&row, cell, ((RtbLoadVariant *) list_nth(compared->variants, variant))->name,
					((RtbLoadVariant *) list_nth(cell->group->variants, own))->arm);
		add_standing(&row, baseline, cell);
		rtb_row_put(rsinfo, &row);
	}
}

/* load_result(run bigint) */
Datum
rtb_sql_load_result(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int64		run = PG_ARGISNULL(0) ? rtb_load_last() : PG_GETARG_INT64(0);
	RtbLoad    *load;

	if (run == 0 && PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NO_DATA_FOUND),
				 errmsg("you have no load yet"),
				 errhint("Start one: CALL rtbench.run_load('mixed_load');")));
	load = rtb_load_read(run);
	if (load == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("load " INT64_FORMAT " does not exist", run),
				 errhint("Your loads are listed in rtbench.loads.")));
	InitMaterializedSRF(fcinfo, 0);
	/* the compared group first: what was changed, then what that did to the others */
	if (load->compared >= 0)
		put_compared(rsinfo, load, load->compared);
	for (int group = 0; group < list_length(load->groups); group++)
	{
		if (load->compared < 0)
			put_plain(rsinfo, load, group);
		else if (group != load->compared)
			put_compared(rsinfo, load, group);
	}
	return (Datum) 0;
}
