/*
 * check.h
 *	  Digesting what a pass left behind or returned, and telling differences.
 */
#ifndef RTB_CHECK_H
#define RTB_CHECK_H

#include "postgres.h"

#include "session.h"

extern RtbCheck *rtb_check_create(MemoryContext cxt);
extern DestReceiver *rtb_check_returned_receiver(RtbCheck *check, bool with_row_hashes);
extern void rtb_check_discover(RtbSession *s, List *made);
extern void rtb_check_take(RtbSession *s, RtbCheck *check, bool with_row_hashes, bool committed);
extern void rtb_check_finish(RtbCheck *check);
extern void rtb_check_free(RtbCheck *check);
extern bool rtb_check_equal(const RtbCheck *a, const RtbCheck *b);
extern RtbCheckPart *rtb_check_part(const RtbCheck *check, const char *label);
extern void rtb_check_count_alone(RtbCheck *a, RtbCheck *b, uint64 *only_a, uint64 *only_b);

extern void rtb_check_returned_text(RtbCheck *check, bool with_row_hashes, int ncolumns, char **values,
									int *lengths);

#endif							/* RTB_CHECK_H */
