/*
 * load_private.h
 *	  A session of a load, shared by what seats it and what runs it.
 */
#ifndef RTB_LOAD_PRIVATE_H
#define RTB_LOAD_PRIVATE_H

#include "load_shared.h"

#include "commits.h"
#include "lib/stringinfo.h"
#include "transport.h"

typedef struct RtbLoadWork
{
	RtbArm	   *arm;
	void	   *state;
	int			failures;		/* in a row, while it has never succeeded; then -1 */
	int			watched;
} RtbLoadWork;

typedef struct RtbLoadSession
{
	RtbLoadShared *shared;
	RtbLoadSeat *seat;
	const RtbTransport *transport;
	MemoryContext tx_cxt;
	char	   *scratch;
	int			nvariants;
	RtbLoadWork *variants;
	int			variant;		/* in force, -1 before the first */
	uint32		command;
	bool		counted;
	int64		opened_ns;		/* when the session began to be counted */
	int64		due_ns;			/* when the next transaction is to begin, with a rate */
	int64		ended_ns;		/* when the last one that succeeded had its answer */
	int64		watched_ns;		/* when a transaction was looked at last */
	RtbCommitWatch watch;
} RtbLoadSession;

#pragma GCC visibility push(hidden)

/* load_seat.c */
extern RtbLoadSession *rtb_load_take_seat(StringInfo body);

/* load_session.c */
extern void rtb_load_go(RtbLoadSession *session);

#pragma GCC visibility pop

#endif							/* RTB_LOAD_PRIVATE_H */
