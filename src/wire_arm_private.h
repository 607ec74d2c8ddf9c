/*
 * wire_arm_private.h
 *	  An arm's state over a connection, shared by what opens and runs it.
 */
#ifndef RTB_WIRE_ARM_PRIVATE_H
#define RTB_WIRE_ARM_PRIVATE_H

#include "wire.h"

#include "access/tupdesc.h"
#include "lib/stringinfo.h"
#include "utils/tuplestore.h"

/* a text with values in it: what stands between parameters */
typedef struct WirePiece
{
	const char *text;
	int			length;
	int			param;			/* that follows, from 1; 0 at the end */
} WirePiece;

typedef struct WireStatement
{
	const char *text;			/* with casts where types are given */
	char		name[40];		/* since it was prepared first */
	bool		attempted;		/* to prepare it, without success */
	bool		prepared;
	bool		is_query;		/* a cursor can read it */
	bool		has_comment;	/* to the end of a line: another text must begin on the next */
	bool		kept;			/* until the arm is closed, not for a pass */
	bool		large;			/* a result of it was, in some pass */
	int			npieces;
	WirePiece  *pieces;
} WireStatement;

typedef struct WireStep
{
	const RtbStep *step;
	int			nstatements;
	WireStatement *statements;
	int			nbody;
	struct WireStep *body;
	Tuplestorestate *store;		/* of a driver: its rows, all columns text */
	TupleDesc	desc;
	bool		reads_only;		/* of a driver: it does no work of its own */
	bool		large;			/* a result was, of its text or of one that it generated */
	/* the current row */
	int			ncolumns;
	char	  **values;
} WireStep;

typedef struct WireArm
{
	MemoryContext cxt;
	MemoryContext pass_cxt;
	MemoryContext row_cxt;
	const RtbArm *arm;
	/* the arm's own, or the run's */
	RtbProtocol protocol;
	int			batch_size;
	int			fetch_size;
	int			nsteps;
	WireStep   *steps;
	bool		ran;			/* in this process: what was not large then is small */
	bool		large;			/* a result was, of texts gathered */
	/* during a pass */
	RtbArmRun  *run;
	bool		in_block;		/* BEGIN was sent for it */
	StringInfoData batch;		/* of protocol multi: texts gathered */
	int			gathered;
	StringInfoData copied;		/* a row of COPY */
	bool		piped;			/* the connection is in a pipeline */
	bool		executing;		/* something that was prepared */
} WireArm;

#pragma GCC visibility push(hidden)

/* wire_arm_state.c */
extern bool rtb_wire_is_one_text(const RtbStep *step);
extern RtbProtocol rtb_wire_protocol_of(const RtbArm *arm);
extern int	rtb_wire_fetch_size_of(const RtbArm *arm);
extern void rtb_wire_prepare(WireArm *arm, WireStatement *st, const RtbValues *values);

/* wire_send.c */
extern void rtb_wire_count(WireArm *arm, RtbAnswer answer);
extern const RtbRows *rtb_wire_receiver(WireArm *arm, RtbRows *rows);
extern void rtb_wire_flush(WireArm *arm);
extern RtbAnswer rtb_wire_execute(WireArm *arm, WireStatement *st, const RtbValues *values,
								  const RtbRows *rows);
extern bool rtb_wire_fetches(const WireArm *arm, const WireStatement *st);
extern RtbAnswer rtb_wire_fetch(WireArm *arm, WireStatement *st, const RtbValues *values,
								const RtbRows *rows);
extern void rtb_wire_send(WireArm *arm, WireStatement *st, int nparams, const WireStep *row);
extern void rtb_wire_send_text(WireArm *arm, WireStep *step);
extern void rtb_wire_send_generated(WireArm *arm, WireStep *step, const char *text);
extern void rtb_wire_send_control(WireArm *arm, const char *text);

/* wire_arm_copy.c */
extern RtbAnswer rtb_wire_copy_rows(WireArm *arm, WireStep *step);

#pragma GCC visibility pop

#endif							/* RTB_WIRE_ARM_PRIVATE_H */
