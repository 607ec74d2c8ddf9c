/*
 * progress_sql.c
 *	  Runs in progress, read by whoever may: rtbench.progress.
 *
 * A run is shown to its role, to roles that have the privileges of it, and
 * to pg_read_all_stats; to others it does not exist.
 *
 * Memory: the caller's, freed by it.
 */
#include "postgres.h"

#include "progress_segment.h"

#include "catalog/pg_authid.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "probe.h"

#define COLUMNS	14
/* how often, a millisecond apart, a state that is just being written is read again */
#define MOST_TRIES	1000

PG_FUNCTION_INFO_V1(rtb_progress_rows);

static const char *const phase_names[] = {
	[RTB_PHASE_STARTING] = "starting",
	[RTB_PHASE_FIXTURE] = "fixture",
	[RTB_PHASE_PILOT] = "pilot",
	[RTB_PHASE_ROUNDS] = "rounds",
	[RTB_PHASE_SESSIONS] = "sessions",
	[RTB_PHASE_CLEANING] = "cleaning",
	[RTB_PHASE_JUDGING] = "judging",
	[RTB_PHASE_KEEPING] = "keeping",
	[RTB_PHASE_LOAD] = "load"
};

/* a whole state, copied; false if it isn't one or was never found at rest */
static bool
copy_state(const volatile RtbProgressSegment *shown, RtbProgressState *state)
{
	if (shown->magic != RTB_PROGRESS_MAGIC)
		return false;
	for (int i = 0; i < MOST_TRIES; i++)
	{
		uint32		before = shown->changes;

		pg_read_barrier();
		memcpy(state, (const void *) &shown->state, sizeof(RtbProgressState));
		pg_read_barrier();
		if (before % 2 == 0 && shown->changes == before)
			return true;
		/* its process was taken off the CPU just then */
		CHECK_FOR_INTERRUPTS();
		pg_usleep(1000);
	}
	return false;
}

/*
 * What a lock announces, or false: its run has just ended, or it is no run's.
 * One's own segment is attached already.
 */
static bool
read_state(const LockInstanceData *lock, RtbProgressState *state)
{
	dsm_handle	handle = lock->locktag.locktag_field3;
	dsm_segment *own = dsm_find_mapping(handle);
	dsm_segment *segment = own ? own : dsm_attach(handle);
	bool		ok;

	if (segment == NULL)
		return false;
	ok = dsm_segment_map_length(segment) >= sizeof(RtbProgressSegment) &&
		copy_state(dsm_segment_address(segment), state);
	if (own == NULL)
		dsm_detach(segment);
	return ok && state->pid == lock->pid && state->database == lock->locktag.locktag_field1 &&
		(int) state->phase >= 0 && (int) state->phase < lengthof(phase_names);
}

static bool
may_see(const RtbProgressState *state)
{
	return has_privs_of_role(GetUserId(), state->owner) ||
		has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}

/* can text that another database wrote be shown in this one? */
static bool
is_readable(const char *text, int encoding)
{
	if (encoding == GetDatabaseEncoding())
		return true;
	for (; *text; text++)
	{
		if (IS_HIGHBIT_SET(*text))
			return false;
	}
	return true;
}

/* to the millisecond */
static Datum
interval_of_ns(int64 ns)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->time = Max(ns, 0) / 1000000 * 1000;
	return IntervalPGetDatum(interval);
}

static void
put_row(ReturnSetInfo *rsinfo, const RtbProgressState *state)
{
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS];
	int64		now = rtb_clock_ns();
	int			n = 0;

#define PUT(null, value) \
	(nulls[n] = (null), values[n] = nulls[n] ? (Datum) 0 : (value), n++)
	PUT(false, Int32GetDatum(state->pid));
	PUT(false, ObjectIdGetDatum(state->database));
	PUT(false, ObjectIdGetDatum(state->owner));
	PUT(false, Int64GetDatum(state->run));
	PUT(!is_readable(state->scenario, state->encoding), CStringGetTextDatum(state->scenario));
	PUT(false, CStringGetTextDatum(phase_names[state->phase]));
	PUT(!state->has_point, Int64GetDatum(state->point));
	PUT(state->session == 0, Int32GetDatum(state->session));
	PUT(state->sessions_planned == 0, Int32GetDatum(state->sessions_planned));
	PUT(state->round == 0, Int32GetDatum(state->round));
	PUT(false, Int64GetDatum(state->passes_done));
	PUT(state->passes_planned == RTB_UNKNOWN, Int64GetDatum(state->passes_planned));
	PUT(false, interval_of_ns(now - state->started_ns));
	PUT(state->due_ns == RTB_UNKNOWN, interval_of_ns(state->due_ns - now));
#undef PUT
	Assert(n == COLUMNS);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * rtb_progress_rows
 *		rtbench.progress_rows(): the runs of this server that go on now, as far
 *		as the current user may see them.
 */
Datum
rtb_progress_rows(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	LockData   *data = GetLockStatusData();

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < data->nelements; i++)
	{
		const LockInstanceData *lock = &data->locks[i];
		RtbProgressState state;

		if (lock->locktag.locktag_type == LOCKTAG_USERLOCK &&
			lock->locktag.locktag_field2 == RTB_PROGRESS_CLASS &&
			lock->locktag.locktag_field4 == 0 &&
			(lock->holdMask & LOCKBIT_ON(ExclusiveLock)) &&
			read_state(lock, &state) && may_see(&state))
		{
			state.scenario[sizeof(state.scenario) - 1] = '\0';
			put_row(rsinfo, &state);
		}
	}
	return (Datum) 0;
}
