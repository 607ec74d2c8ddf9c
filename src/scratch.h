/*
 * scratch.h
 *	  Scratch schemas: made, emptied, and gone whatever happens.
 */
#ifndef RTB_SCRATCH_H
#define RTB_SCRATCH_H

#include "postgres.h"

#include "transport.h"

extern char *rtb_scratch_create(const RtbTransport *transport, MemoryContext cxt);
extern void rtb_scratch_empty(const char *schema);
extern void rtb_scratch_recreate(const char *schema);
extern void rtb_scratch_drop(const char *schema);
extern int	rtb_scratch_cleanup(void);
extern void rtb_scratch_sweep(const RtbTransport *transport);

#endif							/* RTB_SCRATCH_H */
