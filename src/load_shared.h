/*
 * load_shared.h
 *	  What the sessions of a load and their conductor share: a segment of shared
 *	  memory, and the requests by which sessions come to it.
 */
#ifndef RTB_LOAD_SHARED_H
#define RTB_LOAD_SHARED_H

#include "postgres.h"

#include "port/atomics.h"

#include "load.h"

#define RTB_LOAD_MAGIC		UINT64CONST(0x7274622d6c640001)

/* requests, and replies of the same kinds; others are session_host.c's */
#define RTB_LOAD_CONNECT	'c' /* connect to the far end; replies what it is */
#define RTB_LOAD_FIXTURE	'f' /* build the fixture; replies its schema and path */
#define RTB_LOAD_DROP		'x' /* and drop it */
#define RTB_LOAD_SEAT		's' /* be a session: take a seat */
#define RTB_LOAD_GO			'g' /* run until told to stop */

/*
 * What all sessions are to do now, in one word: its ordinal, the variant of
 * the compared group, is it counted, is it the end.  A session looks at it
 * between two transactions.  0: wait.
 */
#define RTB_COMMAND(ordinal, variant, counted, stop) \
	(((uint32) (ordinal) << 8) | ((uint32) (variant) << 2) | ((counted) ? 2 : 0) | ((stop) ? 1 : 0))
#define RTB_COMMAND_VARIANT(command)	(((command) >> 2) & 0x3f)
#define RTB_COMMAND_COUNTED(command)	(((command) & 2) != 0)
#define RTB_COMMAND_STOP(command)		(((command) & 1) != 0)

#define RTB_LOAD_STATES		16	/* SQLSTATEs told apart, the last is for all others */

typedef struct RtbLoadError
{
	char		sqlstate[6];
	char		message[122];	/* of the first */
	int64		n;
} RtbLoadError;

/* what a session did while it was counted: read when it has gone on to the next command */
typedef struct RtbLoadTally
{
	int64		elapsed_ns;
	int64		retries;
	int64		xids;
	int64		lag_ns;			/* sum and largest, behind the schedule */
	int64		lag_max_ns;
	bool		overflowed;
	int			nerrors;
	RtbLoadError errors[RTB_LOAD_STATES];
	RtbHistogram latency;
} RtbLoadTally;

/* how a connection of a load is, as the worker that has it says */
typedef struct RtbLoadFar
{
	int			pid;			/* of the far backend, if that is of this server; else 0 */
	bool		guarded;		/* what is committed there can be looked at */
	bool		pooled;
	RtbFarFacts facts;			/* as the keeper was told */
} RtbLoadFar;

typedef struct RtbLoadSeat
{
	pg_atomic_uint32 seen;		/* the command that it works by */
	pg_atomic_uint32 busy;		/* in a transaction: else it waits for its time to come */
	int			group;
	double		rate;			/* its share of the group's; 0: none */
	int64		notices;		/* of the far end, when it has stopped */
	RtbDelivered delivered;		/* of a simulated distance, when it has stopped */
	RtbLoadTally tally;
} RtbLoadSeat;

typedef struct RtbLoadShared
{
	uint64		magic;
	bool		retry;
	pg_atomic_uint32 arrived;	/* sessions at the barrier */
	pg_atomic_uint32 command;
	/* has any transaction succeeded? by group and variant */
	pg_atomic_uint32 succeeded[RTB_LOAD_GROUPS][RTB_LOAD_VARIANTS];
	RtbLoadSeat seats[FLEXIBLE_ARRAY_MEMBER];
} RtbLoadShared;

#endif							/* RTB_LOAD_SHARED_H */
