/*
 * collector.c
 *	  What sessions tell, gathered into the run.
 *
 * Everything is copied into the run's memory context.  An arm's failure is
 * said at once, by a WARNING, the first time that it fails at a point.
 */
#include "postgres.h"

#include "collector.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "unseen.h"

static char *
copy_text(const char *text)
{
	return text ? pstrdup(text) : NULL;
}

/*
 * rtb_collector_failed
 *		Has this arm failed at this point, in any pass but the given one?
 */
bool
rtb_collector_failed(const RtbCollector *c, bool has_point, int64 point, int arm,
					 const RtbPass *but)
{
	ListCell   *lc;

	foreach(lc, c->failed)
	{
		const RtbPass *pass = lfirst(lc);

		if (pass != but && pass->arm == arm && pass->has_point == has_point &&
			pass->point == point)
			return true;
	}
	return false;
}

/* a worker finds no relation that only the caller sees: say so, in the notes too */
static const char *
unseen_hint(RtbCollector *c, const RtbPass *pass)
{
	RtbFinding *finding;
	char	   *hint;

	if (strcmp(c->run->transport, "caller") == 0 || strcmp(pass->sqlstate, "42P01") != 0)
		return NULL;
	hint = rtb_unseen_hint(pass->message);
	if (hint == NULL)
		return NULL;
	finding = palloc0(sizeof(RtbFinding));
	finding->kind = RTB_FOUND_NOTE;
	finding->has_point = pass->has_point;
	finding->point = pass->point;
	finding->arm = pass->arm;
	/* a sentence there, a phrase among others here */
	finding->detail = pnstrdup(hint, strlen(hint) - 1);
	finding->detail[0] = pg_tolower(finding->detail[0]);
	c->run->findings = lappend(c->run->findings, finding);
	return hint;
}

/* the way out of failures that have one which the error does not tell; or NULL */
static const char *
failure_hint(const char *sqlstate)
{
	if (strcmp(sqlstate, "2D000") == 0)
		return "COMMIT and ROLLBACK can be inside only of what is sent as a transaction of its own: an arm with ending => 'autocommit', by CALL rtbench.run_sweep(...) or run_compare(...). Or compare the same work without them.";
	if (strcmp(sqlstate, "42P08") == 0 || strcmp(sqlstate, "42P18") == 0)
		return "Give the types of the step's parameters: rtbench.step(statement, types => '{bigint, text}').";
	return NULL;
}

static void
warn_failed(RtbCollector *c, const RtbPass *pass)
{
	const char *arm = list_nth(c->run->arms, pass->arm);
	const char *hint;
	char	   *batch = pass->round > 0 ? psprintf(" in round %d of session %d", pass->round,
											   pass->session) : "";
	char	   *place = c->run->server ? psprintf(" at server \"%s\"", c->run->server) : "";
	char	   *where = pass->has_point ? psprintf(" at point " INT64_FORMAT, pass->point) : "";

	if (rtb_collector_failed(c, pass->has_point, pass->point, pass->arm, pass))
		return;
	hint = pass->hint ? pass->hint : failure_hint(pass->sqlstate);
	if (hint == NULL)
		hint = unseen_hint(c, pass);
	ereport(WARNING,
			(errcode(MAKE_SQLSTATE(pass->sqlstate[0], pass->sqlstate[1], pass->sqlstate[2],
								   pass->sqlstate[3], pass->sqlstate[4])),
			 errmsg("arm \"%s\" failed%s%s: %s", arm, where, place, pass->message),
			 pass->failed_step > 0
			 ? errdetail("SQLSTATE %s in step %d, statement " INT64_FORMAT " of the pass%s.",
						 pass->sqlstate, pass->failed_step, pass->failed_statement, batch)
			 : errdetail("SQLSTATE %s before the arm's first step%s.", pass->sqlstate, batch),
			 hint != NULL ? errhint("%s", hint) : 0));
}

static void
keep_pass(void *arg, const RtbPass *pass)
{
	RtbCollector *c = arg;
	MemoryContext old = MemoryContextSwitchTo(c->cxt);
	RtbPass    *kept = palloc(sizeof(RtbPass));

	*kept = *pass;
	kept->plan_shape = copy_text(pass->plan_shape);
	kept->fired_shape = copy_text(pass->fired_shape);
	kept->digest = copy_text(pass->digest);
	kept->returned = copy_text(pass->returned);
	kept->sqlstate = copy_text(pass->sqlstate);
	kept->message = copy_text(pass->message);
	kept->hint = copy_text(pass->hint);
	c->run->passes = lappend(c->run->passes, kept);
	rtb_progress_pass(c->progress);
	if (kept->sqlstate != NULL)
	{
		c->failed = lappend(c->failed, kept);
		warn_failed(c, kept);
	}
	MemoryContextSwitchTo(old);
}

static void
keep_finding(void *arg, const RtbFinding *finding)
{
	RtbCollector *c = arg;
	MemoryContext old = MemoryContextSwitchTo(c->cxt);
	RtbFinding *kept = palloc(sizeof(RtbFinding));

	*kept = *finding;
	kept->detail = copy_text(finding->detail);
	c->run->findings = lappend(c->run->findings, kept);
	MemoryContextSwitchTo(old);
}

static void
keep_step(void *arg, const RtbStepTime *step)
{
	RtbCollector *c = arg;
	MemoryContext old = MemoryContextSwitchTo(c->cxt);
	RtbStepTime *kept = palloc(sizeof(RtbStepTime));

	*kept = *step;
	kept->statement = copy_text(step->statement);
	c->run->steps = lappend(c->run->steps, kept);
	MemoryContextSwitchTo(old);
}

/*
 * rtb_collector_create
 *		A collector for a run, in the current context; sink is filled in.
 */
RtbCollector *
rtb_collector_create(RtbRun *run, RtbProgress *progress, RtbSessionSink *sink)
{
	RtbCollector *c = palloc0(sizeof(RtbCollector));

	c->run = run;
	c->progress = progress;
	c->cxt = CurrentMemoryContext;
	sink->pass = keep_pass;
	sink->finding = keep_finding;
	sink->step = keep_step;
	sink->arg = c;
	return c;
}

/*
 * rtb_collector_expected
 *		Passes that are to be expected of so many untimed passes of each arm and
 *		so many rounds at a point: arms that failed there are left out.
 */
int64
rtb_collector_expected(const RtbCollector *c, bool has_point, int64 point,
					   int warm_ups, int rounds, bool control)
{
	int64		passes = 0;

	for (int arm = 0; arm < list_length(c->run->arms); arm++)
	{
		if (rtb_collector_failed(c, has_point, point, arm, NULL))
			continue;
		passes += warm_ups + rounds;
		if (control && arm == c->run->baseline)
			passes += rounds;
	}
	return passes;
}

/*
 * rtb_collector_mark
 *		What was gathered so far is whole: it is kept if the run ends early.
 */
void
rtb_collector_mark(RtbCollector *c, int points_done)
{
	c->points_done = points_done;
	c->passes_done = list_length(c->run->passes);
	c->findings_done = list_length(c->run->findings);
	c->steps_done = list_length(c->run->steps);
}

/*
 * rtb_collector_cut
 *		Back to what was whole when it was marked.
 */
void
rtb_collector_cut(RtbCollector *c)
{
	c->run->passes = list_truncate(c->run->passes, c->passes_done);
	c->run->findings = list_truncate(c->run->findings, c->findings_done);
	c->run->steps = list_truncate(c->run->steps, c->steps_done);
}
