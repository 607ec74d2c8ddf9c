/*
 * progress.c
 *	  How far a running run has come: shown to other sessions, told its user.
 *
 * The server's own progress reports end with every subtransaction that is
 * rolled back, of which a run is full.  So this is a small segment of shared
 * memory, announced by a lock.  Both belong to the resource owner of the
 * statement that runs: whatever ends that, an error, a cancel, the end of the
 * process, takes them away, and nothing needs to be done here.
 *
 * Written by one process, once a pass and where the schedule moves on; never
 * inside a clock.
 *
 * Memory: RtbProgress lies in the context that is current at the start.
 */
#include "postgres.h"

#include "progress_segment.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "utils/resowner.h"

#include "probe.h"

/* who sees every run end within this time needs no news meanwhile */
#define NEWS_INTERVAL_NS	INT64CONST(2000000000)

struct RtbProgress
{
	RtbProgressState state;		/* as it was published last */
	dsm_segment *segment;		/* NULL: there was no room for one */
	RtbProgressSegment *shown;
	LOCKTAG		lock;
	ResourceOwner owner;		/* of lock and segment */
	int64		told_ns;		/* when the user was told something */
};

/* a reader takes what lies between two equal, even numbers of changes */
static void
publish(RtbProgress *p)
{
	if (p->segment == NULL)
		return;
	p->shown->changes++;
	pg_write_barrier();
	p->shown->state = p->state;
	pg_write_barrier();
	p->shown->changes++;
}

/* the segment, and last the lock by which it is found */
static void
announce(RtbProgress *p)
{
	p->segment = dsm_create(sizeof(RtbProgressSegment), DSM_CREATE_NULL_IF_MAXSEGMENTS);
	if (p->segment == NULL)
		return;
	p->shown = dsm_segment_address(p->segment);
	memset(p->shown, 0, sizeof(RtbProgressSegment));
	publish(p);
	p->shown->magic = RTB_PROGRESS_MAGIC;
	RTB_PROGRESS_SET_LOCKTAG(p->lock, dsm_segment_handle(p->segment));
	(void) LockAcquire(&p->lock, ExclusiveLock, false, false);
}

/*
 * rtb_progress_begin
 *		Show a run of the current user's, from now to rtb_progress_end() or the
 *		end of the statement.
 *
 * In the current memory context and resource owner.  Without a free segment
 * of shared memory the run is not shown, which is no reason not to run.
 */
RtbProgress *
rtb_progress_begin(const RtbRun *run)
{
	RtbProgress *p = palloc0(sizeof(RtbProgress));
	RtbProgressState *state = &p->state;
	int			length = strlen(run->scenario);

	state->pid = MyProcPid;
	state->database = MyDatabaseId;
	state->owner = GetUserId();
	state->encoding = GetDatabaseEncoding();
	state->run = run->run;
	memcpy(state->scenario, run->scenario,
		   pg_mbcliplen(run->scenario, length, sizeof(state->scenario) - 1));
	state->started_ns = p->told_ns = rtb_clock_ns();
	state->phase = RTB_PHASE_STARTING;
	state->passes_planned = RTB_UNKNOWN;
	state->due_ns = RTB_UNKNOWN;
	p->owner = CurrentResourceOwner;
	announce(p);
	return p;
}

/*
 * rtb_progress_phase
 *		The run as a whole goes on to another phase, in which no pass will come.
 */
void
rtb_progress_phase(RtbProgress *p, RtbProgressPhase phase)
{
	p->state.phase = phase;
	p->state.has_point = false;
	p->state.round = 0;
	p->state.passes_planned = p->state.passes_done;
	p->state.due_ns = RTB_UNKNOWN;
	publish(p);
}

/*
 * rtb_progress_point
 *		A session, from 1, goes on to a point, or to another phase at it.
 */
void
rtb_progress_point(RtbProgress *p, RtbProgressPhase phase, bool has_point, int64 point,
				   int session)
{
	p->state.phase = phase;
	p->state.has_point = has_point;
	p->state.point = point;
	p->state.session = session;
	p->state.round = 0;
	publish(p);
}

/*
 * rtb_progress_round
 *		A round begins.
 */
void
rtb_progress_round(RtbProgress *p, int round)
{
	p->state.round = round;
	publish(p);
}

/*
 * rtb_progress_pass
 *		A pass has ended.
 */
void
rtb_progress_pass(RtbProgress *p)
{
	RtbProgressState *state = &p->state;

	state->passes_done++;
	/* the plan leaves out what cannot be known, such as passes that settle plans */
	if (state->passes_planned != RTB_UNKNOWN)
		state->passes_planned = Max(state->passes_planned, state->passes_done);
	publish(p);
}

/*
 * rtb_progress_sessions
 *		So many sessions are planned in all.
 */
void
rtb_progress_sessions(RtbProgress *p, int planned)
{
	p->state.sessions_planned = planned;
	publish(p);
}

/*
 * rtb_progress_expect
 *		What is still to come: passes, and nanoseconds; RTB_UNKNOWN for either.
 */
void
rtb_progress_expect(RtbProgress *p, int64 passes, int64 ns)
{
	p->state.passes_planned = passes == RTB_UNKNOWN ? RTB_UNKNOWN : p->state.passes_done + passes;
	p->state.due_ns = ns == RTB_UNKNOWN ? RTB_UNKNOWN : rtb_clock_ns() + ns;
	publish(p);
}

/* "", or ", about 30 s left" */
static const char *
time_left(const RtbProgress *p, int64 now)
{
	double		s = p->state.due_ns == RTB_UNKNOWN ? 0 : (p->state.due_ns - now) / 1e9;

	if (s < 1)
		return "";
	if (s < 100)
		return psprintf(", about %.0f s left", s);
	return psprintf(", about %.0f min left", s / 60);
}

/*
 * rtb_progress_tell
 *		Tell the user what has been done, by a NOTICE with the time left, if he
 *		has heard nothing for a while: short runs stay silent.
 */
void
rtb_progress_tell(RtbProgress *p, const char *fmt,...)
{
	int64		now = rtb_clock_ns();
	StringInfoData buf;

	if (now - p->told_ns < NEWS_INTERVAL_NS)
		return;
	p->told_ns = now;
	initStringInfo(&buf);
	for (;;)
	{
		va_list		args;
		int			needed;

		va_start(args, fmt);
		needed = appendStringInfoVA(&buf, fmt, args);
		va_end(args);
		if (needed == 0)
			break;
		enlargeStringInfo(&buf, needed);
	}
	ereport(NOTICE,
			(errmsg("run " INT64_FORMAT ": %s%s", p->state.run, buf.data, time_left(p, now))));
	pfree(buf.data);
}

/*
 * rtb_progress_end
 *		Nothing more to show; frees p.  Not needed after an error.
 */
void
rtb_progress_end(RtbProgress *p)
{
	ResourceOwner current = CurrentResourceOwner;

	if (p->segment != NULL)
	{
		CurrentResourceOwner = p->owner;
		LockRelease(&p->lock, ExclusiveLock, false);
		CurrentResourceOwner = current;
		dsm_detach(p->segment);
	}
	pfree(p);
}
