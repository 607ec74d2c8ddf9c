/*
 * transport.h
 *	  How an arm's statements reach the executor.
 *
 * A session (session.c) opens every arm of a point once, then runs passes:
 * begin, sql for what stands before the clock, run, settle, digest, rollback.
 * The arm's state holds what outlives a pass: inferred parameter types and
 * kept plans.
 */
#ifndef RTB_TRANSPORT_H
#define RTB_TRANSPORT_H

#include "postgres.h"

#include "tcop/dest.h"
#include "utils/tuplestore.h"

#include "digest.h"
#include "observer.h"
#include "scenario.h"
#include "step_timer.h"

/* what one pass asks of an arm, and what it tells, also when the arm failed */
typedef struct RtbArmRun
{
	DestReceiver *dest;			/* where returned rows go; NULL: nobody wants them */
	RtbStepTimer *timers;		/* by step id - 1; NULL in timed passes */
	int64		round_trips;	/* messages sent and waited for, BEGIN and COMMIT included */
	int64		statement_no;	/* ordinal of the statement sent last */
	/* of a connection, which has no receivers */
	struct RtbCheck *check;		/* where returned rows are digested; NULL: nobody wants them */
	bool		with_row_hashes;
	bool		timed;
	int64		bytes_sent;
	int64		bytes_received;
	int			core;			/* where this process ran at the end, -1 if unknown */
	int			far_core;		/* and the far end's */
	int64		rows;			/* returned or affected */
	bool		rows_unknown;	/* a statement does not tell */
	int64		transactions;	/* committed */
	int64		loop_queries;	/* drivers that only read, */
	int64		loop_rows;		/* and their rows: a far end takes both for the arm's own */
	int64		kept;			/* statements prepared that stay so: the trips are no pass's own */
	int64		control;		/* sent beside statements: BEGIN, COMMIT, FETCH, CLOSE */
	bool		needs_block;	/* a client must send BEGIN and COMMIT around all of it */
	int			step;			/* id of the step it belongs to */
} RtbArmRun;

typedef struct RtbTransport
{
	const char *name;
	bool		own_transactions;	/* false: in subtransactions of the caller's */
	bool		far;			/* the arms run in another backend, over a connection */

	void	   *(*open_arm) (const RtbArm *arm);
	void		(*close_arm) (void *state);
	void		(*release_arm) (void *state);	/* a pass's plans; outside the clock */

	/* a transaction as an arm needs it; NULL: for rtbench's own statements */
	void		(*begin) (const RtbArm *arm);
	void		(*sql) (const char *statement);
	/* of an arm that commits no transaction is open when this returns */
	void		(*run) (void *state, RtbArmRun *run);
	void		(*settle) (void);
	void		(*digest) (const char *query, RtbDigest *digest, Tuplestorestate *row_hashes);

	/* what is seen of an arm: before its transaction, around the clock, after it */
	void		(*observe_before) (RtbObserver *o);
	void		(*observe_begin) (RtbObserver *o);
	void		(*observe_end) (RtbObserver *o);
	void		(*observe_after) (RtbObserver *o);
	void		(*observe_counts) (const RtbObserver *o, const RtbProbe *probe, RtbPass *pass);
	/* relations that the running transaction has written, and in which lock modes */
	void		(*locked) (List **oids, List **modes);
	/* those of them that are tables made in it since then */
	List	   *(*made) (List *oids, SubTransactionId since);

	void		(*rollback) (void);
	void		(*commit) (void);
	/* around what commits beside the arm: refuse what is outside of the schema */
	void		(*guard_begin) (RtbCommitWatch *watch);
	void		(*guard_end) (void);
	/* a statement with transactions of its own, as VACUUM; outside any */
	void		(*toplevel) (const char *statement);
	void		(*after_error) (void);
} RtbTransport;

/* SPI in this process: with transactions of its own, or in subtransactions */
extern const RtbTransport rtb_spi_worker_transport;
extern const RtbTransport rtb_spi_caller_transport;

#endif							/* RTB_TRANSPORT_H */
