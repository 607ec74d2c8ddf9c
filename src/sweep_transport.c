/*
 * sweep_transport.c
 *	  Arguments that say where arms run, and how they get there.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "sweep_transport.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/jsonb.h"

#include "facts.h"
#include "servers.h"
#include "sweep_arguments.h"
#include "sweep_servers.h"
#include "wire.h"

#define VALID_TRANSPORTS "Valid values are \"worker\", \"caller\", \"unix\", \"tcp\" and \"tls\"; a foreign server is named by server => '...'."

/* statements to a message, unless it is said */
#define DEFAULT_BATCH	100

/* a number of statements or rows to a message; 0 if it is not given */
static int
size_arg(FunctionCallInfo fcinfo, int n, const char *argument)
{
	int			size = PG_ARGISNULL(n) ? 0 : PG_GETARG_INT32(n);

	if (!PG_ARGISNULL(n) && (size < 1 || size > RTB_MOST_IN_BATCH))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be between 1 and %d", argument, RTB_MOST_IN_BATCH)));
	return size;
}

static RtbProtocol
protocol_arg(FunctionCallInfo fcinfo, int n)
{
	char	   *name = rtb_arguments_text(fcinfo, n);

	if (name == NULL)
		rtb_arguments_refuse_null("protocol", RTB_VALID_PROTOCOLS);
	return rtb_protocol_read(name, false);
}

/* where both ends run; refused if this machine cannot do it */
static RtbPlacement
placement_arg(FunctionCallInfo fcinfo, int n)
{
	char	   *name = rtb_arguments_text(fcinfo, n);
	RtbPlacement placement;
	const char *impossible;

	if (name == NULL)
		rtb_arguments_refuse_null("placement", "Valid values are 'free', 'same core' and 'two cores'.");
	placement = rtb_placement_read(name);
	impossible = rtb_placement_impossible(placement);
	if (impossible != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("placement \"%s\" is not possible here: %s", name, impossible)));
	return placement;
}

/* the scenario's own point becomes a parameter: what is swept is the distance */
static void
fix_point(RtbScenario *scenario)
{
	StringInfoData buf;

	if (scenario->points == NIL)
		return;
	if (list_length(scenario->points) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("with round_trip_ms each distance is a point, and the scenario has %d of its own",
						list_length(scenario->points)),
				 errhint("Name one of them, as by points => '{" INT64_FORMAT "}'.",
						 *(int64 *) linitial(scenario->points))));
	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	escape_json(&buf, scenario->swept);
	appendStringInfo(&buf, ": " INT64_FORMAT "}", *(int64 *) linitial(scenario->points));
	scenario->parameters = DatumGetJsonbP(DirectFunctionCall2(jsonb_concat,
															  JsonbPGetDatum(scenario->parameters),
															  JsonbPGetDatum(rtb_json_to_jsonb(buf.data))));
}

/*
 * rtb_transport_text
 *		How a run says where its connection goes.
 */
char *
rtb_transport_text(const RtbWireOptions *wire)
{
	return psprintf("%s%s", wire->name, wire->simulated ? ", simulated distance" : "");
}

/*
 * rtb_arguments_distance
 *		Microseconds of a simulated round trip, which the way has from then on.
 */
int64
rtb_arguments_distance(RtbWay *way, double round_trip_ms)
{
	if (way->wire == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a distance can only be simulated over a connection"),
				 errhint("Use transport => 'unix', or rtbench.project(), which computes it.")));
	if (!(round_trip_ms >= 0 && round_trip_ms <= 10000))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("round_trip_ms must be between 0 and 10000")));
	if (round_trip_ms > 0 && round_trip_ms < 0.001)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("round_trip_ms must be 0, or 0.001 or more"),
				 errhint("A distance is a whole number of microseconds.")));
	way->wire->simulated = true;
	way->transport = rtb_transport_text(way->wire);
	return (int64) rint(round_trip_ms * 1000);
}

