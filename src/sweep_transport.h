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

/* places of the arguments in a call */
typedef struct RtbTransportPlaces
{
	int			transport;
	int			server;
	int			protocol;
	int			batch;
	int			fetch_size;
	int			round_trip;
	int			placement;
	int			servers;
} RtbTransportPlaces;

extern char *rtb_transport_text(const RtbWireOptions *wire);
extern void rtb_arguments_transport(FunctionCallInfo fcinfo, const RtbTransportPlaces *places,
									RtbExperiment *e);

#endif							/* RTB_SWEEP_TRANSPORT_H */
