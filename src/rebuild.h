/*
 * rebuild.h
 *	  A fixture built anew after a commit, and proven equal to the first one.
 */
#ifndef RTB_REBUILD_H
#define RTB_REBUILD_H

#include "postgres.h"

#include "session.h"

extern void rtb_rebuild_remember(RtbSession *s);
extern void rtb_rebuild_if_dirty(RtbSession *s);
extern void rtb_rebuild_refresh(RtbSession *s);
extern List *rtb_rebuild_made(RtbSession *s);
extern List *rtb_rebuild_left(RtbSession *s);

#endif							/* RTB_REBUILD_H */
