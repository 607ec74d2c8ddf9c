/*
 * across.h
 *	  The same arm at the same point on two servers, measured in lockstep.
 */
#ifndef RTB_ACROSS_H
#define RTB_ACROSS_H

#include "postgres.h"

#include "cell.h"
#include "judge.h"
#include "units.h"

extern RtbRatio rtb_across_times(const RtbCell *first, const RtbCell *here, RtbUnits *units);
extern double rtb_across_half_width(const RtbRun *first, const RtbRun *here, bool has_point,
									int64 point);

#endif							/* RTB_ACROSS_H */
