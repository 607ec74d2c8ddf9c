/*
 * experiment.c
 *	  The schedule: points, sessions, rounds, order, stopping.
 *
 * One session: at each point the pilot's untimed passes, then rounds in which
 * every arm has one pass.  Odd rounds run a random permutation of the arms,
 * even rounds its reverse, which cancels linear drift and balances effects of
 * the first place.
 */
#include "postgres.h"

#include "experiment.h"

#include "common/pg_prng.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "facts.h"
#include "probe.h"
#include "session_host.h"
#include "unseen.h"

/* no pass gets less than this, however little is left of max_time */
#define RTB_LEAST_PASS_TIMEOUT_MS	1000

typedef struct Progress
{
	RtbExperiment *e;
	MemoryContext cxt;			/* of the run */
	RtbHost    *host;
	pg_prng_state prng;
	int64		started_ns;
	int		   *order;			/* this round's arms */
	int			norder;
	bool	   *warned;			/* by arm, at this point */
	/* what is kept if the run ends early: finished points only */
	int			points_done;
	int			passes_done;
	int			findings_done;
	int			steps_done;
} Progress;

/* a run is going on in this backend */
static bool running = false;

/* ---- what comes from the session ---- */

static char *
copy_text(const char *text)
{
	return text ? pstrdup(text) : NULL;
}

/* a worker finds no relation that only the caller sees: say so, in the notes too */
static char *
unseen_hint(Progress *p, const RtbPass *pass)
{
	RtbFinding *finding;
	char	   *hint;

	if (!p->e->options.own_transactions || strcmp(pass->sqlstate, "42P01") != 0)
		return NULL;
	hint = rtb_unseen_hint(pass->message);
	if (hint == NULL)
		return NULL;
	finding = palloc0(sizeof(RtbFinding));
	finding->kind = RTB_FOUND_NOTE;
	finding->has_point = pass->has_point;
	finding->point = pass->point;
	finding->arm = pass->arm;
	/* a phrase among others */
	finding->detail = pnstrdup(hint, strlen(hint) - 1);
	p->e->run->findings = lappend(p->e->run->findings, finding);
	return hint;
}

static void
warn_failed(Progress *p, const RtbPass *pass)
{
	const char *arm = list_nth(p->e->run->arms, pass->arm);
	char	   *where = pass->has_point ? psprintf(" at point " INT64_FORMAT, pass->point) : "";
	char	   *hint;

	if (p->warned[pass->arm])
		return;
	p->warned[pass->arm] = true;
	hint = strcmp(pass->sqlstate, "2D000") == 0
		? "This arm controls transactions itself, and a pass is one transaction that is rolled back: compare the same work without COMMIT and ROLLBACK."
		: unseen_hint(p, pass);
	ereport(WARNING,
			(errcode(MAKE_SQLSTATE(pass->sqlstate[0], pass->sqlstate[1], pass->sqlstate[2],
								   pass->sqlstate[3], pass->sqlstate[4])),
			 errmsg("arm \"%s\" failed%s: %s", arm, where, pass->message),
			 pass->failed_step > 0
			 ? errdetail("SQLSTATE %s in step %d, statement " INT64_FORMAT " of the pass.",
						 pass->sqlstate, pass->failed_step, pass->failed_statement)
			 : errdetail("SQLSTATE %s before the arm's first step.", pass->sqlstate),
			 hint != NULL ? errhint("%s", hint) : 0));
}

static void
keep_pass(void *arg, const RtbPass *pass)
{
	Progress   *p = arg;
	MemoryContext old = MemoryContextSwitchTo(p->cxt);
	RtbPass    *kept = palloc(sizeof(RtbPass));

	*kept = *pass;
	kept->plan_shape = copy_text(pass->plan_shape);
	kept->fired_shape = copy_text(pass->fired_shape);
	kept->digest = copy_text(pass->digest);
	kept->returned = copy_text(pass->returned);
	kept->sqlstate = copy_text(pass->sqlstate);
	kept->message = copy_text(pass->message);
	p->e->run->passes = lappend(p->e->run->passes, kept);
	if (kept->sqlstate != NULL)
		warn_failed(p, kept);
	MemoryContextSwitchTo(old);
}

