/*
 * price_list.c
 *	  rtbench.price_list(): what a statement costs by each way to the executor.
 *
 * Sessions, one after the other: each visits every way once, over a connection
 * of its own, beginning with another each time.  A session is the unit that the
 * intervals rest on, as a connection keeps its processes' cores, which decide
 * more than the protocol.
 *
 * Memory: the function's own context; what a visit takes is in a context that
 * is reset after it.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "connection_ask.h"
#include "notes.h"
#include "placement.h"
#include "price_list.h"
#include "probe.h"
#include "result_row.h"
#include "stats.h"

PG_FUNCTION_INFO_V1(rtb_price_list);

#define FEWEST_SESSIONS	8		/* that have an interval of 99 % */
#define MOST_SESSIONS	60
#define ALPHA			0.01
#define DIGITS			3		/* of a price */

#define VALID_TRANSPORTS "Valid transports are caller, worker, unix, tcp and tls; foreign servers go into servers."

typedef enum Place
{
	IN_CALLER,
	IN_WORKER,
	BY_LOOPBACK,
	TO_SERVER
} Place;

/* one way: a transport, and a placement where there is a far end */
typedef struct Way
{
	const char *name;
	Place		place;
	RtbPlacement placement;
	char	   *why_not;		/* it has no prices, or NULL */
	int			nsessions;
	int			same_core[MOST_SESSIONS];	/* of both ends; -1 if unknown */
	double		us[MOST_SESSIONS][RTB_PRICES];
} Way;

static bool
over_a_connection(const Way *way)
{
	return way->place == BY_LOOPBACK || way->place == TO_SERVER;
}

/* do both ends run on one core?  -1 if the far one is no backend of this server */
static int
on_same_core(RtbConnection *c)
{
	int			far = rtb_connection_here(c) ? rtb_core_of(rtb_connection_pid(c)) : -1;
	int			own = rtb_core_of_this();

	return far < 0 || own < 0 ? -1 : far == own;
}

static void
visit_over(Way *way, int session)
{
	RtbConnection *c = rtb_connection_open(way->place == TO_SERVER ? rtb_target_server(way->name) :
										   rtb_target_loopback(way->name));
	RtbPlaced  *placed;

	if (way->placement != RTB_PLACED_FREE && !rtb_connection_here(c))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot place a far end that is no backend of this server"),
				 errhint("Use placement free.")));
	placed = rtb_placement_take(way->placement, rtb_connection_pid(c));
	rtb_price_over(c, way->name, way->us[session]);
	way->same_core[session] = on_same_core(c);
	rtb_placement_restore(placed);
	rtb_connection_close(c);
}

static void
visit(Way *way, int session)
{
	switch (way->place)
	{
		case IN_CALLER:
			rtb_price_in_caller(way->us[session]);
			break;
		case IN_WORKER:
			rtb_price_in_worker(way->us[session]);
			break;
		default:
			visit_over(way, session);
			break;
	}
}

/*
 * The first visit of a way that was not asked for by name: what it fails by is
 * told, and is no error.  False then.
 */
static bool
try_visit(Way *way, int session, MemoryContext told)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		visit(way, session);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(told);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(cxt);
	CurrentResourceOwner = owner;

	if (error == NULL)
		return true;
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	way->why_not = error->message;
	if (error->detail != NULL)
		way->why_not = MemoryContextStrdup(told, psprintf("%s: %s", error->message, error->detail));
	return false;
}

static void
take_session(Way *ways, int nways, int session, MemoryContext own)
{
	MemoryContext scratch = AllocSetContextCreate(own, "rtbench price visit", ALLOCSET_DEFAULT_SIZES);

	for (int i = 0; i < nways; i++)
	{
		Way		   *way = &ways[(i + session) % nways];

		if (way->why_not != NULL)
			continue;
		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(scratch);
		if (way->place == TO_SERVER || session > 0)
		{
			visit(way, session);
			way->nsessions++;
		}
		else if (try_visit(way, session, own))
			way->nsessions++;
		MemoryContextSwitchTo(own);
		MemoryContextReset(scratch);
	}
	MemoryContextDelete(scratch);
}

/* the note that a price depends on where the kernel put both ends, or NULL */
static char *
two_groups(const Way *way, int v)
{
	double		us[2][MOST_SESSIONS];
	int			sessions[2] = {0};
	double		medians[2];

	for (int i = 0; i < way->nsessions; i++)
	{
		int			same_core = way->same_core[i];

		if (same_core < 0)
			return NULL;
		us[same_core][sessions[same_core]++] = way->us[i][v];
	}
	for (int g = 0; g < 2; g++)
		medians[g] = rtb_median(us[g], sessions[g]);
	return rtb_notes_groups(sessions, medians, "us");
}

/* the way, and of what: the first columns */
static void
begin_row(RtbRow *row, const Way *way, const char *protocol, const char *statement)
{
	rtb_row_add_text(row, way->name);
	rtb_row_add_text(row, protocol);
	rtb_row_add_text(row, over_a_connection(way) ? rtb_placement_name(way->placement) : NULL);
	rtb_row_add_text(row, statement);
}

