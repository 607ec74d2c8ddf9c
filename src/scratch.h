/*
 * scratch.h
 *	  Scratch schemas: made, emptied, and gone whatever happens.
 */
#ifndef RTB_SCRATCH_H
#define RTB_SCRATCH_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "compat.h"
#include "transport.h"

extern char *rtb_scratch_create(const RtbTransport *transport, MemoryContext cxt);
extern void rtb_scratch_empty(const char *schema);
extern void rtb_scratch_recreate(const char *schema);
extern void rtb_scratch_drop(const char *schema);
extern int	rtb_scratch_cleanup(void);
pg_noreturn extern void rtb_scratch_refuse_read_only(const char *what, const char *server);
extern void rtb_scratch_sweep(const RtbTransport *transport);

/* scratch_owner.c: whose they are */
extern void rtb_scratch_expect(int64 milliseconds);
extern char *rtb_scratch_comment(void);
extern void rtb_scratch_renew(const RtbTransport *transport, const char *schema, int64 *renewed_ns);
extern List *rtb_scratch_left_over(MemoryContext cxt);
extern void rtb_scratch_tell_in_use(void);

#endif							/* RTB_SCRATCH_H */