/* simulated round trips: each becomes a point, in microseconds */
static void
distances_arg(FunctionCallInfo fcinfo, int n, RtbWay *way, RtbScenario *scenario)
{
	List	   *points = NIL;
	Datum	   *elems;
	int			count;

	if (PG_ARGISNULL(n))
		return;
	rtb_arguments_elements(PG_GETARG_ARRAYTYPE_P(n), FLOAT8OID, "round_trip_ms", &elems, &count);
	for (int i = 0; i < count; i++)
	{
		double		ms = DatumGetFloat8(elems[i]);
		int64	   *point = palloc(sizeof(int64));

		*point = rtb_arguments_distance(way, ms);
		for (int k = 0; k < i; k++)
		{
			if (*(int64 *) list_nth(points, k) == *point)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("distance %g ms is given twice", ms),
						 errhint("A distance is a whole number of microseconds.")));
		}
		points = lappend(points, point);
	}
	if (points == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"round_trip_ms\" must not be empty")));
	fix_point(scenario);
	scenario->points = points;
	scenario->swept = "round_trip_us";
}

/*
 * rtb_arguments_way
 *		Read and check where the arms run and how they get there, but for the
 *		distance; of several servers (or NIL) the first.  Throws also what keeps a
 *		server from being connected to, as far as the catalogs tell.
 */
void
rtb_arguments_way(FunctionCallInfo fcinfo, const RtbTransportPlaces *places, List *servers,
				  RtbWay *way)
{
	char	   *transport = rtb_arguments_text(fcinfo, places->transport);
	char	   *server = rtb_arguments_text(fcinfo, places->server);
	RtbProtocol protocol = protocol_arg(fcinfo, places->protocol);
	int			batch = size_arg(fcinfo, places->batch, "batch");
	int			fetch_size = size_arg(fcinfo, places->fetch_size, "fetch_size");
	RtbPlacement placement = places->placement < 0 ? RTB_PLACED_FREE : placement_arg(fcinfo, places->placement);
	RtbWireOptions *wire;

	way->wire = NULL;
	if (transport == NULL)
		rtb_arguments_refuse_null("transport", VALID_TRANSPORTS);
	if (servers != NIL)
		rtb_arguments_first_server(servers, &transport, &server);
	way->own_transactions = strcmp(transport, "caller") != 0;
	way->transport = server ? server : transport;
	if (server == NULL && !rtb_target_is_loopback(transport))
	{
		if (strcmp(transport, "worker") != 0 && strcmp(transport, "caller") != 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("transport \"%s\" is not known", transport),
					 errhint(VALID_TRANSPORTS)));
		if (placement != RTB_PLACED_FREE)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("transport \"%s\" has no two ends to place", transport),
					 errhint("placement belongs to a connection: transport => 'unix', 'tcp' or 'tls'.")));
		if (protocol != RTB_PROTOCOL_PREPARED || batch > 0 || fetch_size > 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("transport \"%s\" has no protocol to choose", transport),
					 errhint("protocol, batch and fetch_size belong to a connection: transport => 'unix', 'tcp' or 'tls', or server => '...'.")));
		return;
	}
	if (server != NULL && strcmp(transport, "worker") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a server and transport \"%s\" exclude each other", transport),
				 errhint("server => '...' is a connection of its own: leave transport out.")));
	/* refused here, before a worker is started */
	if (server != NULL)
		(void) rtb_target_server(server);
	else
		(void) rtb_target_loopback(transport);
	wire = palloc0(sizeof(RtbWireOptions));
	wire->name = way->transport;
	wire->is_server = server != NULL;
	wire->protocol = protocol;
	wire->batch = batch > 0 ? batch : DEFAULT_BATCH;
	wire->fetch_size = fetch_size;
	wire->placement = placement;
	way->wire = wire;
}

/*
 * rtb_arguments_transport
 *		Read and check them; with a simulated distance the experiment's points
 *		become the distances.  Where it runs is in its sites then.
 */
void
rtb_arguments_transport(FunctionCallInfo fcinfo, const RtbTransportPlaces *places,
						RtbExperiment *e)
{
	List	   *servers = rtb_arguments_servers(fcinfo, places);
	RtbWay		way = {0};

	rtb_arguments_way(fcinfo, places, servers, &way);
	distances_arg(fcinfo, places->round_trip, &way, e->scenario);
	e->options.own_transactions = way.own_transactions;
	e->options.wire = way.wire;
	e->run->transport = way.transport;
	rtb_arguments_sites(servers, rtb_arguments_text(fcinfo, places->transport), e);
}
