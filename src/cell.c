/*
 * cell.c
 *	  One arm at one point: its passes and their figures.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "cell.h"

#include <math.h>

#include "stats.h"

static bool
is_timed(const RtbPass *pass)
{
	return pass->kind == RTB_PASS_TIMED || pass->kind == RTB_PASS_LAST;
}

static int
compare_passes(const ListCell *a, const ListCell *b)
{
	const RtbPass *p = lfirst(a);
	const RtbPass *q = lfirst(b);

	if (p->session != q->session)
		return p->session < q->session ? -1 : 1;
	if (p->round != q->round)
		return p->round < q->round ? -1 : 1;
	return (p->position > q->position) - (p->position < q->position);
}

/*
 * The passes of an arm at a point.  The baseline's second passes of a round
 * stand apart: they are for comparing the baseline with itself.
 */
RtbCell *
rtb_cell_collect(const RtbRun *run, bool has_point, int64 point, int arm)
{
	RtbCell    *cell = palloc0(sizeof(RtbCell));
	ListCell   *lc;

	cell->run = run;
	cell->has_point = has_point;
	cell->point = point;
	cell->arm = arm;
	foreach(lc, run->passes)
	{
		RtbPass    *pass = lfirst(lc);

		if (pass->arm != arm || pass->has_point != has_point ||
			(has_point && pass->point != point))
			continue;
		if (cell->first == NULL)
			cell->first = pass;
		if (pass->sqlstate)
		{
			if (cell->failed == NULL)
				cell->failed = pass;
			continue;
		}
		if (pass->digest)
			cell->digested = lappend(cell->digested, pass);
		if (!is_timed(pass))
			continue;
		cell->measured = lappend(cell->measured, pass);
		if (pass->control)
			cell->control = lappend(cell->control, pass);
		else
			cell->timed = lappend(cell->timed, pass);
	}
	list_sort(cell->timed, compare_passes);
	list_sort(cell->control, compare_passes);
	list_sort(cell->measured, compare_passes);
	return cell;
}

/* Is a finding about this arm at this point? */
bool
rtb_cell_finding(const RtbCell *cell, const RtbFinding *finding)
{
	if (finding->arm >= 0 && finding->arm != cell->arm)
		return false;
	return !finding->has_point || (cell->has_point && finding->point == cell->point);
}

/* ---- counts ---- */

static int64
round_trips_of(const RtbPass *pass)
{
	return pass->round_trips;
}

static int64
statements_of(const RtbPass *pass)
{
	return pass->statements;
}

static int64
fired_of(const RtbPass *pass)
{
	return pass->fired;
}

static int64
rows_of(const RtbPass *pass)
{
	return pass->rows;
}

static int64
buffers_of(const RtbPass *pass)
{
	if (pass->buffers_hit == RTB_UNKNOWN || pass->buffers_read == RTB_UNKNOWN)
		return RTB_UNKNOWN;
	return pass->buffers_hit + pass->buffers_read;
}

static int64
wal_records_of(const RtbPass *pass)
{
	return pass->wal_records;
}

static int64
wal_bytes_of(const RtbPass *pass)
{
	return pass->wal_bytes;
}

static int64
xids_of(const RtbPass *pass)
{
	return pass->xids;
}

static int64
transactions_of(const RtbPass *pass)
{
	return pass->transactions;
}

static int64
commit_ns_of(const RtbPass *pass)
{
	return pass->commit_ns;
}

static int64
overflowed_of(const RtbPass *pass)
{
	return pass->subxact_overflowed;
}

static int64
updates_of(const RtbPass *pass)
{
	return pass->updates;
}

static int64
hot_updates_of(const RtbPass *pass)
{
	return pass->hot_updates;
}

static int64
catalog_reads_of(const RtbPass *pass)
{
	return pass->catalog_reads;
}

static int64
bytes_sent_of(const RtbPass *pass)
{
	return pass->bytes_sent;
}

static int64
bytes_received_of(const RtbPass *pass)
{
	return pass->bytes_received;
}

/*
 * The same of an untimed pass: over a connection only these are counted, for
 * counting costs the far end a little.
 */
static int64
untimed_count(const RtbCell *cell, int64 (*count) (const RtbPass *))
{
	ListCell   *lc;

	foreach(lc, cell->digested)
	{
		const RtbPass *pass = lfirst(lc);

		if (pass->round == 0 && count(pass) != RTB_UNKNOWN)
			return count(pass);
	}
	return RTB_UNKNOWN;
}

