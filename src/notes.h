/*
 * notes.h
 *	  What stands in the column notes: phrases about passes, units and ratios.
 */
#ifndef RTB_NOTES_H
#define RTB_NOTES_H

#include "postgres.h"

#include "cell.h"
#include "judge.h"
#include "units.h"

extern char *rtb_notes_join(List *phrases);
extern char *rtb_notes_percent(double share);
extern char *rtb_notes_failure(const RtbPass *pass);
extern char *rtb_notes_effect(List *cells, const RtbCell *cell);
extern List *rtb_notes_findings(const RtbCell *cell, RtbFindingKind kind);
extern List *rtb_notes_work(const RtbCell *cell);
extern char *rtb_notes_cores(const RtbCell *cell);
extern char *rtb_notes_groups(const int *sessions, const double *medians, const char *unit);
extern List *rtb_notes_outliers(const RtbCell *baseline, const RtbCell *cell,
								const RtbRatio *speedup);
extern List *rtb_notes_units(const RtbUnits *units, const RtbRatio *ratio);
extern List *rtb_notes_verdict(const RtbResult *result);
extern List *rtb_notes_order(const RtbCell *baseline, const RtbCell *cell, double alpha,
							 double margin);

#endif							/* RTB_NOTES_H */
