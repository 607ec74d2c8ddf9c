/*
 * outlook.h
 *	  What is still to come of a run, for those who look on.
 */
#ifndef RTB_OUTLOOK_H
#define RTB_OUTLOOK_H

#include "postgres.h"

#include "collector.h"
#include "experiment.h"
#include "schedule.h"

typedef struct RtbOutlook
{
	const RtbExperiment *e;
	const RtbCollector *collector;	/* knows which arms failed */
	/* at the points after the running one, point by point; or RTB_UNKNOWN */
	int64		later_passes;
} RtbOutlook;

extern int	rtb_outlook_sessions(RtbOutlook *o, const RtbPointCost *costs, int ncosts, int done,
								 int most, int rounds, int64 session_ns, int64 limit_ns);
extern void rtb_outlook_asked(RtbOutlook *o, const int *later, int nlater);
extern void rtb_outlook_turns(const RtbOutlook *o, const RtbPointCost *costs, int ncosts,
							  int rounds);
extern void rtb_outlook_rounds(RtbOutlook *o, int64 point, int rounds, int64 round_ns,
							   int64 until_deadline_ns, int64 left_ns);

/* news for the user */
extern void rtb_outlook_tell_pilot(const RtbOutlook *o, int64 point, int64 ns);
extern void rtb_outlook_tell_point(const RtbOutlook *o, int64 point, int64 ns);
extern void rtb_outlook_tell_session(const RtbOutlook *o, int done, int in_all);

#endif							/* RTB_OUTLOOK_H */
