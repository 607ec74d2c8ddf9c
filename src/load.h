/*
 * load.h
 *	  Loads: groups of concurrent sessions that commit, as asked for and as
 *	  measured.
 */
#ifndef RTB_LOAD_H
#define RTB_LOAD_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "utils/jsonb.h"

#include "compat.h"
#include "histogram.h"
#include "scenario.h"
#include "wire.h"

#define RTB_LOAD_GROUPS		64
#define RTB_LOAD_VARIANTS	16
#define RTB_LOAD_SESSIONS	1000	/* of all groups */

/* one way of doing a group's work */
typedef struct RtbLoadVariant
{
	char	   *name;
	char	   *arm;			/* its name */
	char	   *work;			/* the arm with all parameters filled in (work.c) */
} RtbLoadVariant;

typedef struct RtbLoadGroup
{
	char	   *name;
	int			sessions;
	double		rate;			/* transactions a second of the whole group; 0: as fast as it can */
	List	   *variants;		/* of RtbLoadVariant *; more than one in the compared group only */
} RtbLoadGroup;

/* times that something happened, by name */
typedef struct RtbLoadCount
{
	char	   *name;
	char	   *text;			/* or NULL */
	int64		n;
} RtbLoadCount;

/* what one group did in one window */
typedef struct RtbLoadWindow
{
	int			number;			/* of the window, from 1 */
	int			round;			/* from 1; 0 of a load that compares nothing */
	int			position;		/* of the window in its round, from 1 */
	bool		control;		/* the baseline's second window of the round */
	int			variant;		/* of the compared group, in force in this window */
	int			group;
	int			sessions;
	double		elapsed_ms;		/* mean of the sessions */
	double		tps;			/* sum of the sessions' */
	RtbHistogram *latency;		/* in nanoseconds; of successful transactions */
	double		lag_ms;			/* mean lag behind the schedule; NaN without a rate */
	double		lag_max_ms;
	int64		retries;
	int64		xids;			/* RTB_UNKNOWN over a connection, and so is: */
	bool		overflowed;		/* one had more subtransactions than others can see */
	List	   *errors;			/* of RtbLoadCount *: SQLSTATE, first message */
	bool		waits_seen;		/* not on another server */
	List	   *waits;			/* of RtbLoadCount *: samples by wait event */
} RtbLoadWindow;

typedef struct RtbLoad
{
	int64		run;
	char	   *label;			/* or NULL */
	char	   *scenario;		/* "load" of groups without a scenario */
	char	   *transport;		/* as runs have it */
	const RtbWireOptions *wire; /* NULL: by SPI; not read back */
	int64		round_trip_us;	/* simulated; not read back */
	List	   *notes;			/* of char *: what is to be known of all its figures */
	char	   *setup;			/* as a work document without arms */
	List	   *groups;			/* of RtbLoadGroup * */
	int			compared;		/* index of the group that has variants, -1 of none */
	bool		control;
	int			rounds;			/* of windows, where something is compared */
	int64		duration_ms;
	int64		warmup_ms;
	bool		retry;
	double		margin;
	int64		seed;
	TimestampTz started_at;
	TimestampTz finished_at;
	char	   *server_version; /* of where it ran; NULL if it does not tell */
	Jsonb	   *options;
	Jsonb	   *settings;
	Jsonb	   *machine;
	Jsonb	   *documents;
	List	   *windows;		/* of RtbLoadWindow *, in the order they ran */
} RtbLoad;

/* load_group.c */
pg_noreturn extern void rtb_load_refuse_sessions(const char *group);
pg_noreturn extern void rtb_load_refuse_rate(const char *group);

/* load_groups.c */
/* of an SQL array of documents, or of all arms of a scenario (documents NIL) */
extern void rtb_load_read_groups(RtbLoad *load, RtbScenario *scenario, List *documents,
								 bool compare);
extern int	rtb_load_sessions(const RtbLoad *load);

/* load_worker.c */
extern void rtb_load_init(void);

/* load_run.c */
extern void rtb_load_run(RtbLoad *load);
extern int64 rtb_load_window_ms(const RtbLoad *load);

/* load_ledger.c */
extern void rtb_load_write(RtbLoad *load);
extern RtbLoad *rtb_load_read(int64 run);
extern int64 rtb_load_last(void);
extern bool rtb_load_exists(int64 run);

#endif							/* RTB_LOAD_H */
