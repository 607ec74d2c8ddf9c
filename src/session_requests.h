/*
 * session_requests.h
 *	  Requests for sessions, and their replies, by kind.
 *
 * For session_host.c and session_worker.c only.
 */
#ifndef RTB_SESSION_REQUESTS_H
#define RTB_SESSION_REQUESTS_H

/* requests */
#define REQUEST_OPEN	'O'
#define REQUEST_PRICE	'M'
#define REQUEST_FACTS	'F'
#define REQUEST_POINT	'P'
#define REQUEST_PILOT	'L'
#define REQUEST_DESCRIBE 'D'
#define REQUEST_ATTACH	'A'
#define REQUEST_ENTER	'N'
#define REQUEST_ROUND	'R'
#define REQUEST_LEAVE	'E'
#define REQUEST_KEEP	'K'
/* replies */
#define REPLY_PASS		'p'
#define REPLY_FINDING	'f'
#define REPLY_STEP		's'
#define REPLY_POINT		'd'
#define REPLY_PRICE		'm'
#define REPLY_FACTS		'v'
#define REPLY_KEPT		'k'

#endif							/* RTB_SESSION_REQUESTS_H */
