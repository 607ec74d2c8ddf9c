/*
 * sweep_servers.h
 *	  The argument servers: one call, a run at each of them.
 */
#ifndef RTB_SWEEP_SERVERS_H
#define RTB_SWEEP_SERVERS_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/pg_list.h"

#include "experiment.h"
#include "sweep_transport.h"

extern List *rtb_arguments_servers(FunctionCallInfo fcinfo, const RtbTransportPlaces *places);
extern void rtb_arguments_first_server(List *servers, char **transport, char **server);
extern void rtb_arguments_sites(List *servers, const char *transport, RtbExperiment *e);
extern void rtb_arguments_check_workers(const RtbExperiment *e);

#endif							/* RTB_SWEEP_SERVERS_H */
