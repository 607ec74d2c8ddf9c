/*
 * effects.h
 *	  What the server's statistics counters tell of a pass.
 */
#ifndef RTB_EFFECTS_H
#define RTB_EFFECTS_H

#include "postgres.h"

#include "nodes/pg_list.h"

typedef struct RtbEffects
{
	int64		updates;
	int64		hot_updates;
	int64		catalog_reads;
} RtbEffects;

extern void rtb_effects_read(List *written, RtbEffects *effects);

#endif							/* RTB_EFFECTS_H */
