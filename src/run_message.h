/*
 * run_message.h
 *	  A whole run as a message body, and back.
 */
#ifndef RTB_RUN_MESSAGE_H
#define RTB_RUN_MESSAGE_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "ledger.h"

extern void rtb_run_write(StringInfo buf, const RtbRun *run);
extern RtbRun *rtb_run_read(StringInfo buf);

#endif							/* RTB_RUN_MESSAGE_H */
