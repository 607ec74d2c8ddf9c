/*
 * reference.h
 *	  One parameter in an SQL text.
 */
#ifndef RTB_REFERENCE_H
#define RTB_REFERENCE_H

#include "postgres.h"

#include "script.h"

typedef struct RtbReference
{
	char		style;			/* 0 raw, '\'' a literal, '"' an identifier */
	int			start;			/* of the colon */
	int			end;
	char	   *name;
} RtbReference;

extern bool rtb_name_char(unsigned char c);
extern bool rtb_name_start(unsigned char c);
extern bool rtb_reference_read(const char *text, const RtbToken *colon, RtbReference *ref);
extern void rtb_reference_check_alone(const char *text, const RtbReference *ref,
									  const RtbToken *next);
extern void rtb_reference_unknown(const char *text, const RtbReference *ref, List *known);

#endif							/* RTB_REFERENCE_H */
