/*
 * load_connect.c
 *	  The workers of a load connect, and what that means for its figures.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "load_connect.h"

#include "libpq/pqformat.h"

#include "facts.h"
#include "wire_message.h"

static void
take_far(void *arg, char kind, StringInfo body)
{
	RtbLoadFar *far = arg;

	far->pid = pq_getmsgint(body, 4);
	far->guarded = pq_getmsgbyte(body);
	far->pooled = pq_getmsgbyte(body);
	if (body->cursor < body->len)
		far->facts = rtb_wire_facts_read(body);
}

static void
ask_to_connect(const RtbLoad *load, RtbPool *pool, int worker, int connections, RtbLoadFar *far)
{
	StringInfoData buf;

	rtb_pool_goes_far(pool, worker);
	initStringInfo(&buf);
	rtb_wire_options_write(&buf, load->wire);
	pq_sendint64(&buf, load->round_trip_us);
	pq_sendint32(&buf, connections);
	rtb_pool_send(pool, worker, RTB_LOAD_CONNECT, buf.data, buf.len, take_far, far);
}

/* what the figures depend on is the far end's */
static void
take_facts(RtbLoad *load, const RtbFarFacts *facts)
{
	const char *version = facts->server_version ? facts->server_version : facts->version;

	load->server_version = version ? pstrdup(version) : NULL;
	load->settings = facts->settings ? rtb_json_to_jsonb(facts->settings) : NULL;
	if (load->wire->is_server)
		load->machine = rtb_facts_far_machine(0, facts->version);
}

/* what is not seen over these connections, said at once and kept */
static void
tell_unseen(RtbLoad *load, const RtbLoadFar *keeper)
{
	char	   *unguarded;

	if (keeper->pid == 0)
		load->notes = lappend(load->notes, "what sessions wait for on another server is not seen");
	if (keeper->guarded)
		return;
	unguarded = psprintf("%s: what transactions commit outside the scratch schema is not seen",
						 keeper->pooled ? "the far end is behind a pooler, which gets search_path with every BEGIN"
						 : "the far end has no rtbench");
	load->notes = lappend(load->notes, unguarded);
	ereport(NOTICE,
			(errmsg_internal("%s", unguarded)));
}

/*
 * rtb_load_connect
 *		Let all workers of the pool connect: how each one's connection is.
 *
 * Before anything is made, and the keeper (worker 0) first: what keeps it from
 * connecting would keep all others.  What is not seen over such connections is
 * said by a NOTICE and in load->notes; version, settings and machine of the load
 * are the far end's then.  Throws what keeps a connection from being made.
 */
RtbLoadFar *
rtb_load_connect(RtbLoad *load, RtbPool *pool, int nworkers)
{
	RtbLoadFar *far = palloc0(sizeof(RtbLoadFar) * nworkers);

	ask_to_connect(load, pool, 0, 0, &far[0]);
	rtb_pool_wait(pool, 0);
	for (int worker = 1; worker < nworkers; worker++)
		ask_to_connect(load, pool, worker, nworkers, &far[worker]);
	rtb_pool_wait_all(pool);
	take_facts(load, &far[0].facts);
	tell_unseen(load, &far[0]);
	return far;
}
