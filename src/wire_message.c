/*
 * wire_message.c
 *	  How a connection is to be made, and what its far end is, to and from flat
 *	  messages.
 *
 * From the caller, who has checked the arguments, to the workers that connect,
 * and back.
 *
 * Memory: what is read is palloc'd in the current context.
 */
#include "postgres.h"

#include "wire_message.h"

#include "libpq/pqformat.h"

#include "message_text.h"

/*
 * rtb_wire_options_write
 *		Append them to buf; NULL: arms run by SPI.
 */
void
rtb_wire_options_write(StringInfo buf, const RtbWireOptions *options)
{
	pq_sendbyte(buf, options != NULL);
	if (options == NULL)
		return;
	rtb_send_text(buf, options->name);
	pq_sendbyte(buf, options->is_server);
	pq_sendbyte(buf, options->protocol);
	pq_sendint32(buf, options->batch);
	pq_sendint32(buf, options->fetch_size);
	pq_sendbyte(buf, options->simulated);
	pq_sendbyte(buf, options->placement);
}

/*
 * rtb_wire_options_read
 *		And back; NULL if arms are to run by SPI.
 */
RtbWireOptions *
rtb_wire_options_read(StringInfo body)
{
	RtbWireOptions *options;

	if (!pq_getmsgbyte(body))
		return NULL;
	options = palloc0(sizeof(RtbWireOptions));
	options->name = rtb_get_text(body);
	options->is_server = pq_getmsgbyte(body);
	options->protocol = (RtbProtocol) pq_getmsgbyte(body);
	options->batch = pq_getmsgint(body, 4);
	options->fetch_size = pq_getmsgint(body, 4);
	options->simulated = pq_getmsgbyte(body);
	options->placement = (RtbPlacement) pq_getmsgbyte(body);
	return options;
}

/*
 * rtb_wire_facts_write
 *		Append what the far end says of itself; as rtb_wire_facts().
 */
void
rtb_wire_facts_write(StringInfo buf)
{
	RtbFarFacts facts = rtb_wire_facts();

	rtb_send_text(buf, facts.server_version);
	rtb_send_text(buf, facts.version);
	rtb_send_text(buf, facts.settings);
}

/*
 * rtb_wire_facts_read
 *		And back.
 */
RtbFarFacts
rtb_wire_facts_read(StringInfo body)
{
	RtbFarFacts facts = {0};

	facts.server_version = rtb_get_text(body);
	facts.version = rtb_get_text(body);
	facts.settings = rtb_get_text(body);
	return facts;
}