static void
keep_finding(void *arg, const RtbFinding *finding)
{
	Progress   *p = arg;
	MemoryContext old = MemoryContextSwitchTo(p->cxt);
	RtbFinding *kept = palloc(sizeof(RtbFinding));

	*kept = *finding;
	kept->detail = copy_text(finding->detail);
	p->e->run->findings = lappend(p->e->run->findings, kept);
	MemoryContextSwitchTo(old);
}

static void
keep_step(void *arg, const RtbStepTime *step)
{
	Progress   *p = arg;
	MemoryContext old = MemoryContextSwitchTo(p->cxt);
	RtbStepTime *kept = palloc(sizeof(RtbStepTime));

	*kept = *step;
	kept->statement = copy_text(step->statement);
	p->e->run->steps = lappend(p->e->run->steps, kept);
	MemoryContextSwitchTo(old);
}

/* ---- time ---- */

/* milliseconds left of max_time; PG_INT64_MAX without one */
static int64
time_left_ms(const Progress *p)
{
	if (p->e->max_time_ms == 0)
		return PG_INT64_MAX;
	return p->e->max_time_ms - (rtb_clock_ns() - p->started_ns) / 1000000;
}

static int64
pass_timeout_ms(const Progress *p)
{
	if (p->e->pass_timeout_ms > 0)
		return p->e->pass_timeout_ms;
	if (p->e->max_time_ms == 0)
		return 0;
	return Max(time_left_ms(p), RTB_LEAST_PASS_TIMEOUT_MS);
}

/*
 * When a point's rounds must end: its share of the time that is left, the
 * points weighted by their value, since a pass's time grows with it.
 */
static int64
point_deadline_ns(const Progress *p, int index)
{
	List	   *points = p->e->run->points;
	double		total = 0;
	double		own = 0;

	if (p->e->max_time_ms == 0)
		return PG_INT64_MAX;
	for (int i = index; i < list_length(points); i++)
	{
		double		weight = Max(*(int64 *) list_nth(points, i), 1);

		total += weight;
		if (i == index)
			own = weight;
	}
	return rtb_clock_ns() +
		(int64) (Max(time_left_ms(p), 0) * 1e6 * (total > 0 ? own / total : 1));
}

/* ---- one point ---- */

/* a random permutation (Fisher and Yates, as Knuth's algorithm P) or its reverse */
static void
next_order(Progress *p, int round)
{
	if (round % 2 == 0)
	{
		for (int i = 0; i < p->norder / 2; i++)
		{
			int			swap = p->order[i];

			p->order[i] = p->order[p->norder - 1 - i];
			p->order[p->norder - 1 - i] = swap;
		}
		return;
	}
	for (int i = p->norder - 1; i > 0; i--)
	{
		int			j = (int) pg_prng_uint64_range(&p->prng, 0, i);
		int			swap = p->order[i];

		p->order[i] = p->order[j];
		p->order[j] = swap;
	}
}

static void
run_rounds(Progress *p, int index)
{
	int64		deadline = point_deadline_ns(p, index);
	int64		pair_started = rtb_clock_ns();
	int			rounds = p->e->rounds;

	for (int round = 1; round <= rounds; round++)
	{
		/* only whole mirror pairs: half of one would lean to one side */
		if (round % 2 == 1)
		{
			int64		now = rtb_clock_ns();
			int64		pair = round > 1 ? now - pair_started : 0;

			if (round > 1 && now + 2 * pair > deadline)
				rounds = Min(rounds, round + 1);
			pair_started = now;
		}
		next_order(p, round);
		rtb_host_round(p->host, pass_timeout_ms(p), 1, round, p->norder, p->order,
					   round == rounds);
	}
}

static void
run_point(Progress *p, int index)
{
	RtbRun	   *run = p->e->run;
	bool		has_point = run->points != NIL;
	int64		point = has_point ? *(int64 *) list_nth(run->points, index) : 0;
	char	   *document = rtb_work_document(p->e->scenario, has_point, point);

	memset(p->warned, 0, sizeof(bool) * p->norder);
	for (int i = 0; i < p->norder; i++)
		p->order[i] = i;
	rtb_host_point(p->host, document);
	rtb_host_pilot(p->host, pass_timeout_ms(p));
	run_rounds(p, index);
	rtb_host_leave(p->host);
	pfree(document);

	p->points_done++;
	p->passes_done = list_length(run->passes);
	p->findings_done = list_length(run->findings);
	p->steps_done = list_length(run->steps);
}

