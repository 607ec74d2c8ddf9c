/*
 * load_run.c
 *	  The conductor of a load: sessions started, told what to do, counted, ended.
 *
 * Worker 0 of the pool keeps the fixture, the others are sessions.  The load is
 * a row of phases, each begun by one word in shared memory: settling phases,
 * in which nothing is counted, and counted ones.  The next phase begins when
 * the time of one is up and every session has come to it, so that a window
 * holds transactions of one variant only.
 *
 * Waits hold no snapshot.  Whatever ends a load early, the sessions are ended
 * before the keeper, which drops the fixture as it goes.
 *
 * Memory: the current context; windows are kept in load->windows.
 */
#include "postgres.h"

#include "load_shared.h"

#include "access/xact.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "storage/dsm.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "load_connect.h"
#include "load_waits.h"
#include "load_windows.h"
#include "message_text.h"
#include "probe.h"
#include "progress.h"
#include "schedule.h"
#include "worker.h"
#include "worker_pool.h"

#define KEEPER				0
#define SAMPLE_INTERVAL_MS	10
/* of a window that is compared, so much is not counted after the change */
#define SETTLING_SHARE		0.1

typedef struct Conductor
{
	RtbLoad    *load;
	RtbPool    *pool;
	int			nseats;
	dsm_segment *segment;
	RtbLoadShared *shared;
	RtbLoadFar *far;			/* of the workers; only over connections */
	PGPROC	  **procs;			/* of the sessions */
	PGPROC	  **sampled;		/* where what they wait for shows; NULL: nowhere here */
	RtbWaits   *waits;			/* of the groups, in this phase */
	uint32		command;
	int			ordinal;
	int			windows;
	int64		sampled_ns;
	RtbProgress *progress;
	char	   *schema;			/* the scratch schema */
	char	   *path;
} Conductor;

static bool running = false;

static RtbLoadGroup *
group_of_seat(const Conductor *c, int seat)
{
	return list_nth(c->load->groups, c->shared->seats[seat].group);
}

/* ---- starting ---- */

static void
take_fixture(void *arg, char kind, StringInfo body)
{
	Conductor  *c = arg;

	c->schema = rtb_get_text(body);
	c->path = rtb_get_text(body);
}

static void
build_fixture(Conductor *c)
{
	StringInfoData buf;

	rtb_progress_phase(c->progress, RTB_PHASE_FIXTURE);
	initStringInfo(&buf);
	pq_sendbytes(&buf, c->load->setup, strlen(c->load->setup) + 1);
	pq_sendint64(&buf, c->load->warmup_ms + c->load->duration_ms);
	rtb_pool_send(c->pool, KEEPER, RTB_LOAD_FIXTURE, buf.data, buf.len, take_fixture, c);
	rtb_pool_wait(c->pool, KEEPER);
}

static void
create_shared(Conductor *c)
{
	Size		size = offsetof(RtbLoadShared, seats) + sizeof(RtbLoadSeat) * c->nseats;
	int			seat = 0;
	int			group = 0;
	ListCell   *lc;

	c->segment = dsm_create(size, 0);
	c->shared = dsm_segment_address(c->segment);
	memset(c->shared, 0, size);
	c->shared->magic = RTB_LOAD_MAGIC;
	c->shared->retry = c->load->retry;
	pg_atomic_init_u32(&c->shared->arrived, 0);
	pg_atomic_init_u32(&c->shared->command, 0);
	for (int i = 0; i < RTB_LOAD_GROUPS; i++)
		for (int k = 0; k < RTB_LOAD_VARIANTS; k++)
			pg_atomic_init_u32(&c->shared->succeeded[i][k], 0);
	foreach(lc, c->load->groups)
	{
		RtbLoadGroup *g = lfirst(lc);

		for (int i = 0; i < g->sessions; i++, seat++)
		{
			pg_atomic_init_u32(&c->shared->seats[seat].seen, 0);
			pg_atomic_init_u32(&c->shared->seats[seat].busy, 0);
			c->shared->seats[seat].group = group;
			c->shared->seats[seat].rate = g->rate / g->sessions;
		}
		group++;
	}
}

/* give every session its seat */
static void
seat_sessions(Conductor *c)
{
	for (int seat = 0; seat < c->nseats; seat++)
	{
		RtbLoadGroup *g = group_of_seat(c, seat);
		StringInfoData buf;
		ListCell   *lc;

		initStringInfo(&buf);
		pq_sendint32(&buf, dsm_segment_handle(c->segment));
		pq_sendint32(&buf, seat);
		rtb_send_text(&buf, c->path);
		rtb_send_text(&buf, c->schema);
		pq_sendint32(&buf, list_length(g->variants));
		foreach(lc, g->variants)
		{
			const char *work = ((RtbLoadVariant *) lfirst(lc))->work;

			pq_sendbytes(&buf, work, strlen(work) + 1);
		}
		rtb_pool_send(c->pool, 1 + seat, RTB_LOAD_SEAT, buf.data, buf.len, NULL, NULL);
	}
	rtb_pool_wait_all(c->pool);
}

