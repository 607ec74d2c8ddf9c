/*
 * experiment_private.h
 *	  A run under way: what experiment.c and the rooms of the schedule share.
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

/* a server where the experiment runs: its run, and the sessions there */
typedef struct Site
{
	RtbRun	   *run;
	RtbSessionOptions options;
	RtbCollector *collector;
	RtbSessionSink sink;
	RtbHost    *keeper;			/* session 1 */
	RtbHost    *visitor;		/* the running later session, or NULL */
	StringInfo *descriptions;	/* of the points that the pilot measured */
	int64		empty_ns;		/* the cheapest empty statement seen there */
	char	   *far_version;	/* of a foreign server */
} Site;

typedef struct Experiment
{
	RtbExperiment *e;
	int			nsites;			/* at least 1 */
	Site	   *sites;
	int		   *site_order;
	pg_prng_state prng;
	int64		started_ns;
	int			norder;			/* passes in a round */
	int		   *order;
	int			nwalk;			/* points, at least 1 */
	int		   *walk;			/* indexes of the run's points, upwards */
	/* points that the pilot measured, in the order of walk; at all sites together */
	int			npoints;
	RtbPointCost *costs;
	const RtbPointCost *at;		/* where passes run now, or NULL */
	RtbOutlook	outlook;
} Experiment;

/* what is to be done at a site */
typedef void (*SiteAct) (Experiment *x, Site *site, void *arg);

/* sites.c */
extern void rtb_sites_prepare(Experiment *x);
extern void rtb_sites_open(Experiment *x);
extern void rtb_sites_each(Experiment *x, int turn, SiteAct act, void *arg);
extern void rtb_sites_enter(Experiment *x, int place);
extern void rtb_sites_leave(Experiment *x);
extern void rtb_sites_leave_out(Experiment *x, List *points);
extern void rtb_sites_mark(Experiment *x, int points_done);
extern void rtb_sites_cut(Experiment *x);
extern void rtb_sites_close(Experiment *x);
extern void rtb_sites_unwind(Experiment *x);
extern void rtb_sites_keep(Experiment *x);
extern void rtb_sites_abandon(Experiment *x);

/* rounds.c */
extern int64 rtb_rounds_point(const Experiment *x, int i);
extern int64 rtb_rounds_time_left_ns(const Experiment *x);
extern int64 rtb_rounds_overtime_ns(const Experiment *x);
extern int64 rtb_rounds_pass_timeout_ms(const Experiment *x);
extern int64 rtb_rounds_forecast_ns(const Experiment *x, int64 value, int rounds);
extern void rtb_rounds_pilot(Experiment *x, int turn, int64 value);
extern void rtb_rounds_of_keepers(Experiment *x, int first, int last, RtbPassKind kind);
extern void rtb_rounds_warm_up(Experiment *x, RtbHost *host, int session);
extern void rtb_rounds_run(Experiment *x, RtbHost *host, int session, int first, int last,
						   RtbPassKind kind);
extern bool rtb_rounds_narrow_at(const Experiment *x, int64 point);
extern bool rtb_rounds_narrow(const Experiment *x);
extern void rtb_rounds_close(Experiment *x);
extern void rtb_rounds_close_point(Experiment *x, int64 point);

/* one_session.c */
extern void rtb_one_session_point_by_point(Experiment *x);
extern void rtb_one_session_in_turn(Experiment *x);

#endif							/* RTB_EXPERIMENT_PRIVATE_H */
