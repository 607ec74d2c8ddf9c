/*
 * experiment_private.h
 *	  A run under way: what experiment.c and rounds.c share.
 */
#ifndef RTB_EXPERIMENT_PRIVATE_H
#define RTB_EXPERIMENT_PRIVATE_H

#include "experiment.h"

#include "common/pg_prng.h"

#include "collector.h"
#include "outlook.h"
#include "schedule.h"
#include "session_host.h"

/* for what makes the first interval, max_time may be exceeded by this */
#define RTB_OVERTIME	0.2

typedef struct Experiment
{
	RtbExperiment *e;
	RtbCollector *collector;
	RtbSessionSink sink;
	RtbHost    *keeper;			/* session 1 */
	RtbHost    *visitor;		/* the running later session, or NULL */
	pg_prng_state prng;
	int64		started_ns;
	int			norder;			/* passes in a round */
	int		   *order;
	int			nwalk;			/* points, at least 1 */
	int		   *walk;			/* indexes of the run's points, upwards */
	/* points that the pilot measured, in the order of walk */
	int			npoints;
	StringInfo *descriptions;
	RtbPointCost *costs;
	const RtbPointCost *at;		/* where passes run now, or NULL */
	RtbOutlook	outlook;
} Experiment;

extern int64 rtb_rounds_point(const Experiment *x, int i);
extern int64 rtb_rounds_time_left_ns(const Experiment *x);
extern int64 rtb_rounds_overtime_ns(const Experiment *x);
extern int64 rtb_rounds_pass_timeout_ms(const Experiment *x);
extern void rtb_rounds_pilot(Experiment *x, int64 value);
extern void rtb_rounds_warm_up(Experiment *x, RtbHost *host, int session);
extern void rtb_rounds_run(Experiment *x, RtbHost *host, int session, int first, int last,
						   RtbPassKind kind);
extern bool rtb_rounds_narrow(const Experiment *x);
extern void rtb_rounds_close(Experiment *x);
extern void rtb_rounds_point_by_point(Experiment *x);
extern void rtb_rounds_in_turn(Experiment *x);

#endif							/* RTB_EXPERIMENT_PRIVATE_H */
