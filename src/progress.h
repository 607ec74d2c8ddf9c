/*
 * progress.h
 *	  How far a running run has come, for other sessions and for its user.
 */
#ifndef RTB_PROGRESS_H
#define RTB_PROGRESS_H

#include "postgres.h"

#include "ledger.h"

typedef struct RtbProgress RtbProgress;

/* their names in SQL stand in progress_sql.c */
typedef enum RtbProgressPhase
{
	RTB_PHASE_STARTING,
	RTB_PHASE_FIXTURE,
	RTB_PHASE_PILOT,
	RTB_PHASE_ROUNDS,
	RTB_PHASE_SESSIONS,
	RTB_PHASE_CLEANING,
	RTB_PHASE_JUDGING,
	RTB_PHASE_KEEPING,
	RTB_PHASE_LOAD
} RtbProgressPhase;

extern RtbProgress *rtb_progress_begin(const RtbRun *run);
extern void rtb_progress_phase(RtbProgress *p, RtbProgressPhase phase);
extern void rtb_progress_point(RtbProgress *p, RtbProgressPhase phase, bool has_point, int64 point,
							   int session);
extern void rtb_progress_round(RtbProgress *p, int round);
extern void rtb_progress_pass(RtbProgress *p);
extern void rtb_progress_sessions(RtbProgress *p, int planned);
extern void rtb_progress_expect(RtbProgress *p, int64 passes, int64 ns);
extern void rtb_progress_tell(RtbProgress *p, const char *fmt,...) pg_attribute_printf(2, 3);
extern void rtb_progress_end(RtbProgress *p);

#endif							/* RTB_PROGRESS_H */
