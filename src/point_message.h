/*
 * point_message.h
 *	  What a session found out about a point, for another session.
 */
#ifndef RTB_POINT_MESSAGE_H
#define RTB_POINT_MESSAGE_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "session.h"

extern void rtb_point_write(StringInfo buf, const RtbPoint *point);
extern void rtb_point_read(StringInfo buf, RtbPoint *point);

#endif							/* RTB_POINT_MESSAGE_H */
