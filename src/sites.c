/*
 * sites.c
 *	  The servers where an experiment runs: one, or several in lockstep.
 *
 * Each has a run of its own, a session that keeps the fixtures there, and at
 * times one that visits them.  What is done at all of them is done in mirrored
 * order, as the arms of a round are: whatever changes on the way, this
 * machine's load or the network's, then falls on each of them alike.
 *
 * Memory: everything lies in the context of the experiment.
 */
#include "postgres.h"

#include "experiment_private.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "cell.h"
#include "facts.h"
#include "probe.h"

/* how long an empty statement's price is looked for again */
#define DOUBT_NS	INT64CONST(1000000000)

/*
 * rtb_sites_prepare
 *		Room for the sites that the experiment names; nothing is started.
 */
void
rtb_sites_prepare(Experiment *x)
{
	RtbExperiment *e = x->e;
	ListCell   *lc;

	x->nsites = list_length(e->sites);
	x->sites = palloc0(sizeof(Site) * x->nsites);
	x->site_order = palloc0(sizeof(int) * x->nsites);
	foreach(lc, e->sites)
	{
		const RtbSite *named = lfirst(lc);
		Site	   *site = &x->sites[foreach_current_index(lc)];

		x->site_order[foreach_current_index(lc)] = foreach_current_index(lc);
		site->run = named->run;
		site->run->complete = true;
		site->run->scope = "this backend only";
		site->options = e->options;
		site->options.wire = named->wire;
		site->collector = rtb_collector_create(site->run, e->progress, &site->sink);
		site->descriptions = palloc0(sizeof(StringInfo) * x->nwalk);
	}
}

/* where an error or a message comes from, if there are several places */
static void
tell_site(void *arg)
{
	errcontext("at server \"%s\"", (const char *) arg);
}

static void
at_site(Experiment *x, Site *site, SiteAct act, void *arg)
{
	ErrorContextCallback context = {error_context_stack, tell_site, site->run->server};

	if (x->nsites > 1)
		error_context_stack = &context;
	act(x, site, arg);
	error_context_stack = context.previous;
}

/*
 * rtb_sites_each
 *		Do something at every site: in a random order in odd turns, in the
 *		reverse of the turn before in even ones.
 */
void
rtb_sites_each(Experiment *x, int turn, SiteAct act, void *arg)
{
	rtb_schedule_order(&x->prng, turn, x->nsites, x->site_order);
	for (int i = 0; i < x->nsites; i++)
		at_site(x, &x->sites[x->site_order[i]], act, arg);
}

static void
tell_machine(Site *site)
{
	const RtbWireOptions *wire = site->options.wire;

	site->run->machine = wire != NULL && wire->is_server
		? rtb_facts_far_machine(site->empty_ns, site->far_version)
		: rtb_facts_machine(site->empty_ns);
}

/*
 * What the figures at a site depend on.  Over a connection it is the far end
 * that says so: settings of this session do not reach there.
 */
static void
learn_facts(Site *site)
{
	site->empty_ns = rtb_host_empty_price(site->keeper);
	if (site->options.wire != NULL)
	{
		RtbFarFacts facts = rtb_host_facts(site->keeper);

		site->far_version = facts.version;
		site->run->server_version = facts.server_version ? facts.server_version : facts.version;
		site->run->settings = facts.settings ? rtb_json_to_jsonb(facts.settings) : NULL;
	}
	tell_machine(site);
}

/* a timed pass of the run that took less time than its statements can, or NULL */
static const RtbPass *
impossible_pass(const Site *site)
{
	ListCell   *lc;

	foreach(lc, site->run->passes)
	{
		const RtbPass *pass = lfirst(lc);

		if ((pass->kind == RTB_PASS_TIMED || pass->kind == RTB_PASS_LAST) &&
			pass->sqlstate == NULL && rtb_pass_impossible(pass, site->empty_ns))
			return pass;
	}
	return NULL;
}

/*
 * On a busy machine all of a thousand empty statements may fall into a spell in
 * which everything takes ten times as long.  Before a pass is called impossible
 * by their price, it is measured again: the smallest one counts.
 */
static void
doubt_price(Experiment *x, Site *site, void *arg)
{
	int64		started = rtb_clock_ns();

	if (impossible_pass(site) == NULL)
		return;
	do
	{
		int64		again;

		CHECK_FOR_INTERRUPTS();
		again = rtb_host_empty_price(site->keeper);
		site->empty_ns = Min(site->empty_ns, again);
	} while (impossible_pass(site) != NULL && rtb_clock_ns() - started < DOUBT_NS);
	tell_machine(site);
}

