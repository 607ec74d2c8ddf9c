/*
 * session.h
 *	  One session's passes: start state, steps, check, end.
 *
 * Runs in whatever process the passes run in: a background worker, or the
 * caller's own backend.  What a room above wants to know comes through the
 * sink; notices go by ereport.
 */
#ifndef RTB_SESSION_H
#define RTB_SESSION_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/resowner.h"

#include "digest.h"
#include "fixture.h"
#include "pass.h"
#include "scenario.h"
#include "transport.h"
#include "wire.h"

typedef struct RtbSessionOptions
{
	bool		own_transactions;	/* false: subtransactions of the caller's */
	const RtbWireOptions *wire; /* NULL: by SPI */
	bool		compare_returned;
	int32		baseline;		/* index of the arm */
	int32		vacuum;			/* 1 asked for, 0 forbidden, -1 as rtbench decides */
	int32		rounds;			/* planned, for notices */
	int64		pass_timeout_ms;	/* of one pass */
	int64		budget_ms;		/* max_time */
	List	   *ignore_columns; /* of char * */
} RtbSessionOptions;

typedef struct RtbSessionSink
{
	void		(*pass) (void *arg, const RtbPass *pass);
	void		(*finding) (void *arg, const RtbFinding *finding);
	void		(*step) (void *arg, const RtbStepTime *step);
	void	   *arg;
} RtbSessionSink;

/* what one pass left or returned, digested; parts are matched by label */
typedef struct RtbCheckPart
{
	const char *label;
	bool		returned;		/* rows that the arm returned */
	RtbDigest	digest;
	Tuplestorestate *row_hashes;
} RtbCheckPart;

typedef struct RtbCheck
{
	List	   *parts;			/* of RtbCheckPart * */
	char	   *text;			/* 32 hex digits over all parts */
} RtbCheck;

typedef enum RtbCheckMode
{
	RTB_CHECK_QUERY,
	RTB_CHECK_TABLES,
	RTB_CHECK_RETURNED
} RtbCheckMode;

/* what a table of a fixture holds */
typedef struct RtbTableState
{
	char	   *label;
	char	   *digest;
} RtbTableState;

/* a point as a session knows it */
typedef struct RtbPoint
{
	MemoryContext cxt;			/* holds all of this */
	RtbWork    *work;
	int			narms;
	RtbArm	  **arms;
	void	  **states;			/* the transport's; NULL between visits */
	bool	   *failed;
	int64		longest_ns;		/* of a timed pass here */
	RtbFixture	fixture;
	List	   *written;		/* of RtbRelation *: union over all arms */
	List	   *made;			/* of String: labels of tables that arms make */
	List	   *vacuumed;		/* of RtbRelation *: what is cleaned before every pass */
	List	   *sizes;			/* private to cleaning.c */
	bool		sequences_advanced;
	RtbCheckMode check_mode;
	bool		check_returned; /* returned rows too */
	int			leaked_locks;	/* by the discovery pass that ran last */
	int			leaked_statements;	/* prepared by it and not deallocated */
	bool		catalogs_change;	/* by some arm */
	int64		check_ns;		/* what a digest takes, the least seen */
	int64		renewed_ns;		/* private to scratch_owner.c */
	bool		keeper;			/* this session keeps the fixture and drops it */
	bool		commits;		/* some arm commits: the fixture is built anew for every pass */
	bool		dirty;			/* and has been written since */
	List	   *state;			/* of RtbTableState *: what the fixture held at first */
} RtbPoint;

typedef struct RtbSession
{
	MemoryContext cxt;			/* lives as long as the session */
	const RtbTransport *transport;
	RtbSessionOptions options;
	RtbSessionSink sink;
	Oid			userid;
	int			sec_context;
	char	   *caller_path;	/* search_path before any pass */
	int			nest_level;		/* of the caller's transaction, and */
	ResourceOwner owner;		/* its resource owner, before any pass */

	/* the running pass */
	MemoryContext pass_cxt;		/* reset before each repetition */
	bool		in_pass;
	SubTransactionId pass_subid;	/* in which it began */
	List	   *locks_before;	/* advisory locks held before it */
	List	   *prepared_before;	/* of String: statements prepared before it */

	List	   *points;			/* of RtbPoint *, NULL where left */
	RtbPoint   *at;				/* the one that passes run at */
	bool		suggested;		/* a check query, at some point */
	bool		told_unguarded; /* that nobody there looks at what is committed */
} RtbSession;

/* one pass, asked for */
typedef struct RtbPassRequest
{
	RtbPassKind kind;
	int			arm;
	int			session;
	int			round;
	int			position;
	bool		control;
	RtbStepTimer *timers;		/* NULL: single executions are not timed */
	RtbCheck   *check;			/* NULL: not digested */
	bool		with_row_hashes;	/* check's parts get row hashes */
	List	  **locked;			/* NULL, or where the written relations' oids go, */
	List	  **modes;			/* and the lock modes on them */
	int64	   *moves;			/* NULL, or how far each written relation moves, if it is a sequence */
	struct RtbCounts *counts;	/* NULL, or where the counters go */
	bool	   *wrote;			/* NULL, or: did its transaction get an id? */
} RtbPassRequest;

/* in a round's order: the baseline's second pass */
#define RTB_CONTROL (-1)

/* asked of a round: digest its passes if that costs little beside them */
#define RTB_PASS_LAST_IF_CHEAP	((RtbPassKind) '?')

extern RtbSession *rtb_session_open(const RtbSessionOptions *options, const RtbSessionSink *sink);
extern int64 rtb_session_empty_price(RtbSession *s);
extern void rtb_session_point(RtbSession *s, const char *document);
extern void rtb_session_describe(RtbSession *s, StringInfo buf);
extern void rtb_session_attach(RtbSession *s, const char *document, StringInfo description);
extern void rtb_session_enter(RtbSession *s, int place);
extern void rtb_session_round(RtbSession *s, RtbPassKind kind, int session, int round,
							  int norder, const int *order);
extern void rtb_session_leave(RtbSession *s);
extern void rtb_session_close(RtbSession *s);
extern void rtb_session_unwind(RtbSession *s);

/* pilot.c: the untimed passes at a point */
extern void rtb_session_pilot(RtbSession *s);

/* for pilot.c */
extern bool rtb_session_keeps_plans(const RtbSession *s, int arm);
extern void rtb_session_warm_up(RtbSession *s, int session, int arm);
extern void rtb_session_release_pass(RtbSession *s);
extern RtbPass *rtb_session_pass(RtbSession *s, RtbPassRequest *request);
extern void rtb_session_emit(RtbSession *s, const RtbPass *pass);
extern void rtb_session_find(RtbSession *s, RtbFindingKind kind, int arm, const char *fmt,...)
			pg_attribute_printf(4, 5);

#endif							/* RTB_SESSION_H */
