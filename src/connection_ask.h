/*
 * connection_ask.h
 *	  One statement, sent over a connection again and again by one protocol.
 */
#ifndef RTB_CONNECTION_ASK_H
#define RTB_CONNECTION_ASK_H

#include "postgres.h"

#include "connection.h"

typedef enum RtbProtocol
{
	RTB_SIMPLE,
	RTB_EXTENDED,				/* parsed each time */
	RTB_PREPARED,				/* parsed once */
	RTB_PIPELINE,				/* prepared, a batch under way at once */
	RTB_MULTI,					/* a batch in one string, by the simple protocol */
	RTB_COPY					/* rows for a COPY FROM STDIN */
} RtbProtocol;

typedef struct RtbAsk RtbAsk;

extern RtbProtocol rtb_protocol_read(const char *name);
extern const char *rtb_protocol_name(RtbProtocol protocol);

extern RtbAsk *rtb_ask_create(RtbConnection *c, const char *statement, RtbProtocol protocol,
							  int batch, const char *copy_row);
extern RtbAnswer rtb_ask_run(RtbAsk *ask, int64 first, int64 times);
extern void rtb_ask_finish(RtbAsk *ask);

#endif							/* RTB_CONNECTION_ASK_H */