/* bring all sessions to the barrier */
static void
gather(Conductor *c)
{
	c->procs = palloc0(sizeof(PGPROC *) * c->nseats);
	c->sampled = c->procs;
	if (c->far != NULL)
		c->sampled = palloc0(sizeof(PGPROC *) * c->nseats);
	for (int seat = 0; seat < c->nseats; seat++)
	{
		c->procs[seat] = BackendPidGetProc(rtb_pool_pid(c->pool, 1 + seat));
		if (c->procs[seat] == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_CONNECTION_FAILURE),
					 errmsg("rtbench worker ended unexpectedly"),
					 errhint("The server log tells why.")));
		if (c->far != NULL && c->far[1 + seat].pid != 0)
			c->sampled[seat] = BackendPidGetProc(c->far[1 + seat].pid);
		rtb_pool_send(c->pool, 1 + seat, RTB_LOAD_GO, "", 0, NULL, NULL);
	}
	while (pg_atomic_read_u32(&c->shared->arrived) < c->nseats)
		(void) rtb_pool_step(c->pool, 1);
}

/* ---- phases ---- */

static bool
all_have_seen(const Conductor *c)
{
	for (int seat = 0; seat < c->nseats; seat++)
		if (pg_atomic_read_u32(&c->shared->seats[seat].seen) != c->command)
			return false;
	return true;
}

/* does it show here what sessions wait for? */
static bool
seen(const Conductor *c)
{
	return c->far == NULL || c->far[KEEPER].pid != 0;
}

static void
sample(Conductor *c)
{
	int64		now = rtb_clock_ns();

	if (now - c->sampled_ns < (SAMPLE_INTERVAL_MS - 1) * INT64CONST(1000000))
		return;
	c->sampled_ns = now;
	for (int seat = 0; seat < c->nseats; seat++)
		rtb_waits_sample(&c->waits[c->shared->seats[seat].group], c->sampled[seat],
						 c->shared->seats[seat].rate <= 0 ||
						 pg_atomic_read_u32(&c->shared->seats[seat].busy) != 0);
}

static void
command(Conductor *c, int variant, bool counted, bool stop)
{
	c->command = RTB_COMMAND(++c->ordinal, variant, counted, stop);
	pg_write_barrier();
	pg_atomic_write_u32(&c->shared->command, c->command);
	for (int seat = 0; seat < c->nseats; seat++)
		SetLatch(&c->procs[seat]->procLatch);
}

/* one phase: at least so long, and until every session has come to it */
static void
phase(Conductor *c, int variant, bool counted, int64 ms)
{
	int64		until = rtb_clock_ns() + ms * 1000000;

	if (counted)
		memset(c->waits, 0, sizeof(RtbWaits) * list_length(c->load->groups));
	command(c, variant, counted, false);
	for (;;)
	{
		int64		left = until - rtb_clock_ns();

		if (left <= 0 && all_have_seen(c))
			break;
		if (rtb_pool_step(c->pool, left <= 0 ? 1 : Min(SAMPLE_INTERVAL_MS, 1 + left / 1000000)))
			elog(ERROR, "sessions of the load have ended by themselves");
		if (counted && seen(c))
			sample(c);
	}
}

/* ---- windows ---- */

static void
collect(Conductor *c, const RtbLoadWindow *window)
{
	rtb_load_collect(c->load, c->shared, c->nseats, seen(c) ? c->waits : NULL, window, ++c->windows);
}

/* a simulated distance as it really was */
static void
tell_distance(Conductor *c)
{
	RtbDelivered all = {0};
	char	   *text;

	for (int seat = 0; seat < c->nseats; seat++)
	{
		const RtbDelivered *one = &c->shared->seats[seat].delivered;

		all.waits += one->waits;
		all.asked_ns += one->asked_ns;
		all.delivered_ns += one->delivered_ns;
		all.longest_ns = Max(all.longest_ns, one->longest_ns);
	}
	text = rtb_wire_delivered_text(&all);
	if (text != NULL)
		c->load->notes = lappend(c->load->notes, text);
}

/* what the far end had to say to the sessions, which nobody was shown */
static void
tell_notices(Conductor *c)
{
	int64		notices = 0;

	for (int seat = 0; seat < c->nseats; seat++)
		notices += c->shared->seats[seat].notices;
	if (notices > 0)
		c->load->notes = lappend(c->load->notes,
								 psprintf(notices == 1 ? "1 notice of the far end, warm-up included"
										  : INT64_FORMAT " notices of the far end, warm-up included", notices));
}

/* end of the sessions' work */
static void
stop(Conductor *c, int variant)
{
	command(c, variant, false, true);
	rtb_pool_wait_all(c->pool);
	tell_distance(c);
	tell_notices(c);
}

static void
run_plain(Conductor *c)
{
	RtbLoadWindow window = {0};

	phase(c, 0, false, c->load->warmup_ms);
	rtb_progress_round(c->progress, 1);
	phase(c, 0, true, c->load->duration_ms);
	stop(c, 0);
	collect(c, &window);
}

