/*
 * servers.h
 *	  Where a connection goes, and as whom.
 */
#ifndef RTB_SERVERS_H
#define RTB_SERVERS_H

#include "postgres.h"

/* the longest time that making a connection may take, unless the server says otherwise */
#define RTB_CONNECT_TIMEOUT	10000	/* ms */

typedef struct RtbTarget
{
	const char *name;			/* unix, tcp, tls, or the server's */
	bool		is_server;
	bool		password_required;	/* the far end must have asked for the password */
	int			timeout;		/* ms */
	/* libpq's options, both ending with NULL; values hold passwords: show none of them */
	const char **keywords;
	const char **values;
} RtbTarget;

extern bool rtb_target_is_loopback(const char *name);
extern RtbTarget *rtb_target_loopback(const char *transport);
extern RtbTarget *rtb_target_server(const char *server);
extern char *rtb_target_unreachable(const char *transport);

#endif							/* RTB_SERVERS_H */
