/*
 * wire_message.h
 *	  How a connection is to be made, to and from flat messages.
 */
#ifndef RTB_WIRE_MESSAGE_H
#define RTB_WIRE_MESSAGE_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "wire.h"

extern void rtb_wire_options_write(StringInfo buf, const RtbWireOptions *options);
extern RtbWireOptions *rtb_wire_options_read(StringInfo body);
extern void rtb_wire_facts_write(StringInfo buf);
extern RtbFarFacts rtb_wire_facts_read(StringInfo body);

#endif							/* RTB_WIRE_MESSAGE_H */