/*
 * rtb_load_window_ms
 *		Time of one window of a load that compares variants.
 */
int64
rtb_load_window_ms(const RtbLoad *load)
{
	RtbLoadGroup *g = list_nth(load->groups, load->compared);

	return load->duration_ms / (load->rounds * (list_length(g->variants) + load->control));
}

/* alternating windows: mirrored rounds, the baseline's control among them */
static void
run_compared(Conductor *c)
{
	RtbLoad    *load = c->load;
	int			nvariants = list_length(((RtbLoadGroup *) list_nth(load->groups, load->compared))->variants);
	int			norder = nvariants + load->control;
	int64		window_ms = rtb_load_window_ms(load);
	int64		settling_ms = (int64) (window_ms * SETTLING_SHARE);
	int		   *order = palloc(sizeof(int) * norder);
	RtbLoadWindow window = {0};
	pg_prng_state prng;

	pg_prng_seed(&prng, (uint64) load->seed);
	for (int i = 0; i < norder; i++)
		order[i] = i;
	for (int round = 1; round <= load->rounds; round++)
	{
		rtb_schedule_order(&prng, round, norder, order);
		rtb_progress_round(c->progress, round);
		for (int i = 0; i < norder; i++)
		{
			int			variant = order[i] % nvariants;

			phase(c, variant, false, round == 1 && i == 0 ? load->warmup_ms : settling_ms);
			if (round > 1 || i > 0)
				collect(c, &window);
			window.round = round;
			window.position = i + 1;
			window.variant = variant;
			window.control = order[i] >= nvariants;
			phase(c, variant, true, window_ms - settling_ms);
		}
	}
	stop(c, window.variant);
	collect(c, &window);
}

/* ---- the load as a whole ---- */

static void
failed_session(void *arg)
{
	Conductor  *c = arg;
	int			failed = c->pool == NULL ? -1 : rtb_pool_failed(c->pool);

	if (failed > KEEPER && c->shared != NULL)
		errcontext("session %d of the load, group \"%s\"", failed, group_of_seat(c, failed - 1)->name);
}

static void
start(Conductor *c)
{
	int			sessions = rtb_load_sessions(c->load);

	c->nseats = sessions;
	c->waits = palloc0(sizeof(RtbWaits) * list_length(c->load->groups));
	c->pool = rtb_pool_start(1 + sessions,
							 psprintf("The load has %d sessions, and one worker keeps its fixture",
									  sessions));
	if (c->load->wire != NULL)
		c->far = rtb_load_connect(c->load, c->pool, 1 + sessions);
	build_fixture(c);
	create_shared(c);
	seat_sessions(c);
	gather(c);
}

static void
conduct(Conductor *c)
{
	start(c);
	c->load->started_at = GetCurrentTimestamp();
	rtb_progress_phase(c->progress, RTB_PHASE_LOAD);
	rtb_progress_expect(c->progress, RTB_UNKNOWN, (c->load->warmup_ms + c->load->duration_ms) * 1000000);
	if (c->load->compared >= 0)
		run_compared(c);
	else
		run_plain(c);
	c->load->finished_at = GetCurrentTimestamp();
	rtb_progress_phase(c->progress, RTB_PHASE_CLEANING);
	rtb_pool_stop(c->pool, 1);
	rtb_pool_send(c->pool, KEEPER, RTB_LOAD_DROP, "", 0, NULL, NULL);
	rtb_pool_wait(c->pool, KEEPER);
	rtb_pool_stop(c->pool, KEEPER);
	dsm_detach(c->segment);
}

static void
clean_up(Conductor *c)
{
	rtb_worker_end_within(RTB_WORKER_ENDS);
	if (c->pool != NULL)
	{
		rtb_pool_stop(c->pool, 1);
		rtb_pool_stop(c->pool, KEEPER);
	}
	rtb_worker_end_within(0);
	if (c->segment != NULL)
		dsm_detach(c->segment);
}

/*
 * rtb_load_run
 *		Run a load; its windows are in load->windows then.
 *
 * In a transaction that holds no snapshot.  Throws what ends a load: too few
 * worker slots (53400), a failing setup, a session that ends or whose group
 * fails at once, a cancel.  Nothing is left then.
 */
void
rtb_load_run(RtbLoad *load)
{
	Conductor  *c = palloc0(sizeof(Conductor));
	RtbRun		shown = {0};
	ErrorContextCallback callback;

	if (running)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a run of rtbench cannot be part of another one")));
	c->load = load;
	shown.run = load->run;
	shown.scenario = load->scenario;
	c->progress = rtb_progress_begin(&shown);
	callback.callback = failed_session;
	callback.arg = c;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	running = true;
	PG_TRY();
	{
		conduct(c);
	}
	PG_CATCH();
	{
		running = false;
		clean_up(c);
		PG_RE_THROW();
	}
	PG_END_TRY();
	running = false;
	error_context_stack = callback.previous;
	rtb_progress_end(c->progress);
}
