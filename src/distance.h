/*
 * distance.h
 *	  A simulated round trip: a wait that is accurate to microseconds.
 */
#ifndef RTB_DISTANCE_H
#define RTB_DISTANCE_H

#include "postgres.h"

typedef struct RtbDistance RtbDistance;

/* what was asked for and what it came to, of all waits */
typedef struct RtbDelivered
{
	int64		waits;
	int64		asked_ns;
	int64		delivered_ns;
	int64		longest_ns;
} RtbDelivered;

extern RtbDistance *rtb_distance_create(double round_trip_ms, bool spinning);
extern void rtb_distance_wait(RtbDistance *distance);
extern const RtbDelivered *rtb_distance_delivered(const RtbDistance *distance);
extern void rtb_distance_reset(RtbDistance *distance);
extern void rtb_distance_free(RtbDistance *distance);

#endif							/* RTB_DISTANCE_H */
