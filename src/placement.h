/*
 * placement.h
 *	  On which cores the two ends of a connection run.
 */
#ifndef RTB_PLACEMENT_H
#define RTB_PLACEMENT_H

#include "postgres.h"

typedef enum RtbPlacement
{
	RTB_PLACED_FREE,			/* where the kernel puts them */
	RTB_PLACED_SAME_CORE,
	RTB_PLACED_TWO_CORES
} RtbPlacement;

typedef struct RtbPlaced RtbPlaced;

extern RtbPlacement rtb_placement_read(const char *name);
extern const char *rtb_placement_name(RtbPlacement placement);

extern int	rtb_core_of_this(void);
extern int	rtb_core_of(int pid);
extern const char *rtb_placement_impossible(RtbPlacement placement);

extern RtbPlaced *rtb_placement_take(RtbPlacement placement, int far_pid);
extern void rtb_placement_restore(RtbPlaced *placed);

#endif							/* RTB_PLACEMENT_H */
