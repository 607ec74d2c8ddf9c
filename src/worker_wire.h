/*
 * worker_wire.h
 *	  What the two sides of a worker share: the segment and the frames in it;
 *	  and what the files of the caller's side share.
 *
 * For worker*.c only.
 */
#ifndef RTB_WORKER_WIRE_H
#define RTB_WORKER_WIRE_H

#include "postgres.h"

#include "lib/stringinfo.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/shm_mq.h"
#include "utils/timestamp.h"
#include "worker.h"

#define RTB_WIRE_MAGIC		UINT64CONST(0x7274625f77697265)	/* "rtb_wire" */
#define RTB_WIRE_QUEUE_SIZE	((Size) 65536)

/* an identity that the worker takes on */
typedef struct RtbWireUser
{
	Oid			id;				/* InvalidOid: no role is set */
	bool		is_superuser;
} RtbWireUser;

/*
 * The segment: this header, the queue of requests, the queue of replies, the
 * serialized settings.  Nothing but cancel_requested changes once the worker
 * has been registered.
 */
typedef struct RtbWireHeader
{
	uint64		magic;
	int			caller_pid;
	Oid			database;
	RtbWireUser connected;		/* whose right to connect is checked */
	RtbWireUser authenticated;
	RtbWireUser session;
	RtbWireUser role;
	char		isolation[32];	/* default_transaction_isolation, empty: as in the settings */
	volatile bool cancel_requested; /* the caller wants the running request to end */
	Size		requests;		/* offsets from the header */
	Size		replies;
	Size		settings;
} RtbWireHeader;

/*
 * A request is its kind (a byte) and its body.  A reply begins with one of
 * these bytes.
 */
#define RTB_FRAME_READY		'Z' /* nothing else: the worker waits for a request */
#define RTB_FRAME_REPLY		'R' /* kind (a byte), body */
#define RTB_FRAME_ERROR		'E' /* int encoding, an ErrorResponse */
#define RTB_FRAME_NOTICE	'N' /* int encoding, a NoticeResponse */

typedef enum RtbWorkerState
{
	RTB_WORKER_BUSY,			/* starting, or a request is running */
	RTB_WORKER_READY,
	RTB_WORKER_LOST				/* it is gone, or nothing more can be sent to it */
} RtbWorkerState;

struct RtbWorker
{
	MemoryContext context;
	MemoryContext notice_context;	/* of one notice at a time */
	dsm_segment *seg;
	RtbWireHeader *header;
	BackgroundWorkerHandle *handle;
	shm_mq_handle *requests;
	shm_mq_handle *replies;
	StringInfoData body;		/* of the reply being handed over */
	RtbWorkerState state;
	int			pid;			/* 0 until known */
	bool		far;			/* works at a far end, which may not answer */
};

/* one request, or the wait for the rest of one */
typedef struct RtbExchange
{
	shm_mq_iovec iov[2];
	int			iovcnt;			/* 0: nothing (more) to send */
	bool		begun;			/* part of the request may be in the queue */
	RtbWorkerSink sink;
	void	   *arg;
	ErrorData  *error;			/* the worker's error, NULL if none */
	bool		quiet;			/* never throw, and give up at the deadline */
	bool		cancel;			/* tell the worker to cancel, time and again */
	TimestampTz deadline;
} RtbExchange;

/* worker.c, for whoever waits for several workers at a time */
extern bool rtb_worker_has_stopped(RtbWorker *worker);
extern void rtb_exchange_begin(RtbWorker *worker, RtbExchange *exchange, char *kind,
							   const char *data, Size size, RtbWorkerSink sink, void *arg);
extern bool rtb_exchange_step(RtbWorker *worker, RtbExchange *exchange);
extern void rtb_exchange_throw(RtbWorker *worker, RtbExchange *exchange);

/* worker_launch.c */
extern RtbWorker *rtb_worker_launch(void);

/* worker_blocked.c */
extern void rtb_worker_check_blocked(int pid);

/* worker_main.c */
extern PGDLLEXPORT void rtb_worker_main(Datum arg);

#endif							/* RTB_WORKER_WIRE_H */
