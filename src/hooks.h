/*
 * hooks.h
 *	  Counting what ran: statements, fired statements, rows, plannings, shapes.
 */
#ifndef RTB_HOOKS_H
#define RTB_HOOKS_H

#include "postgres.h"

#include "nodes/plannodes.h"

typedef struct RtbCounts
{
	int64		statements;		/* by the vocabulary's rules, at trigger depth 0 */
	int64		fired;			/* the same at trigger depth > 0 */
	int64		loop_queries;	/* queries that only fed a loop (depth 0); not in statements */
	int64		rows;			/* returned or affected by the counted statements */
	int64		plannings;		/* calls of the planner */
	int64		xids;			/* transaction ids assigned, subtransactions' included */
	bool		parallel;		/* a plan that may use parallel workers ran */
	bool		sql_functions;	/* statements of SQL functions that were not inlined are included */
	bool		rules;			/* statements added by rules are included */
	bool		notifies;		/* NOTIFY ran; or pg_notify(), if functions were asked for */
	bool		truncates;		/* TRUNCATE ran */
	bool		ddl;			/* a utility that changes the catalogs ran */
	bool		changed;		/* rows, as the commands' tags say; of a connection only */
	int64		notices;		/* of the far end; of a connection only */
	bool		foreign;		/* a plan that uses a foreign table ran */
} RtbCounts;

extern void rtb_hooks_begin(bool functions);
extern void rtb_hooks_end(RtbCounts *counts);
extern void rtb_hooks_abandon(void);
extern bool rtb_hooks_begun(void);
extern void rtb_hooks_watch(void (*starts) (const PlannedStmt *stmt));
extern bool rtb_hooks_pause(void);
extern void rtb_hooks_resume(bool was_counting);
extern void rtb_hooks_driver(bool driver);
extern char *rtb_hooks_shapes(bool fired);

#endif							/* RTB_HOOKS_H */
