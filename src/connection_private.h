/*
 * connection_private.h
 *	  What the files of a connection share.  They alone know libpq.
 */
#ifndef RTB_CONNECTION_PRIVATE_H
#define RTB_CONNECTION_PRIVATE_H

#include "postgres.h"

#include "lib/ilist.h"
#include "libpq-fe.h"
#include "datatype/timestamp.h"
#include "storage/latch.h"
#include "utils/resowner.h"

#include "connection.h"

/* so many notices of a pass are told, the rest are counted */
#define RTB_TOLD_NOTICES	10

/* the protocol's messages, type and length included (protocol.sgml) */
#define RTB_MESSAGE			5	/* an empty one */
#define RTB_READY			6	/* ReadyForQuery */

/* a larger result is taken row by row: that takes a little longer, and no memory */
#define RTB_MANY_ROWS		1000
#define RTB_MANY_BYTES		(1024 * 1024)

/* what is known of the results of what is sent: see rtb_connection_expect */
typedef struct RtbExpected
{
	bool		whole;			/* they have been small, if not *large */
	bool	   *large;			/* set when one is; or NULL */
	int			statements;		/* in a pipeline: so many, one after the other */
} RtbExpected;

/* a notice that waits until it may be told */
typedef struct RtbNotice
{
	int			level;
	int			sqlstate;
	char	   *message;
	char	   *detail;
	char	   *hint;
} RtbNotice;

struct RtbConnection
{
	dlist_node	node;
	MemoryContext context;		/* holds this and all that it points to, but libpq's */
	PGconn	   *pg;
	char	   *name;
	ResourceOwner owner;		/* closed with it; NULL: until closed or exit */
	bool		here;			/* the far end is a backend of this server */
	int			encoding;		/* of texts, as it was opened */
	bool		external_fd;	/* counted by AcquireExternalFD */

	WaitEventSet *wait_set;		/* latch, postmaster's death, socket */
	int			socket_position;
	uint32		awaited;		/* events of the socket in wait_set */
	int			heard;			/* tick at which something was last sent or came */

	TimestampTz give_up;		/* answers are waited for until then; 0: for ever */

	bool		busy;			/* sent, and not everything answered yet */
	bool		given_up;		/* the far end did not end what it was to end: it is not waited for again */
	bool		copying;		/* between copy_begin and copy_end */
	bool		refused_copy;	/* the statement wanted rows */
	int64		unsent;			/* bytes of rows given to libpq since it was last flushed */
	RtbExpected expected;		/* of what is sent next */
	int			batch;			/* statements between two syncs; 0: no pipeline */
	int			queued;			/* sent since the last sync */
	int			nawaited;		/* of these: */
	int			max_awaited;
	RtbExpected *awaited_results;	/* what is expected of those queued, in order */
	const char *text;			/* of the statement being run, for errors; or NULL */

	RtbTraffic	traffic;
	RtbDistance *distance;		/* waited for after each round trip, or NULL */

	bool		hushed;			/* notices are counted only */
	RtbNotice	notices[RTB_TOLD_NOTICES];
	int			nnotices;		/* not yet told */
	bool		warning_untold; /* one is among those that are only counted */

	char	   *last_words;		/* why it was lost, or NULL */
	PGresult   *result;			/* being handed over, or NULL */
	PGresult   *error;			/* the first; thrown when all has been read */

	/* one row, as it is handed over */
	int			ncolumns;
	char	  **values;
	int		   *lengths;
};

/* what was sent, which decides what answers it beside its own result */
typedef enum RtbSent
{
	RTB_SENT_QUERY,				/* the simple protocol */
	RTB_SENT_EXECUTE,			/* the extended one, describe among it */
	RTB_SENT_PARSE				/* parse alone */
} RtbSent;

/* what results add up to */
typedef struct RtbReading
{
	RtbSent		sent;
	const RtbRows *rows;		/* or NULL */
	RtbAnswer	answer;
	bool	   *large;			/* set if a result is, or NULL */
	/* of the result that is being taken */
	bool		described;		/* its columns have been counted and told */
	int64		nrows;
	int64		bytes;			/* of its rows */
} RtbReading;

/*
 * What comes next answers a statement of which this is expected.  libpq must be
 * told between the end of the answer before it and the first look at its own.
 */
static inline void
rtb_connection_take(RtbConnection *c, RtbReading *reading, const RtbExpected *expected)
{
	reading->large = expected->large;
	if (!expected->whole || unlikely(expected->large != NULL && *expected->large))
		(void) PQsetSingleRowMode(c->pg);
}

#pragma GCC visibility push(hidden)

/* connection_pass.c */
extern void rtb_connection_require_idle(RtbConnection *c);
extern void rtb_connection_heard(RtbConnection *c);
extern void rtb_connection_wait(RtbConnection *c, uint32 events);
extern void rtb_connection_flush(RtbConnection *c);
extern void rtb_connection_lost(RtbConnection *c);
extern void rtb_connection_trip(RtbConnection *c);
extern void rtb_connection_tell_notices(RtbConnection *c);

/* connection_cancel.c: never throws */
extern bool rtb_connection_drain(RtbConnection *c, int milliseconds);

/* connection_error.c */
extern void rtb_connection_receive_notice(void *arg, const PGresult *result);
extern void rtb_connection_throw(RtbConnection *c);
extern void rtb_connection_refuse(RtbConnection *c, const RtbTarget *target,
								  bool timed_out);
extern char *rtb_connection_message(const RtbConnection *c);
extern int64 rtb_connection_report_size(const PGresult *result);

/* connection_query.c */
extern PGresult *rtb_connection_next(RtbConnection *c);
extern void rtb_connection_sent(RtbConnection *c, int sent, int64 bytes, int64 answer_bytes);
extern void rtb_connection_read_result(RtbConnection *c, RtbReading *reading, PGresult *result);
extern RtbAnswer rtb_connection_read_answer(RtbConnection *c, RtbSent sent, const RtbRows *rows);
extern void rtb_connection_answered(RtbConnection *c);

/* connection_pipeline.c */
extern void rtb_connection_await(RtbConnection *c);

#pragma GCC visibility pop

#endif							/* RTB_CONNECTION_PRIVATE_H */
