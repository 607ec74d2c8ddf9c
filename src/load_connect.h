/*
 * load_connect.h
 *	  The workers of a load connect, and what that means for its figures.
 */
#ifndef RTB_LOAD_CONNECT_H
#define RTB_LOAD_CONNECT_H

#include "load_shared.h"
#include "worker_pool.h"

extern RtbLoadFar *rtb_load_connect(RtbLoad *load, RtbPool *pool, int nworkers);

#endif							/* RTB_LOAD_CONNECT_H */