static void
open_site(Experiment *x, Site *site, void *arg)
{
	site->keeper = rtb_host_open(&site->options, &site->sink);
	learn_facts(site);
}

/*
 * rtb_sites_open
 *		The sessions that keep the fixtures.  Throws if one cannot be had: what
 *		has been opened is for rtb_sites_abandon() then.
 */
void
rtb_sites_open(Experiment *x)
{
	for (int i = 0; i < x->nsites; i++)
		at_site(x, &x->sites[i], open_site, NULL);
}

/*
 * rtb_sites_enter
 *		Every keeper goes back to a point, by its place.
 */
void
rtb_sites_enter(Experiment *x, int place)
{
	for (int i = 0; i < x->nsites; i++)
		rtb_host_enter(x->sites[i].keeper, place);
}

/*
 * rtb_sites_leave
 *		Every keeper is done with the point where it is.
 */
void
rtb_sites_leave(Experiment *x)
{
	for (int i = 0; i < x->nsites; i++)
		rtb_host_leave(x->sites[i].keeper);
}

/*
 * rtb_sites_leave_out
 *		These points are not measured anywhere.
 */
void
rtb_sites_leave_out(Experiment *x, List *points)
{
	for (int i = 0; i < x->nsites; i++)
	{
		RtbRun	   *run = x->sites[i].run;

		run->points = list_difference_ptr(run->points, points);
		run->complete = false;
	}
}

/*
 * rtb_sites_mark
 *		What was gathered so far is whole at every site.
 */
void
rtb_sites_mark(Experiment *x, int points_done)
{
	for (int i = 0; i < x->nsites; i++)
		rtb_collector_mark(x->sites[i].collector, points_done);
}

/*
 * rtb_sites_cut
 *		Back to that: all have the same sessions and rounds.
 */
void
rtb_sites_cut(Experiment *x)
{
	for (int i = 0; i < x->nsites; i++)
		rtb_collector_cut(x->sites[i].collector);
}

/*
 * rtb_sites_close
 *		End of all sessions; the runs are finished at one time.
 */
void
rtb_sites_close(Experiment *x)
{
	TimestampTz now;

	rtb_sites_each(x, 1, doubt_price, NULL);
	for (int i = 0; i < x->nsites; i++)
		rtb_host_close(x->sites[i].keeper);
	now = GetCurrentTimestamp();
	for (int i = 0; i < x->nsites; i++)
		x->sites[i].run->finished_at = now;
}

/*
 * rtb_sites_unwind
 *		After an error: end the visitors, and get the keepers to where
 *		statements can run again.
 */
void
rtb_sites_unwind(Experiment *x)
{
	for (int i = 0; i < x->nsites; i++)
	{
		rtb_host_abandon(x->sites[i].visitor);
		x->sites[i].visitor = NULL;
	}
	for (int i = 0; i < x->nsites; i++)
	{
		if (x->sites[i].keeper != NULL)
			rtb_host_unwind(x->sites[i].keeper);
	}
}

/*
 * rtb_sites_keep
 *		After an error and rtb_sites_unwind(): what is finished is kept by
 *		another process, since this transaction will be rolled back.
 */
void
rtb_sites_keep(Experiment *x)
{
	int			done = x->sites[0].collector->points_done;
	TimestampTz now = GetCurrentTimestamp();

	if (done == 0)
		return;
	rtb_progress_phase(x->e->progress, RTB_PHASE_KEEPING);
	rtb_sites_cut(x);
	for (int i = 0; i < x->nsites; i++)
	{
		RtbRun	   *run = x->sites[i].run;
		int64		id;

		run->complete = false;
		run->finished_at = now;
		/* all of them by one worker: a site's own may have lost its server */
		id = rtb_host_rescue(x->sites[0].keeper, run);
		if (id > 0)
			ereport(WARNING,
					(errmsg("run " INT64_FORMAT " ended early and keeps what was finished", id),
					 errdetail("Finished points: %d of %d.", done, Max(list_length(run->points), 1)),
					 errhint("SELECT * FROM rtbench.result(" INT64_FORMAT ");", id)));
	}
}

/*
 * rtb_sites_abandon
 *		After an error: end all sessions, whatever they are doing.  Does not
 *		throw.
 */
void
rtb_sites_abandon(Experiment *x)
{
	for (int i = 0; i < x->nsites; i++)
	{
		rtb_host_abandon(x->sites[i].visitor);
		rtb_host_abandon(x->sites[i].keeper);
	}
}
