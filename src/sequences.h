/*
 * sequences.h
 *	  What an arm does to sequences: how far each one moves in a pass.
 */
#ifndef RTB_SEQUENCES_H
#define RTB_SEQUENCES_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* moves that are not known: the caller may not read the sequence, or it is gone */
#define RTB_MOVE_UNKNOWN	PG_INT64_MIN

typedef struct RtbSequencePosition
{
	bool		known;
	bool		called;			/* value was handed out */
	int64		value;
	int64		increment;
} RtbSequencePosition;

/* in a transaction, SPI connected: one for each of the written relations */
extern RtbSequencePosition *rtb_sequences_read(List *written);
/* values drawn between two readings, negative where a sequence was set back */
extern void rtb_sequences_moves(int n, const RtbSequencePosition *before,
								const RtbSequencePosition *after, int64 *moves);
/* phrases about two arms' moves; NULL if there is nothing to say */
extern char *rtb_sequences_set_back(List *written, const int64 *arm, const char *arm_name,
									const int64 *base, const char *base_name);
extern char *rtb_sequences_drawn(List *written, const int64 *arm, const char *arm_name,
								 const int64 *base, const char *base_name);

#endif							/* RTB_SEQUENCES_H */
