/*
 * protocol.h
 *	  How a statement is sent over a connection.
 */
#ifndef RTB_PROTOCOL_H
#define RTB_PROTOCOL_H

#include "postgres.h"

/* the numbers are kept, in the arms of rtbench.runs.documents, and compare_runs() knows pipeline and multi by them */
typedef enum RtbProtocol
{
	RTB_PROTOCOL_UNSET,			/* of an arm: as the run's arguments say */
	RTB_PROTOCOL_PREPARED,		/* parsed once in a pass, then bound and executed */
	RTB_PROTOCOL_EXTENDED,		/* parsed, bound and executed each time */
	RTB_PROTOCOL_SIMPLE,		/* a text with its values in it */
	RTB_PROTOCOL_PIPELINE,		/* prepared, a batch under way at once */
	RTB_PROTOCOL_MULTI,			/* a batch in one text */
	RTB_PROTOCOL_COPY			/* rows for a COPY FROM STDIN: of single statements only */
} RtbProtocol;

/* most statements or rows to a message */
#define RTB_MOST_IN_BATCH	1000000

/* of arms */
#define RTB_VALID_PROTOCOLS "Valid values are \"prepared\", \"extended\", \"simple\", \"pipeline\" and \"multi\"."

extern RtbProtocol rtb_protocol_read(const char *name, bool copies);
extern const char *rtb_protocol_name(RtbProtocol protocol);

#endif							/* RTB_PROTOCOL_H */