static void
put_price(ReturnSetInfo *result, const Way *way, int v)
{
	RtbRow		row = {0};
	double		x[MOST_SESSIONS];
	double		low;
	double		high;
	int			protocol = v / RTB_PRICED;

	for (int i = 0; i < way->nsessions; i++)
		x[i] = way->us[i][v];
	rtb_sort(x, way->nsessions);
	if (!rtb_signed_rank_interval(x, way->nsessions, ALPHA, &low, &high))
		low = high = NAN;
	begin_row(&row, way, over_a_connection(way) ? rtb_protocol_name(rtb_price_protocols[protocol]) :
			  rtb_price_inside_protocols[protocol], rtb_priced_names[v % RTB_PRICED]);
	rtb_row_add_significant(&row, rtb_hodges_lehmann(x, way->nsessions), DIGITS);
	rtb_row_add_significant(&row, low, DIGITS);
	rtb_row_add_significant(&row, high, DIGITS);
	rtb_row_add_text(&row, "measured");
	rtb_row_add_text(&row, over_a_connection(way) && way->placement == RTB_PLACED_FREE ?
					 two_groups(way, v) : NULL);
	rtb_row_put(result, &row);
}

static void
put_reason(ReturnSetInfo *result, const Way *way)
{
	RtbRow		row = {0};

	begin_row(&row, way, NULL, NULL);
	for (int i = 0; i < 3; i++)
		rtb_row_add_significant(&row, NAN, DIGITS);
	rtb_row_add_text(&row, NULL);
	rtb_row_add_text(&row, way->why_not);
	rtb_row_put(result, &row);
}

/* the elements of a text array argument: list of char *, no nulls, none twice */
static List *
names_argument(FunctionCallInfo fcinfo, int n, const char *name)
{
	List	   *names = NIL;
	Datum	   *elements;
	bool	   *nulls;
	int			count;

	if (PG_ARGISNULL(n))
		return NIL;
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(n), TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		ListCell   *lc;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("\"%s\" must not have null elements", name)));
		foreach(lc, names)
		{
			if (strcmp(lfirst(lc), TextDatumGetCString(elements[i])) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("\"%s\" has \"%s\" twice", name, (char *) lfirst(lc)),
						 errhint("Their prices could not be told apart.")));
		}
		names = lappend(names, TextDatumGetCString(elements[i]));
	}
	return names;
}

/* one way for each placement, or one */
static List *
add_ways(List *ways, const char *name, Place place, List *placements)
{
	ListCell   *lc;

	foreach(lc, placements)
	{
		Way		   *way = palloc0(sizeof(Way));
		const char *impossible;

		way->name = name;
		way->place = place;
		way->placement = rtb_placement_read(lfirst(lc));
		impossible = rtb_placement_impossible(way->placement);
		if (place == BY_LOOPBACK && rtb_target_unreachable(name) != NULL)
			impossible = rtb_target_unreachable(name);
		if (impossible != NULL && over_a_connection(way))
			way->why_not = pstrdup(impossible);
		ways = lappend(ways, way);
		if (!over_a_connection(way))
			break;
	}
	return ways;
}

static List *
read_ways(FunctionCallInfo fcinfo)
{
	List	   *placements = names_argument(fcinfo, 2, "placements");
	List	   *ways = NIL;
	ListCell   *lc;

	if (placements == NIL)
		placements = list_make1("free");
	foreach(lc, names_argument(fcinfo, 1, "transports"))
	{
		const char *name = lfirst(lc);

		if (strcmp(name, "caller") == 0)
			ways = add_ways(ways, name, IN_CALLER, placements);
		else if (strcmp(name, "worker") == 0)
			ways = add_ways(ways, name, IN_WORKER, placements);
		else if (rtb_target_is_loopback(name))
			ways = add_ways(ways, name, BY_LOOPBACK, placements);
		else
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("transport \"%s\" does not exist", name),
					 errhint(VALID_TRANSPORTS)));
	}
	/* a server that cannot be used is an error now, not after other ways have been measured */
	foreach(lc, names_argument(fcinfo, 0, "servers"))
	{
		rtb_connection_close(rtb_connection_open(rtb_target_server(lfirst(lc))));
		ways = add_ways(ways, lfirst(lc), TO_SERVER, placements);
	}
	if (ways == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is nothing to measure: neither transports nor servers are named"),
				 errhint(VALID_TRANSPORTS)));
	return ways;
}

/* nanoseconds of the interval argument */
static int64
read_time(FunctionCallInfo fcinfo)
{
	Interval   *time = PG_ARGISNULL(3) ? NULL : PG_GETARG_INTERVAL_P(3);

	if (time == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"max_time\" must not be null"),
				 errhint("Leave it out for the default.")));
	if (time->month != 0 || time->day != 0 || time->time <= 0 ||
		time->time > USECS_PER_HOUR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_time must be from 1 microsecond to an hour"),
				 errhint("Eight sessions are run in any case.")));
	return time->time * 1000;
}

/*
 * rtbench.price_list(servers, transports, placements, max_time)
 */
Datum
rtb_price_list(PG_FUNCTION_ARGS)
{
	MemoryContext own = CurrentMemoryContext;
	int64		time_ns = read_time(fcinfo);
	List	   *read = read_ways(fcinfo);
	int			nways = list_length(read);
	Way		   *ways = MemoryContextAllocHuge(own, nways * sizeof(Way));
	int64		started = rtb_clock_ns();
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < nways; i++)
		ways[i] = *(Way *) list_nth(read, i);
	for (int session = 0; session < MOST_SESSIONS; session++)
	{
		int64		spent = rtb_clock_ns() - started;

		/* go on while one more is likely to fit in */
		if (session >= FEWEST_SESSIONS && spent + spent / session > time_ns)
			break;
		take_session(ways, nways, session, own);
	}
	for (int i = 0; i < nways; i++)
	{
		if (ways[i].why_not != NULL)
			put_reason(result, &ways[i]);
		for (int v = 0; ways[i].why_not == NULL && v < RTB_PRICES; v++)
			put_price(result, &ways[i], v);
	}
	return (Datum) 0;
}
