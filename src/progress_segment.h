/*
 * progress_segment.h
 *	  What progress.c shows and progress_sql.c reads: a segment of shared
 *	  memory, and the lock that announces it.
 *
 * The lock's key carries the segment's handle, so that whoever lists locks
 * finds all runs of the server.  It is of a kind that no SQL function takes
 * (advisory locks are the other kind of the same method), so that no one else
 * can announce a segment; a reader trusts it all the same no further than the
 * segment agrees with it.
 */
#ifndef RTB_PROGRESS_SEGMENT_H
#define RTB_PROGRESS_SEGMENT_H

#include "postgres.h"

#include "storage/dsm.h"
#include "storage/lock.h"

#include "progress.h"

#define RTB_PROGRESS_CLASS	0x72746270	/* in the lock's key: "rtbp" */
/* in the segment; another number whenever the layout changes */
#define RTB_PROGRESS_MAGIC	UINT64CONST(0x7274622d70720001)

typedef struct RtbProgressState
{
	/* from the start */
	int			pid;
	Oid			database;
	Oid			owner;
	int			encoding;		/* of scenario */
	int64		run;
	char		scenario[2 * NAMEDATALEN];
	int64		started_ns;		/* by rtb_clock_ns(), as the others */
	/* changing */
	RtbProgressPhase phase;
	bool		has_point;
	int64		point;
	int			session;		/* 0: none yet */
	int			sessions_planned;	/* 0: not known */
	int			round;			/* 0: none yet */
	int64		passes_done;
	int64		passes_planned; /* RTB_UNKNOWN until known */
	int64		due_ns;			/* when the run is expected to end; RTB_UNKNOWN */
} RtbProgressState;

typedef struct RtbProgressSegment
{
	uint64		magic;
	uint32		changes;		/* odd while state is being written */
	RtbProgressState state;
} RtbProgressSegment;

#define RTB_PROGRESS_SET_LOCKTAG(tag, handle) \
	((tag).locktag_field1 = MyDatabaseId, \
	 (tag).locktag_field2 = RTB_PROGRESS_CLASS, \
	 (tag).locktag_field3 = (handle), \
	 (tag).locktag_field4 = 0, \
	 (tag).locktag_type = LOCKTAG_USERLOCK, \
	 (tag).locktag_lockmethodid = USER_LOCKMETHOD)

#endif							/* RTB_PROGRESS_SEGMENT_H */
