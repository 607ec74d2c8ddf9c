/*
 * connection_ask.h
 *	  One statement, sent over a connection again and again by one protocol.
 */
#ifndef RTB_CONNECTION_ASK_H
#define RTB_CONNECTION_ASK_H

#include "postgres.h"

#include "connection.h"
#include "protocol.h"

typedef struct RtbAsk RtbAsk;

extern RtbAsk *rtb_ask_create(RtbConnection *c, const char *statement, RtbProtocol protocol,
							  int batch, const char *copy_row);
extern RtbAnswer rtb_ask_run(RtbAsk *ask, int64 first, int64 times);
extern void rtb_ask_finish(RtbAsk *ask);

#endif							/* RTB_CONNECTION_ASK_H */
