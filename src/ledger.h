/*
 * ledger.h
 *	  A run with all that is kept of it, to and from rtbench's tables.
 */
#ifndef RTB_LEDGER_H
#define RTB_LEDGER_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "utils/jsonb.h"

#include "pass.h"

typedef struct RtbRun
{
	int64		run;			/* its id, 0 until reserved or written */
	int64		together;		/* the first run of a call on several servers; 0: alone */
	char	   *server;			/* as that call named it, or NULL */
	char	   *label;			/* the caller's, or NULL */
	char	   *scenario;
	char	   *transport;
	char	   *scope;			/* what the verdicts hold for: "this backend only" */
	List	   *arms;			/* of char *, never empty; passes name them by index */
	List	   *descriptions;	/* of char * or NULL, one for each arm, or NIL */
	List	   *points;			/* of int64 *; NIL if nothing is swept */
	char	   *swept;			/* the parameter's name, or NULL */
	int			baseline;		/* index into arms */
	double		margin;			/* 0.02 is 2 % */
	int64		max_time_us;	/* or RTB_UNKNOWN */
	int64		seed;
	TimestampTz started_at;
	TimestampTz finished_at;	/* 0: not finished */
	bool		complete;
	char	   *server_version; /* of where the arms ran; NULL if it does not tell */
	Jsonb	   *options;		/* NULL is written as {} */
	Jsonb	   *settings;
	Jsonb	   *machine;		/* key RTB_EMPTY_STATEMENT_NS is read by the judge */
	Jsonb	   *documents;
	List	   *passes;			/* of RtbPass *, in the order they ran */
	List	   *findings;		/* of RtbFinding *, in the order found */
	List	   *steps;			/* of RtbStepTime * */
} RtbRun;

/*
 * Key of RtbRun.machine: the smallest price of an empty statement seen over
 * the run's transport, a number of nanoseconds.  Absent or null: not known.
 */
#define RTB_EMPTY_STATEMENT_NS	"empty_statement_ns"

extern int64 rtb_ledger_reserve(void);
extern void rtb_ledger_next_is(int64 run);
extern int64 rtb_ledger_write(RtbRun *run);
extern RtbRun *rtb_ledger_read(int64 run);
extern int64 rtb_ledger_last(void);
extern int64 rtb_ledger_last_together(void);
extern List *rtb_ledger_together(int64 together);
extern double rtb_run_empty_statement_ns(const RtbRun *run);

#endif							/* RTB_LEDGER_H */