static void
run_points(Progress *p)
{
	int			npoints = Max(list_length(p->e->run->points), 1);

	for (int i = 0; i < npoints; i++)
	{
		if (i > 0 && time_left_ms(p) <= 0)
		{
			StringInfoData left;

			initStringInfo(&left);
			for (int k = i; k < npoints; k++)
				appendStringInfo(&left, "%s" INT64_FORMAT, k > i ? ", " : "",
								 *(int64 *) list_nth(p->e->run->points, k));
			ereport(WARNING,
					(errmsg("max_time is used up: points not measured: %s", left.data),
					 errhint("Raise max_time, or name fewer points or arms.")));
			p->e->run->complete = false;
			return;
		}
		run_point(p, i);
	}
}

/* the finished points are kept by another process: this transaction will be rolled back */
static void
keep_finished(Progress *p)
{
	RtbRun	   *run = p->e->run;
	int64		id;

	run->complete = false;
	run->finished_at = GetCurrentTimestamp();
	run->passes = list_truncate(run->passes, p->passes_done);
	run->findings = list_truncate(run->findings, p->findings_done);
	run->steps = list_truncate(run->steps, p->steps_done);
	id = rtb_host_rescue(p->host, run);
	if (id > 0)
		ereport(WARNING,
				(errmsg("run " INT64_FORMAT " ended early and keeps %d of %d points", id,
						p->points_done, Max(list_length(run->points), 1)),
				 errhint("SELECT * FROM rtbench.result(" INT64_FORMAT ");", id)));
}

/*
 * An error, or somebody's cancel, ended the run: keep what is finished, clean
 * up, and go on with the error.  What goes wrong on the way is nobody's concern.
 */
static void
end_early(Progress *p)
{
	ErrorData  *edata;

	MemoryContextSwitchTo(p->cxt);
	edata = CopyErrorData();
	FlushErrorState();
	PG_TRY();
	{
		if (p->host != NULL)
			rtb_host_unwind(p->host);
		if (p->e->options.own_transactions && edata->hint == NULL &&
			edata->sqlerrcode == ERRCODE_UNDEFINED_TABLE)
			edata->hint = rtb_unseen_hint(edata->message);
		if (p->points_done > 0)
			keep_finished(p);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(p->cxt);
		FlushErrorState();
	}
	PG_END_TRY();
	if (p->host != NULL)
		rtb_host_abandon(p->host);
	ReThrowError(edata);
}

/*
 * rtb_experiment_run
 *		Run everything; passes, findings and step times are in e->run then.
 *
 * In the current memory context.  Throws what ends a run: a failing setup or
 * check, a cancel, a worker that cannot be had or died; and 55000 if it is an
 * arm of a run that asks for another one.
 */
void
rtb_experiment_run(RtbExperiment *e)
{
	Progress   *p = palloc0(sizeof(Progress));
	RtbSessionSink sink = {keep_pass, keep_finding, keep_step, p};
	int			narms = list_length(e->run->arms);

	if (running || rtb_host_serves())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a run of rtbench cannot be part of another one")));
	p->e = e;
	p->cxt = CurrentMemoryContext;
	p->norder = narms;
	p->order = palloc0(sizeof(int) * narms);
	p->warned = palloc0(sizeof(bool) * narms);
	p->started_ns = rtb_clock_ns();
	pg_prng_seed(&p->prng, (uint64) e->run->seed);
	e->run->complete = true;
	running = true;
	PG_TRY();
	{
		p->host = rtb_host_open(&e->options, &sink);
		e->run->machine = rtb_facts_machine(rtb_host_empty_price(p->host));
		run_points(p);
		rtb_host_close(p->host);
		running = false;
	}
	PG_CATCH();
	{
		running = false;
		end_early(p);
	}
	PG_END_TRY();
	e->run->finished_at = GetCurrentTimestamp();
}
