/*
 * collector.h
 *	  What sessions tell, gathered into the run.
 */
#ifndef RTB_COLLECTOR_H
#define RTB_COLLECTOR_H

#include "postgres.h"

#include "ledger.h"
#include "progress.h"
#include "session.h"

typedef struct RtbCollector
{
	RtbRun	   *run;
	RtbProgress *progress;		/* is told of every pass */
	MemoryContext cxt;			/* of the run */
	List	   *failed;			/* of RtbPass * */
	/* what is kept if the run ends early */
	int			points_done;
	int			passes_done;
	int			findings_done;
	int			steps_done;
} RtbCollector;

extern RtbCollector *rtb_collector_create(RtbRun *run, RtbProgress *progress, RtbSessionSink *sink);
extern bool rtb_collector_failed(const RtbCollector *c, bool has_point, int64 point, int arm,
								 const RtbPass *but);
extern int64 rtb_collector_expected(const RtbCollector *c, bool has_point, int64 point,
									int warm_ups, int rounds, bool control);
extern void rtb_collector_mark(RtbCollector *c, int points_done);
extern void rtb_collector_cut(RtbCollector *c);

#endif							/* RTB_COLLECTOR_H */
