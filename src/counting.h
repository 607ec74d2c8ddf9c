/*
 * counting.h
 *	  The rules by which statements are counted; fed by hooks.c.
 */
#ifndef RTB_COUNTING_H
#define RTB_COUNTING_H

#include "postgres.h"

#include "executor/execdesc.h"
#include "nodes/parsenodes.h"
#include "tcop/cmdtag.h"

#include "hooks.h"
#include "shape_tally.h"

/* a run under way, and in which counting */
typedef struct RtbMark
{
	uint32		counting_id;
	int			frame;
} RtbMark;

/* calls between the rooms need no detour by the linker's tables */
#pragma GCC visibility push(hidden)

/* what is counted and noted beside statements and rows: the hooks add to it */
extern RtbCounts rtb_noted;

extern void rtb_counting_reset(void);
extern void rtb_counting_forget_waiting(void);
extern void rtb_counting_totals(RtbCounts *counts);
extern RtbKind rtb_counting_kind(bool fired);
extern int64 rtb_counting_started(void);

/* executors */
extern bool rtb_counting_start(const QueryDesc *query, bool driving);
extern void rtb_counting_keep(const QueryDesc *query);
extern bool rtb_counting_run(const QueryDesc *query);
extern void rtb_counting_ran(RtbMark mark, const QueryDesc *query);
extern void rtb_counting_finish(const QueryDesc *query);
extern void rtb_counting_finish_runs(const QueryDesc *query);
extern void rtb_counting_finished(RtbMark mark);

/* utilities */
extern void rtb_counting_utility(Node *statement);
extern void rtb_counting_utility_done(RtbMark mark, const QueryCompletion *qc);

/* subtransactions */
extern void rtb_counting_subxact(SubTransactionId subxact);
extern void rtb_counting_undone(SubTransactionId subxact);

extern RtbMark rtb_counting_mark(void);

#pragma GCC visibility pop

#endif							/* RTB_COUNTING_H */
