/*
 * worker_pool.h
 *	  Several workers at a time, waited for together.
 */
#ifndef RTB_WORKER_POOL_H
#define RTB_WORKER_POOL_H

#include "postgres.h"

#include "worker.h"

typedef struct RtbPool RtbPool;

extern RtbPool *rtb_pool_start(int n, const char *what_for);
extern int	rtb_pool_pid(const RtbPool *pool, int i);
extern void rtb_pool_send(RtbPool *pool, int i, char kind, const char *data, Size size,
						  RtbWorkerSink sink, void *arg);
extern bool rtb_pool_step(RtbPool *pool, long milliseconds);
extern void rtb_pool_wait(RtbPool *pool, int i);
extern void rtb_pool_wait_all(RtbPool *pool);
extern void rtb_pool_goes_far(RtbPool *pool, int i);
extern int	rtb_pool_failed(const RtbPool *pool);
extern void rtb_pool_stop(RtbPool *pool, int first);

#endif							/* RTB_WORKER_POOL_H */
