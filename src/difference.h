/*
 * difference.h
 *	  What differs between two checks, in words.
 */
#ifndef RTB_DIFFERENCE_H
#define RTB_DIFFERENCE_H

#include "postgres.h"

#include "session.h"

/* a column of a part; several of them make a list of RtbColumn * */
typedef struct RtbColumn
{
	const char *label;			/* of the part */
	const char *name;			/* quoted where need be; "*": the number of rows */
} RtbColumn;

typedef struct RtbDifference
{
	char	   *text;			/* "t: columns v, w; u: 3 rows against 4", NULL: none */
	List	   *columns;		/* of RtbColumn *: what differs */
	bool		left_out;		/* something differs that was to be left out */
	bool		rounding;		/* nothing but last digits of floating-point values */
} RtbDifference;

extern RtbDifference *rtb_difference(const RtbCheck *a, const RtbCheck *b, List *leave_out);
extern bool rtb_column_in_list(List *columns, const char *label, const char *name);

#endif							/* RTB_DIFFERENCE_H */
