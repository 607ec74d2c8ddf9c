/*
 * sweep_transport.h
 *	  Arguments that say where arms run, and how they get there.
 */
#ifndef RTB_SWEEP_TRANSPORT_H
#define RTB_SWEEP_TRANSPORT_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/pg_list.h"

#include "experiment.h"

/* where arms run, and how they get there */
typedef struct RtbWay
{
	char	   *transport;		/* as it is recorded: a transport's name, or a server's */
	bool		own_transactions;	/* false: in the caller's own */
	RtbWireOptions *wire;		/* NULL: by SPI */
} RtbWay;

/* places of the arguments in a call */
typedef struct RtbTransportPlaces
{
	int			transport;
	int			server;
	int			protocol;
	int			batch;
	int			fetch_size;
	int			round_trip;
	int			placement;		/* -1: there is none */
	int			servers;
} RtbTransportPlaces;

extern char *rtb_transport_text(const RtbWireOptions *wire);
extern void rtb_arguments_way(FunctionCallInfo fcinfo, const RtbTransportPlaces *places, List *servers,
							  RtbWay *way);
extern int64 rtb_arguments_distance(RtbWay *way, double round_trip_ms);
extern void rtb_arguments_transport(FunctionCallInfo fcinfo, const RtbTransportPlaces *places,
									RtbExperiment *e);

#endif							/* RTB_SWEEP_TRANSPORT_H */
