/*
 * connection.h
 *	  A client connection of this process's own, which never blocks it.
 *
 * Statements are sent over it as a client would send them, and every answer is
 * waited for in a way that cancel, timeouts and termination interrupt at once.
 * What it counts is what a client on the far side of a wire would pay for.
 */
#ifndef RTB_CONNECTION_H
#define RTB_CONNECTION_H

#include "postgres.h"

#include "distance.h"
#include "servers.h"

typedef struct RtbConnection RtbConnection;

/*
 * What a pass sent and got, since rtb_connection_begin_pass.
 *
 * Bytes are those of the protocol's messages: type, length and body.  What TLS,
 * TCP and IP put around them is not in, nor are reports of changed settings.
 */
typedef struct RtbTraffic
{
	int64		round_trips;	/* messages sent and waited for; a batch is one */
	int64		statements;		/* sent; several in one string are one */
	int64		bytes_sent;
	int64		bytes_received;
	int64		notices;		/* of the far end */
	int64		notices_untold; /* of them, beyond what a pass tells */
	bool		changed;		/* rows, as the commands' tags have it */
} RtbTraffic;

/*
 * Where rows go, as text.  A null is a NULL value of length 0.  Values are valid
 * during the call only.  Both may throw.
 *
 * Bytes are as they came: of a far end that knows no encoding they need not be
 * valid in the database's.  They may be hashed and sent back there, but shown or
 * kept as text only by way of rtb_connection_text().
 */
typedef struct RtbRows
{
	void		(*columns) (void *arg, int ncolumns, char **names); /* or NULL */
	void		(*row) (void *arg, int ncolumns, char **values, int *lengths);
	void	   *arg;
} RtbRows;

/* a parameterised statement's values, as text */
typedef struct RtbValues
{
	int			n;
	const Oid  *types;			/* NULL: the far end infers them */
	const char *const *values;	/* NULL: null */
} RtbValues;

/* what the statements of one answer came to */
typedef struct RtbAnswer
{
	int64		returned;		/* rows */
	int64		affected;		/* rows, as the commands' tags have it, SELECT's too */
	int			results;		/* statements answered */
	bool		silent;			/* a statement among them does not tell what it did (DO, CALL) */
} RtbAnswer;

/* connection.c: its life */
extern RtbConnection *rtb_connection_open(const RtbTarget *target);
extern void rtb_connection_keep(RtbConnection *c);
extern void rtb_connection_limit(RtbConnection *c, int milliseconds);
extern void rtb_connection_close(RtbConnection *c);
extern bool rtb_connection_recover(RtbConnection *c, int milliseconds);
extern void rtb_connection_give_up(const RtbConnection *c);
extern bool rtb_connection_usable(const RtbConnection *c);
extern bool rtb_connection_alive(RtbConnection *c);
extern bool rtb_connection_in_block(const RtbConnection *c);
extern bool rtb_connection_reads_alike(const RtbConnection *c);
extern int	rtb_connection_pid(const RtbConnection *c);
extern bool rtb_connection_here(const RtbConnection *c);
extern const char *rtb_connection_parameter(const RtbConnection *c, const char *name);
extern const char *rtb_connection_tls(const RtbConnection *c);

/* connection_pass.c */
extern void rtb_connection_begin_pass(RtbConnection *c);
extern const RtbTraffic *rtb_connection_end_pass(RtbConnection *c);
extern bool rtb_connection_hush(RtbConnection *c, bool hushed);
extern int64 rtb_connection_notices(const RtbConnection *c);
extern void rtb_connection_aside(RtbConnection *c, const char *text);
extern void rtb_connection_expect(RtbConnection *c, bool whole, bool *large);
extern void rtb_connection_distance(RtbConnection *c, RtbDistance *distance);

/* connection_error.c: what came from there as text of this database */
extern char *rtb_connection_text(const char *bytes);
extern bool rtb_connection_valid(const char *bytes);

/* connection_query.c: statements, each sent and waited for */
extern RtbAnswer rtb_connection_query(RtbConnection *c, const char *text, const RtbRows *rows);
extern RtbAnswer rtb_connection_query_params(RtbConnection *c, const char *text,
											 const RtbValues *values, const RtbRows *rows);
extern void rtb_connection_prepare(RtbConnection *c, const char *name, const char *text,
								   const RtbValues *values);
extern RtbAnswer rtb_connection_execute(RtbConnection *c, const char *name,
										const RtbValues *values, const RtbRows *rows);

/* connection_pipeline.c: several under way at once */
extern void rtb_connection_pipeline_begin(RtbConnection *c, int batch);
extern RtbAnswer rtb_connection_pipeline_sync(RtbConnection *c, const RtbRows *rows);
extern RtbAnswer rtb_connection_pipeline_end(RtbConnection *c, const RtbRows *rows);

/* connection_bulk.c: rows in, rows out by portions */
extern void rtb_connection_copy_begin(RtbConnection *c, const char *text);
extern void rtb_connection_copy_data(RtbConnection *c, const char *data, int length);
extern RtbAnswer rtb_connection_copy_end(RtbConnection *c);
extern void rtb_connection_declare(RtbConnection *c, const char *cursor, const char *text,
								   const RtbValues *values);
extern RtbAnswer rtb_connection_fetch(RtbConnection *c, const char *cursor, int fetch_size,
									  const RtbRows *rows);
extern void rtb_connection_close_cursor(RtbConnection *c, const char *cursor);

/* connection_options.c: what libpq knows of options, for servers.c */
typedef enum RtbOptionPlace
{
	RTB_OPTION_UNKNOWN,
	RTB_OPTION_OF_SERVER,
	RTB_OPTION_OF_USER,			/* user, password and other secrets */
	RTB_OPTION_REFUSED			/* known to libpq, but not for anybody to set */
} RtbOptionPlace;

extern RtbOptionPlace rtb_connection_option(const char *name);
extern char *rtb_connection_option_names(RtbOptionPlace place);

#endif							/* RTB_CONNECTION_H */
