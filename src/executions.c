/*
 * executions.c
 *	  What executors that can run more than once are counted as.
 *
 * An execution hangs on the executor's memory context by a reset callback, through
 * which it is both found and given back.  So it lives exactly as long as the
 * executor, in whatever order cursors are closed and whatever errors are caught:
 * nothing can go stale or pile up.
 *
 * Memory: a pool in the context "rtbench executions", which lasts for the process
 * and grows only to the largest number of cursors open at one time.
 */
#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/memnodes.h"
#include "utils/memutils.h"

#include "executions.h"

#define EXECUTIONS_PER_BLOCK	32

static MemoryContext execution_context = NULL;
static RtbExecution *free_executions = NULL;

static void
execution_gone(void *arg)
{
	RtbExecution *execution = arg;

	execution->next_free = free_executions;
	free_executions = execution;
}

/*
 * An execution for an executor that was started; the caller fills it in.  Throws
 * only when out of memory.
 */
RtbExecution *
rtb_execution_new(const QueryDesc *query)
{
	RtbExecution *execution;

	if (execution_context == NULL)
		execution_context = AllocSetContextCreate(TopMemoryContext, "rtbench executions",
												  ALLOCSET_DEFAULT_SIZES);
	if (free_executions == NULL)
	{
		execution = MemoryContextAlloc(execution_context,
									   sizeof(RtbExecution) * EXECUTIONS_PER_BLOCK);
		for (int i = 0; i < EXECUTIONS_PER_BLOCK; i++)
			execution_gone(&execution[i]);
	}
	execution = free_executions;
	free_executions = execution->next_free;

	execution->gone.func = execution_gone;
	execution->gone.arg = execution;
	MemoryContextRegisterResetCallback(query->estate->es_query_cxt, &execution->gone);
	return execution;
}

/*
 * The execution of an executor, or NULL if it has none.
 */
RtbExecution *
rtb_execution_find(const QueryDesc *query)
{
	MemoryContextCallback *callback = query->estate->es_query_cxt->reset_cbs;

	for (; callback != NULL; callback = callback->next)
	{
		if (callback->func == execution_gone)
			return callback->arg;
	}
	return NULL;
}
