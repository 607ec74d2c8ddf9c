/*
 * probe.h
 *	  What is read around a pass: clock, CPU, buffers, WAL.
 */
#ifndef RTB_PROBE_H
#define RTB_PROBE_H

#include "postgres.h"

#include "executor/instrument.h"

typedef struct RtbProbe
{
	/* sums over the spans between start and stop */
	int64		elapsed_ns;		/* CLOCK_MONOTONIC */
	int64		cpu_ns;			/* this process */
	BufferUsage buffers;
	WalUsage	wal;
	/* the running span */
	int64		wall_started;
	int64		cpu_started;
	BufferUsage buffers_started;
	WalUsage	wal_started;
} RtbProbe;

extern int64 rtb_clock_ns(void);
extern int64 rtb_clock_step_ns(void);
extern int64 rtb_clock_cost_ns(void);
extern void rtb_probe_reset(RtbProbe *probe);
extern void rtb_probe_start(RtbProbe *probe);
extern void rtb_probe_stop(RtbProbe *probe);

#endif							/* RTB_PROBE_H */
