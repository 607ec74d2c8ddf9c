/*
 * load_windows.h
 *	  What the sessions of a load counted in a window, put together by group.
 */
#ifndef RTB_LOAD_WINDOWS_H
#define RTB_LOAD_WINDOWS_H

#include "load_shared.h"
#include "load_waits.h"

extern void rtb_load_collect(RtbLoad *load, const RtbLoadShared *shared, int nseats, const RtbWaits *waits,
							 const RtbLoadWindow *window, int number);

#endif							/* RTB_LOAD_WINDOWS_H */
