/*
 * experiment.h
 *	  The schedule: points, sessions, rounds, order, stopping.
 */
#ifndef RTB_EXPERIMENT_H
#define RTB_EXPERIMENT_H

#include "postgres.h"

#include "ledger.h"
#include "scenario.h"
#include "session.h"

typedef struct RtbExperiment
{
	RtbScenario *scenario;		/* arms chosen, parameters set */
	RtbSessionOptions options;
	int			rounds;
	int64		max_time_ms;	/* 0: no limit */
	int64		pass_timeout_ms;	/* 0: what is left of max_time */
	RtbRun	   *run;			/* gets passes, findings, steps */
} RtbExperiment;

extern void rtb_experiment_run(RtbExperiment *e);

#endif							/* RTB_EXPERIMENT_H */
