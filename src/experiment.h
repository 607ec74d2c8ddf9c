/*
 * experiment.h
 *	  The schedule carried out: points, sessions, rounds, stopping.
 */
#ifndef RTB_EXPERIMENT_H
#define RTB_EXPERIMENT_H

#include "postgres.h"

#include "ledger.h"
#include "progress.h"
#include "scenario.h"
#include "session.h"

/* where it runs: one run of the ledger */
typedef struct RtbSite
{
	const RtbWireOptions *wire; /* NULL: no connection */
	RtbRun	   *run;			/* gets passes, findings, steps, scope */
} RtbSite;

typedef struct RtbExperiment
{
	RtbScenario *scenario;		/* arms chosen, parameters set */
	RtbSessionOptions options;
	int			rounds;			/* asked for; 0: as the time allows */
	int			sessions;		/* asked for; 0: as the time allows */
	double		target;			/* half-width at which to stop: 0.02 is 2 % */
	bool		control;		/* the baseline runs twice in every round */
	int64		max_time_ms;	/* 0: no limit */
	int64		pass_timeout_ms;	/* 0: what is left of max_time */
	RtbProgress *progress;		/* begun by who asks for the run, and ended by it */
	RtbRun	   *run;			/* of the first site */
	List	   *sites;			/* of RtbSite *: at least one, several in lockstep */
} RtbExperiment;

/* setting rtbench.pass_order */
enum
{
	RTB_ORDER_MIRRORED,
	RTB_ORDER_BLOCKS
};
extern int	rtb_pass_order;

extern void rtb_experiment_init(void);
extern void rtb_experiment_run(RtbExperiment *e);

#endif							/* RTB_EXPERIMENT_H */
