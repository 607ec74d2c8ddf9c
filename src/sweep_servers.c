/*
 * sweep_servers.c
 *	  The argument servers: one call, a run at each of them.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "sweep_servers.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "servers.h"
#include "sweep_arguments.h"
#include "wire.h"

/* this very server, whatever foreign servers are called */
#define LOCAL	"local"
/* how it is reached unless another way is given */
#define LOCAL_TRANSPORT "unix"

static bool
is_local(const char *server)
{
	return strcmp(server, LOCAL) == 0;
}

/* what goes with servers, and what does not */
static void
check_transport(const char *transport, bool has_local)
{
	if (strcmp(transport, "worker") == 0)
		return;
	if (!rtb_target_is_loopback(transport))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("servers and transport \"%s\" exclude each other", transport),
				 errhint("Servers are reached by connections. Leave transport out, or say by transport => 'tcp' or 'tls' how \"" LOCAL "\" is reached.")));
	if (!has_local)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("transport \"%s\" is how \"" LOCAL "\" is reached, which is not among the servers", transport),
				 errhint("Leave transport out, or name \"" LOCAL "\" among the servers.")));
}

static const char *
loopback_of(const char *transport)
{
	return rtb_target_is_loopback(transport) ? transport : LOCAL_TRANSPORT;
}

/* the names, none of them twice */
static List *
names_of(ArrayType *array)
{
	List	   *names = NIL;
	Datum	   *elems;
	int			n;

	rtb_arguments_elements(array, TEXTOID, "servers", &elems, &n);
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"servers\" must not be empty"),
				 errhint("Name servers, as servers => '{" LOCAL ",far}': \"" LOCAL "\" is this one, others are foreign servers. Leave it out to run here only.")));
	for (int i = 0; i < n; i++)
	{
		char	   *name = TextDatumGetCString(elems[i]);
		ListCell   *lc;

		foreach(lc, names)
		{
			if (strcmp(lfirst(lc), name) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("server \"%s\" is given twice", name),
						 errhint("To hold a server against itself, create another foreign server that leads there.")));
		}
		names = lappend(names, name);
	}
	return names;
}

/*
 * rtb_arguments_servers
 *		The servers of a call: list of char *, NIL if it has none.
 *
 * Each can be connected to as far as that can be told here; throws otherwise.
 */
List *
rtb_arguments_servers(FunctionCallInfo fcinfo, const RtbTransportPlaces *places)
{
	char	   *transport = rtb_arguments_text(fcinfo, places->transport);
	bool		has_local = false;
	List	   *names;
	ListCell   *lc;

	if (PG_ARGISNULL(places->servers))
		return NIL;
	if (!PG_ARGISNULL(places->server))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("server and servers exclude each other"),
				 errhint("Name all of them in servers => '{...}'.")));
	names = names_of(PG_GETARG_ARRAYTYPE_P(places->servers));
	foreach(lc, names)
		has_local |= is_local(lfirst(lc));
	if (transport == NULL)
		return names;			/* refused elsewhere */
	check_transport(transport, has_local);
	foreach(lc, names)
	{
		if (is_local(lfirst(lc)))
			(void) rtb_target_loopback(loopback_of(transport));
		else
			(void) rtb_target_server(lfirst(lc));
	}
	return names;
}

/*
 * rtb_arguments_first_server
 *		What transport and server would be for the first of them alone.
 */
void
rtb_arguments_first_server(List *servers, char **transport, char **server)
{
	char	   *first = linitial(servers);

	if (is_local(first))
		*transport = pstrdup(loopback_of(*transport));
	else
	{
		*transport = "worker";
		*server = first;
	}
}

/*
 * rtb_arguments_sites
 *		Fill in e->sites: the experiment's own run, and runs at further servers,
 *		which have only names so far.  How the first is reached is known.
 */
void
rtb_arguments_sites(List *servers, const char *transport, RtbExperiment *e)
{
	RtbSite    *site = palloc0(sizeof(RtbSite));
	ListCell   *lc;

	site->wire = e->options.wire;
	site->run = e->run;
	e->sites = list_make1(site);
	if (servers == NIL)
		return;
	e->run->server = linitial(servers);
	for_each_from(lc, servers, 1)
	{
		char	   *name = lfirst(lc);
		RtbWireOptions *wire = palloc(sizeof(RtbWireOptions));

		*wire = *e->options.wire;
		wire->is_server = !is_local(name);
		wire->name = wire->is_server ? name : loopback_of(transport);
		site = palloc0(sizeof(RtbSite));
		site->wire = wire;
		site->run = palloc0(sizeof(RtbRun));
		site->run->server = name;
		site->run->transport = rtb_transport_text(wire);
		e->sites = lappend(e->sites, site);
	}
}

/*
 * rtb_arguments_check_workers
 *		Throws if this server can never have as many workers as the run needs at
 *		a time: one for each server, and one for fresh sessions.
 */
void
rtb_arguments_check_workers(const RtbExperiment *e)
{
	int			servers = list_length(e->sites);
	int			needed = servers + (e->rounds > 0 && e->sessions <= 1 ? 0 : 1);

	if (e->run->server == NULL || needed <= max_worker_processes)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("not enough background worker slots: %d are needed", needed),
			 errdetail("A run on %d servers needs one for each and one for fresh sessions; max_worker_processes is %d.",
					   servers, max_worker_processes),
			 errhint("Raise max_worker_processes, or name fewer servers.")));
}
