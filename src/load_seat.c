/*
 * load_seat.c
 *	  A session of a load takes its seat: what it is to run, and where.
 *
 * Plans are kept for the session, as a client that prepares its statements
 * keeps them.  Over a connection search_path is the far session's; behind a
 * pooler it comes with each transaction.
 *
 * Memory: the session lives in TopMemoryContext until its process ends.
 */
#include "postgres.h"

#include "load_private.h"

#include "access/xact.h"
#include "libpq/pqformat.h"
#include "storage/dsm.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "message_text.h"

/* statements stay prepared from one transaction to the next */
static void
keep_plans(List *steps)
{
	ListCell   *lc;

	foreach(lc, steps)
	{
		RtbStep    *step = lfirst(lc);

		step->plans_kept = true;
		keep_plans(step->body);
	}
}

static void
open_variant(const RtbTransport *transport, RtbLoadWork *variant, const char *document)
{
	RtbWork    *work = rtb_work_parse(document);

	variant->arm = linitial(work->arms);
	/* every transaction of a load is committed */
	if (variant->arm->ending == RTB_ENDING_ROLLBACK)
		variant->arm->ending = RTB_ENDING_COMMIT;
	keep_plans(variant->arm->steps);
	variant->state = transport->open_arm(variant->arm);
}

static RtbLoadShared *
attach_shared(dsm_handle handle)
{
	dsm_segment *segment = dsm_attach(handle);
	RtbLoadShared *shared;

	if (segment == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not map dynamic shared memory segment")));
	dsm_pin_mapping(segment);
	shared = dsm_segment_address(segment);
	if (shared->magic != RTB_LOAD_MAGIC)
		elog(ERROR, "invalid magic number in dynamic shared memory segment");
	return shared;
}

static void
set_up(const RtbTransport *transport, const char *path)
{
	StartTransactionCommand();
	if (path != NULL && transport->far)
		rtb_wire_set_path(path);
	else if (path != NULL)
		SetConfigOption("search_path", path, PGC_USERSET, PGC_S_SESSION);
	SetConfigOption("client_min_messages", "error", PGC_USERSET, PGC_S_SESSION);
	CommitTransactionCommand();
}

/*
 * rtb_load_take_seat
 *		The session that a request to take a seat asks for, over the connection
 *		that this process has, if it has one.
 *
 * Outside any transaction.  Throws what an arm throws that can't be opened.
 */
RtbLoadSession *
rtb_load_take_seat(StringInfo body)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	RtbLoadSession *s = palloc0(sizeof(RtbLoadSession));
	dsm_handle	handle = pq_getmsgint(body, 4);
	int			seat = pq_getmsgint(body, 4);
	char	   *path = rtb_get_text(body);

	s->transport = rtb_wire != NULL ? &rtb_wire_transport : &rtb_spi_worker_transport;
	s->shared = attach_shared(handle);
	s->seat = &s->shared->seats[seat];
	s->scratch = rtb_get_text(body);
	s->watch.scratch = s->scratch;
	s->watch.cxt = AllocSetContextCreate(TopMemoryContext, "rtbench load locks", ALLOCSET_SMALL_SIZES);
	s->tx_cxt = AllocSetContextCreate(TopMemoryContext, "rtbench load transaction",
									  ALLOCSET_DEFAULT_SIZES);
	s->variant = -1;
	s->nvariants = pq_getmsgint(body, 4);
	s->variants = palloc0(sizeof(RtbLoadWork) * s->nvariants);
	for (int i = 0; i < s->nvariants; i++)
		open_variant(s->transport, &s->variants[i], pq_getmsgrawstring(body));
	set_up(s->transport, path);
	/* counted only: there may be as many as transactions */
	if (s->transport->far)
	{
		rtb_connection_begin_pass(rtb_wire);
		(void) rtb_connection_hush(rtb_wire, true);
	}
	for (int i = 0; s->transport->far && i < s->nvariants; i++)
		rtb_wire_check_blocks(s->variants[i].arm);
	MemoryContextSwitchTo(old);
	return s;
}
