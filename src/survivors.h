/*
 * survivors.h
 *	  What survives the end of a pass's transaction, undone outside the clock.
 */
#ifndef RTB_SURVIVORS_H
#define RTB_SURVIVORS_H

#include "postgres.h"

#include "session.h"

extern void rtb_survivors_note(RtbSession *s, const RtbPassRequest *rq);
extern void rtb_survivors_release(RtbSession *s, const RtbPassRequest *rq);

#endif							/* RTB_SURVIVORS_H */
