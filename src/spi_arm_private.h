/*
 * spi_arm_private.h
 *	  An arm's state, shared by what prepares and runs its statements by SPI.
 */
#ifndef RTB_SPI_ARM_PRIVATE_H
#define RTB_SPI_ARM_PRIVATE_H

#include "spi_arm.h"

#include "executor/spi.h"
#include "storage/proc.h"
#include "utils/timeout.h"
#include "utils/tuplestore.h"

#include "row_binding.h"

/* how a statement of an arm with transactions of its own reaches the server */
typedef enum SpiSend
{
	SPI_SEND_PLAN,				/* by SPI */
	SPI_SEND_CALL,				/* CALL or DO, which may commit inside */
	SPI_SEND_SAVEPOINT			/* SAVEPOINT and what belongs to it */
} SpiSend;

typedef struct SpiStatement
{
	const char *text;
	bool		types_known;
	int			ntypes;
	Oid		   *types;
	char	  **type_names;		/* of those that are not built in, else NULL; NULL if all are */
	SPIPlanPtr	plan;			/* NULL until its first execution in a pass */
	RtbBinding	binding;		/* valid while bound */
	bool		bound;
	SpiSend		send;
} SpiStatement;

typedef struct SpiStep
{
	const RtbStep *step;
	int			nstatements;
	SpiStatement *statements;
	int			nbody;
	struct SpiStep *body;
	/* of a foreach or generated step */
	RtbRow		row;			/* its values lie in the pass's context */
	int			ncolumns;		/* columns of the driver that its body uses */
	Tuplestorestate *store;		/* its rows, where a commit would close a cursor */
} SpiStep;

typedef struct SpiArm
{
	MemoryContext cxt;
	MemoryContext pass_cxt;
	const RtbArm *arm;
	bool		special;		/* not just statements in one transaction */
	bool		stores;			/* drivers are read whole before their loops begin */
	int			nsteps;
	SpiStep    *steps;
	/* during a pass */
	RtbArmRun  *run;
	DestReceiver *dest;			/* the run's, or one that discards */
	int64		sent;			/* messages in the running transaction */
	bool		committed;		/* an earlier transaction of this pass was */
	int64		prepare_ns;		/* parsing and analysing in this execution of a step, if timed */
} SpiArm;

/* is statement_timeout ours to arm for each message, and is it armed? */
extern bool rtb_spi_limits_messages;
extern bool rtb_spi_limit_armed;

/* the session's statement_timeout goes for every message, as it does for a client's */
static inline void
message_begins(void)
{
	if (rtb_spi_limits_messages && StatementTimeout > 0)
	{
		rtb_spi_limit_armed = true;
		enable_timeout_after(STATEMENT_TIMEOUT, StatementTimeout);
	}
}

static inline void
message_ends(void)
{
	/* the message itself may have changed the setting */
	if (unlikely(rtb_spi_limit_armed))
	{
		disable_timeout(STATEMENT_TIMEOUT, false);
		rtb_spi_limit_armed = false;
	}
}

static inline void
check_result(int rc, const char *statement)
{
	if (unlikely(rc < 0))
		rtb_spi_refuse(rc, statement);
}

/* calls between the rooms need no detour by the linker's tables */
#pragma GCC visibility push(hidden)

/* spi_arm_state.c */
extern void rtb_spi_prepare(SpiArm *arm, SpiStep *step, SpiStatement *st, const RtbRow *row,
							int options);
extern ParamListInfo rtb_spi_bind_first(SpiArm *arm, SpiStatement *st, const RtbRow *row,
										MemoryContext row_cxt);
extern int64 rtb_spi_generic_plans(SpiStep *step);
extern bool rtb_spi_row_says(const RtbRow *row, int column);

/* spi_arm.c */
extern void rtb_spi_run_row(SpiArm *arm, SpiStep *step);
extern void rtb_spi_time_execution(SpiArm *arm, SpiStep *step, int64 started,
								   int64 generic_before);

/* spi_arm_special.c */
extern void rtb_spi_run_special(SpiArm *arm, SpiStep *step, const RtbRow *row);
extern void rtb_spi_run_stored(SpiArm *arm, SpiStep *step, const RtbRow *outer);
extern void rtb_spi_sent_special(SpiArm *arm);
extern void rtb_spi_end_special(SpiArm *arm);

#pragma GCC visibility pop

static inline ParamListInfo
bind(SpiArm *arm, SpiStatement *st, const RtbRow *row, MemoryContext row_cxt)
{
	if (st->ntypes == 0)
		return NULL;
	if (unlikely(!st->bound))
		return rtb_spi_bind_first(arm, st, row, row_cxt);
	return rtb_binding_fill(&st->binding, row, row_cxt);
}

#endif							/* RTB_SPI_ARM_PRIVATE_H */
