/*
 * cell.h
 *	  One arm at one point: its passes, their figures, and whether they count.
 */
#ifndef RTB_CELL_H
#define RTB_CELL_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "judge.h"
#include "ledger.h"

typedef struct RtbCell
{
	const RtbRun *run;
	bool		has_point;
	int64		point;
	int			arm;
	const RtbPass *first;		/* its very first pass, or NULL */
	const RtbPass *failed;		/* the first pass that failed, or NULL */
	List	   *timed;			/* of RtbPass *: those a verdict rests on, in their order */
	List	   *control;		/* the same of the baseline's second passes of a round */
	List	   *measured;		/* both: all must do the same work */
	List	   *digested;		/* of RtbPass *: those with a digest */
	List	   *reasons;		/* of char *: why it is not comparable, NIL if it is */
	List	   *notes;			/* of char *: what else was seen of its work */
} RtbCell;

/* cell.c: passes and figures */
extern RtbCell *rtb_cell_collect(const RtbRun *run, bool has_point, int64 point, int arm);
extern const RtbPass *rtb_cell_counted(const RtbCell *cell);
extern void rtb_cell_figures(const RtbCell *cell, double alpha, RtbResult *result);
extern int64 rtb_cell_count(const RtbCell *cell, int64 (*count) (const RtbPass *));
extern bool rtb_cell_finding(const RtbCell *cell, const RtbFinding *finding);

/* sameness.c: do the passes count? */
extern bool rtb_pass_impossible(const RtbPass *pass, double empty_statement_ns);
extern void rtb_cell_check(RtbCell *cell, double empty_statement_ns, bool ended);
extern List *rtb_cells_differ(const RtbCell *baseline, const RtbCell *arm);

#endif							/* RTB_CELL_H */
