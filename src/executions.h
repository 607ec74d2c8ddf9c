/*
 * executions.h
 *	  What executors that can run more than once are counted as.
 */
#ifndef RTB_EXECUTIONS_H
#define RTB_EXECUTIONS_H

#include "postgres.h"

#include "executor/execdesc.h"

#include "shape_tally.h"

/* lives exactly as long as the executor */
typedef struct RtbExecution
{
	MemoryContextCallback gone; /* its memory context is being deleted */
	struct RtbExecution *next_free;
	uint32		counting_id;	/* in which counting it was started */
	RtbKind		kind;
	bool		counted;		/* false once taken back */
	bool		caller;			/* a mere caller if a statement starts under it */
	RtbShape   *shape;
	int64		rows;
} RtbExecution;

#pragma GCC visibility push(hidden)

extern RtbExecution *rtb_execution_new(const QueryDesc *query);
extern RtbExecution *rtb_execution_find(const QueryDesc *query);

#pragma GCC visibility pop

#endif							/* RTB_EXECUTIONS_H */