/*
 * A count of the timed passes: their median.  Of an even number the lower
 * middle one, so that it was really seen.  Where they don't know it, that of
 * an untimed pass; RTB_UNKNOWN if that does not either.
 */
int64
rtb_cell_count(const RtbCell *cell, int64 (*count) (const RtbPass *))
{
	int			n = list_length(cell->timed);
	double	   *values = palloc(Max(n, 1) * sizeof(double));
	ListCell   *lc;

	if (n == 0)
		return RTB_UNKNOWN;
	foreach(lc, cell->timed)
	{
		int64		value = count(lfirst(lc));

		if (value == RTB_UNKNOWN)
			return untimed_count(cell, count);
		values[foreach_current_index(lc)] = (double) value;
	}
	rtb_sort(values, n);
	return (int64) values[(n - 1) / 2];
}

/* ---- times ---- */

/* the timed passes' times; false if one is not known */
static bool
times_of(const RtbCell *cell, bool cpu, double *times)
{
	ListCell   *lc;

	foreach(lc, cell->timed)
	{
		const RtbPass *pass = lfirst(lc);
		int64		time = cpu ? pass->cpu_ns : pass->elapsed_ns;

		if (time == RTB_UNKNOWN)
			return false;
		times[foreach_current_index(lc)] = (double) time;
	}
	return list_length(cell->timed) > 0;
}

/*
 * The units of a time on the log scale: the passes, or where there are several
 * sessions the Hodges-Lehmann estimate of each.  Returns how many.
 */
static int
log_times(const RtbCell *cell, const double *times, int n, double *logs)
{
	int			nsessions = 0;

	for (int i = 0; i < n; i++)
		logs[i] = log(Max(times[i], 1));
	if (((RtbPass *) linitial(cell->timed))->session == ((RtbPass *) llast(cell->timed))->session)
		return n;
	/* passes are in the order they ran, so those of a session are neighbours */
	for (int start = 0, i = 1; i <= n; i++)
	{
		if (i == n || ((RtbPass *) list_nth(cell->timed, i))->session !=
			((RtbPass *) list_nth(cell->timed, start))->session)
		{
			logs[nsessions++] = rtb_hodges_lehmann(logs + start, i - start);
			start = i;
		}
	}
	return nsessions;
}

/*
 * How many digits a time deserves: none below the first digit of half its
 * interval, one to three.  The interval is the signed-rank one of the units'
 * logarithms; too few units have their whole range instead.
 */
static int
digits_of(const RtbCell *cell, const double *times, int n, double median, double alpha)
{
	double	   *logs = palloc(Max(n, 1) * sizeof(double));
	double		low;
	double		high;
	double		half;

	if (n < 2 || !(median > 0))
		return 2;
	n = log_times(cell, times, n, logs);
	if (!rtb_signed_rank_interval(logs, n, alpha, &low, &high))
	{
		rtb_sort(logs, n);
		low = logs[0];
		high = logs[n - 1];
	}
	half = median * expm1((high - low) / 2);
	if (!(half > 0))
		return 3;
	return Max(1, Min(3, rtb_magnitude(median) - rtb_magnitude(half) + 1));
}

static void
time_figures(const RtbCell *cell, double alpha, RtbResult *result)
{
	int			n = list_length(cell->timed);
	double	   *times = palloc(Max(n, 1) * sizeof(double));
	double		squares = 0;
	double		sum = 0;

	if (times_of(cell, false, times))
	{
		result->median_ns = rtb_median(times, n);
		result->digits = digits_of(cell, times, n, result->median_ns, alpha);
		result->best_ns = times[0];
		for (int i = 0; i < n; i++)
		{
			sum += times[i];
			result->best_ns = Min(result->best_ns, times[i]);
		}
		result->mean_ns = sum / n;
		for (int i = 0; i < n; i++)
			squares += (times[i] - result->mean_ns) * (times[i] - result->mean_ns);
		if (n > 1)
			result->stddev_ns = sqrt(squares / (n - 1));
	}
	if (times_of(cell, true, times))
		result->cpu_ns = rtb_median(times, n);
	if (cell->first && cell->first->elapsed_ns != RTB_UNKNOWN)
		result->first_ns = (double) cell->first->elapsed_ns;
}

