/*
 * message_text.h
 *	  Texts in messages between backends of one database: raw bytes.
 *
 * pq_sendstring() would convert to the client's encoding.
 */
#ifndef RTB_MESSAGE_TEXT_H
#define RTB_MESSAGE_TEXT_H

#include "postgres.h"

#include "libpq/pqformat.h"

/* append a text or NULL */
static inline void
rtb_send_text(StringInfo buf, const char *text)
{
	pq_sendbyte(buf, text != NULL);
	if (text != NULL)
		pq_sendbytes(buf, text, strlen(text) + 1);
}

/* the text that was appended, palloc'd in the current context, or NULL */
static inline char *
rtb_get_text(StringInfo buf)
{
	return pq_getmsgbyte(buf) ? pstrdup(pq_getmsgrawstring(buf)) : NULL;
}

#endif							/* RTB_MESSAGE_TEXT_H */
