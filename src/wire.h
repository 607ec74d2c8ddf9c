/*
 * wire.h
 *	  Arms over a connection: the transport that is a client of a server.
 */
#ifndef RTB_WIRE_H
#define RTB_WIRE_H

#include "postgres.h"

#include "connection.h"
#include "facts.h"
#include "placement.h"
#include "protocol.h"
#include "transport.h"

typedef struct RtbWireOptions
{
	const char *name;			/* unix, tcp, tls, or a server's */
	bool		is_server;
	RtbProtocol protocol;
	int			batch;			/* of pipeline and multi */
	int			fetch_size;		/* rows a driver's cursor fetches at once, 0: all */
	bool		simulated;		/* points are simulated round trips, in microseconds */
	RtbPlacement placement;		/* of this process and the far end's */
} RtbWireOptions;

/* what the connection is, once rtb_wire_open() has made it */
extern RtbConnection *rtb_wire;
extern RtbWireOptions rtb_wire_options;
extern uint32 rtb_wire_number;

extern void rtb_wire_open(const RtbWireOptions *options);
extern void rtb_wire_close(void);
extern void rtb_wire_reopen(int milliseconds);
extern void rtb_wire_renew(void);
extern void rtb_wire_revive(void);
extern void rtb_wire_hush(bool hushed);
extern int64 rtb_wire_empty_price(void);
extern bool rtb_wire_ask(const char *question);
extern void rtb_wire_require_alike(void);
extern bool rtb_wire_counts(void);
extern bool rtb_wire_pooled(void);
extern void rtb_wire_set_path(const char *path);
extern bool rtb_wire_path_in_blocks(void);
extern const char *rtb_wire_begin_text(void);

/* wire_distance.c */
extern void rtb_wire_distance(int64 round_trip_us, bool spinning);
extern void rtb_wire_apart(bool apart);
extern void rtb_wire_wait(void);
extern RtbDelivered rtb_wire_waited(void);
extern char *rtb_wire_delivered_text(const RtbDelivered *d);

/* wire_facts.c */
extern RtbFarFacts rtb_wire_facts(void);

/* wire_arm.c */
extern void *rtb_wire_open_arm(const RtbArm *arm);
extern void rtb_wire_close_arm(void *state);
extern void rtb_wire_release_arm(void *state);
extern void rtb_wire_run(void *state, RtbArmRun *run);
extern void rtb_wire_check_blocks(const RtbArm *arm);
extern bool rtb_wire_keeps(void);
extern bool rtb_wire_lost_statement(void);

/* wire_notes.c */
extern char *rtb_wire_note_unbatched(const RtbArm *arm);
extern bool rtb_wire_ignores_fetch_size(const RtbArm *arm);

extern const RtbTransport rtb_wire_transport;

#endif							/* RTB_WIRE_H */
