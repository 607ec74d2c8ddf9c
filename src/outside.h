/*
 * outside.h
 *	  Definitions that a transaction changes outside a scratch schema.
 */
#ifndef RTB_OUTSIDE_H
#define RTB_OUTSIDE_H

#include "postgres.h"

extern void rtb_outside_begin(void);
extern void rtb_outside_end(void);
extern void rtb_outside_forget(void);
extern char *rtb_outside_changed(Oid scratch);

#endif							/* RTB_OUTSIDE_H */
