/*
 * pass.h
 *	  What is kept of a pass, and of what was found beside the figures.
 *
 * A pass is one timed (or pilot) run of one arm at one point.  These structs
 * travel from the process that ran the pass to the caller, are kept in
 * rtbench.passes, rtbench.findings and rtbench.steps, and are read back by
 * rtbench.result().  A figure that is not known is RTB_UNKNOWN, never 0.
 */
#ifndef RTB_PASS_H
#define RTB_PASS_H

#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

/* a count or time that could not be known: NULL in SQL */
#define RTB_UNKNOWN	(INT64CONST(-1))

typedef enum RtbPassKind
{
	RTB_PASS_DISCOVERY = 'd',	/* the arm's very first: what does it write? */
	RTB_PASS_PILOT = 'p',		/* untimed, with digest (and per-step times) */
	RTB_PASS_WARMUP = 'w',		/* untimed, without digest */
	RTB_PASS_TIMED = 't',		/* one that the verdict is built on */
	RTB_PASS_LAST = 'l',		/* timed too; what it left is digested after the clock stopped */
	RTB_PASS_CLOSING = 'c'		/* untimed, after the last round: returned rows are digested */
} RtbPassKind;

typedef struct RtbPass
{
	/* where it stands in the schedule */
	RtbPassKind kind;
	int32		session;		/* from 1 */
	int32		round;			/* from 1 within the session and point; 0 for untimed */
	int32		position;		/* place within its round, from 1 */
	bool		control;		/* the baseline's second pass in a round */
	bool		has_point;
	int64		point;
	int32		arm;			/* index into the run's arms, from 0 */

	/* times, of one repetition, in nanoseconds */
	int64		elapsed_ns;
	int64		cpu_ns;			/* RTB_UNKNOWN when parallel workers took part */
	int64		repetitions;	/* passes below the clock's resolution repeat the arm */
	bool		below_resolution;

	/* the work done, of one repetition */
	int64		round_trips;
	int64		bytes_sent;		/* over a connection, */
	int64		bytes_received; /* with the protocol's messages around them */
	int64		statements;
	int64		fired;
	int64		loop_queries;
	int64		rows;
	int64		plannings;
	int64		buffers_hit;	/* shared and local */
	int64		buffers_read;	/* shared and local */
	int64		wal_records;
	int64		wal_fpi;
	int64		wal_bytes;
	int64		xids;
	int64		transactions;	/* committed; RTB_UNKNOWN of an arm that is rolled back */
	int64		commit_ns;		/* of elapsed_ns, in commits */
	int64		subxact_overflowed; /* 1: more subtransactions than shared memory shows */
	int64		updates;		/* row versions that replaced others, */
	int64		hot_updates;	/* and those of them that touched no index */
	int64		core;			/* over a connection: where this end ran last, */
	int64		far_core;		/* and the far end, if it is of this server */
	int64		catalog_reads;	/* index scans of system catalogs: what no cache had */
	char	   *plan_shape;		/* of sent statements, NULL unless known */
	char	   *fired_shape;	/* of fired statements */

	/* sameness */
	char	   *digest;			/* 32 hex digits, NULL if this pass was not digested */
	char	   *returned;		/* digest of the rows returned to the client, or NULL */

	/* failure: sqlstate NULL unless the arm failed in this pass */
	char	   *sqlstate;
	char	   *message;
	char	   *hint;			/* told at once, not kept; or NULL */
	int32		failed_step;		/* RtbStep.id */
	int64		failed_statement;	/* ordinal of the sent statement in the pass */
} RtbPass;

/* something found about an arm at a point, in words: rows of rtbench.findings */
typedef enum RtbFindingKind
{
	RTB_FOUND_NOTE = 'n',		/* goes to the column notes */
	RTB_FOUND_CHECKED = 'c',	/* what was digested (arm -1: all arms) */
	RTB_FOUND_UNSTABLE = 'u',	/* the arm differs from itself */
	RTB_FOUND_DIFFERENT = 'd',	/* the arm differs from the baseline */
	RTB_FOUND_UNREADABLE = 'r'	/* the caller may not read what was written */
} RtbFindingKind;

typedef struct RtbFinding
{
	RtbFindingKind kind;
	bool		has_point;
	int64		point;
	int32		arm;			/* -1: all arms */
	char	   *detail;
} RtbFinding;

/* per-execution times of one step, from one untimed pass: rows of rtbench.steps */
typedef struct RtbStepTime
{
	bool		has_point;
	int64		point;
	int32		arm;
	int32		step;			/* RtbStep.id */
	char	   *statement;		/* its text, as sent */
	int64		calls;
	int64		first_ns;		/* the first execution, preparing included */
	int64		second_ns;		/* RTB_UNKNOWN if there was none */
	int64		third_ns;
	int64		later_ns;		/* median of all but the first, RTB_UNKNOWN if none */
	int64		prepare_ns;		/* median of parsing and analysing, where an execution did it */
	int64		custom_plans;	/* RTB_UNKNOWN when it has no plan of its own */
	int64		generic_plans;
	int64		custom_ns;		/* median per execution under custom plans (after the first) */
	int64		generic_ns;		/* median per execution under the generic plan */
} RtbStepTime;

/* pass.c: to and from a flat message body; strings palloc'd in the current context */
extern void rtb_pass_write(StringInfo buf, const RtbPass *pass);
extern RtbPass *rtb_pass_read(StringInfo buf);
extern void rtb_finding_write(StringInfo buf, const RtbFinding *finding);
extern RtbFinding *rtb_finding_read(StringInfo buf);
extern void rtb_step_time_write(StringInfo buf, const RtbStepTime *step);
extern RtbStepTime *rtb_step_time_read(StringInfo buf);

#endif							/* RTB_PASS_H */
