/*
 * pilot.h
 *	  What the pilot at a point gathers, and what it says of it.
 */
#ifndef RTB_PILOT_H
#define RTB_PILOT_H

#include "postgres.h"

#include "check.h"
#include "hooks.h"
#include "session.h"

typedef struct RtbPilot
{
	RtbSession *s;
	RtbCheck  **first;			/* by arm: digest of the first and */
	RtbCheck  **second;			/* the second digested pass */
	RtbCheck   *untouched;		/* the check query's rows before any arm */
	List	  **unstable;		/* by arm: of RtbColumn *: what differs within it */
	bool		different;		/* arms differ in more than that */
	int64	  **moves;			/* by arm: of sequences, in the second digested pass */
	RtbCounts  *counts;			/* by arm: of the discovery pass */
	List	   *locked;			/* of Oid: union over all arms, */
	List	   *modes;			/* and the strongest lock modes */
	bool		wrote;			/* some arm's pass got a transaction id */
} RtbPilot;

/* pilot_discover.c */
extern void rtb_pilot_in_transaction(RtbSession *s, void (*body) (RtbPilot *), RtbPilot *p);
extern void rtb_pilot_discover(RtbPilot *p);
extern bool rtb_pilot_is_written(const RtbSession *s, const char *label);

/* pilot_notes.c: findings in words, into the session's sink */
extern void rtb_pilot_note_counts(RtbSession *s, int arm, const RtbCounts *c);
extern void rtb_pilot_note_sending(RtbSession *s, int arm);
extern void rtb_pilot_note_advice(RtbSession *s, int arm);
extern void rtb_pilot_note_leaks(RtbSession *s, int arm);
extern void rtb_pilot_note_preload(RtbSession *s);
extern void rtb_pilot_require_check(RtbPilot *p);
extern void rtb_pilot_tell_distance(RtbSession *s);
extern void rtb_pilot_tell_advanced(RtbPilot *p);
extern void rtb_pilot_compare_sequences(RtbPilot *p);
extern void rtb_pilot_suggest_check_query(RtbPilot *p);
extern void rtb_pilot_tell_blind_check(RtbPilot *p);
extern void rtb_pilot_tell_empty_check(RtbPilot *p);

#endif							/* RTB_PILOT_H */