/* transactions a second: mean and deviation over the passes, of an arm that commits */
static void
rate_figures(const RtbCell *cell, RtbResult *result)
{
	int			n = list_length(cell->timed);
	double	   *rates = palloc(Max(n, 1) * sizeof(double));
	double		sum = 0;
	double		squares = 0;
	ListCell   *lc;

	if (n == 0 || result->transactions == RTB_UNKNOWN)
		return;
	foreach(lc, cell->timed)
	{
		const RtbPass *pass = lfirst(lc);

		rates[foreach_current_index(lc)] = pass->transactions * 1e9 / Max(pass->elapsed_ns, 1);
		sum += rates[foreach_current_index(lc)];
	}
	result->tps = sum / n;
	for (int i = 0; i < n; i++)
		squares += (rates[i] - result->tps) * (rates[i] - result->tps);
	if (n > 1)
		result->tps_stddev = sqrt(squares / (n - 1));
	result->commit_ns = (double) rtb_cell_count(cell, commit_ns_of);
}

/* what the server's counters say of updates, NaN where there are none */
static double
hot_share(const RtbCell *cell)
{
	int64		updates = rtb_cell_count(cell, updates_of);
	int64		hot = rtb_cell_count(cell, hot_updates_of);

	return updates > 0 && hot != RTB_UNKNOWN ? 100.0 * hot / updates : NAN;
}

/* rounds that have a timed pass, and sessions that have one */
static void
count_rounds(const RtbCell *cell, RtbResult *result)
{
	const RtbPass *previous = NULL;
	ListCell   *lc;

	/* passes are in the order they ran, so equal ones are neighbours */
	foreach(lc, cell->timed)
	{
		const RtbPass *pass = lfirst(lc);
		bool		new_session = previous == NULL || previous->session != pass->session;

		result->passes++;
		if (new_session)
			result->sessions++;
		if (new_session || previous->round != pass->round)
			result->rounds++;
		previous = pass;
	}
}

/*
 * The first pass whose plans are known: a timed one, or, where those are not
 * counted (over a connection), an untimed one at the session's begin.  NULL if
 * there is none.
 */
const RtbPass *
rtb_cell_counted(const RtbCell *cell)
{
	ListCell   *lc;

	foreach(lc, cell->timed)
	{
		if (((const RtbPass *) lfirst(lc))->plan_shape != NULL)
			return lfirst(lc);
	}
	foreach(lc, cell->digested)
	{
		const RtbPass *pass = lfirst(lc);

		if (pass->round == 0 && pass->plan_shape != NULL)
			return pass;
	}
	return NULL;
}

/*
 * Fill in the work and the times of a cell.  Figures of a cell without timed
 * passes, and of one that failed, stay unknown.  alpha is that of the interval
 * that limits the digits.
 */
void
rtb_cell_figures(const RtbCell *cell, double alpha, RtbResult *result)
{
	const RtbPass *counted;

	result->first_ns = result->median_ns = result->mean_ns = NAN;
	result->best_ns = result->stddev_ns = result->cpu_ns = NAN;
	result->digits = 3;
	result->bytes_sent = result->bytes_received = RTB_UNKNOWN;
	result->round_trips = result->statements = result->fired = RTB_UNKNOWN;
	result->rows = result->buffers = result->wal_records = RTB_UNKNOWN;
	result->wal_bytes = result->xids = RTB_UNKNOWN;
	result->transactions = result->subxact_overflowed = result->catalog_reads = RTB_UNKNOWN;
	result->hot_percent = result->commit_ns = result->tps = result->tps_stddev = NAN;
	count_rounds(cell, result);
	if (cell->failed)
		return;

	result->round_trips = rtb_cell_count(cell, round_trips_of);
	result->bytes_sent = rtb_cell_count(cell, bytes_sent_of);
	result->bytes_received = rtb_cell_count(cell, bytes_received_of);
	result->statements = rtb_cell_count(cell, statements_of);
	result->fired = rtb_cell_count(cell, fired_of);
	result->rows = rtb_cell_count(cell, rows_of);
	result->buffers = rtb_cell_count(cell, buffers_of);
	result->wal_records = rtb_cell_count(cell, wal_records_of);
	result->wal_bytes = rtb_cell_count(cell, wal_bytes_of);
	result->xids = rtb_cell_count(cell, xids_of);
	result->transactions = rtb_cell_count(cell, transactions_of);
	result->subxact_overflowed = rtb_cell_count(cell, overflowed_of);
	result->catalog_reads = rtb_cell_count(cell, catalog_reads_of);
	result->hot_percent = hot_share(cell);
	if ((counted = rtb_cell_counted(cell)) != NULL)
		result->plan_shape = counted->plan_shape;
	if (cell->digested)
		result->digest = ((RtbPass *) llast(cell->digested))->digest;
	time_figures(cell, alpha, result);
	rate_figures(cell, result);
}
