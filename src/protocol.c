/*
 * protocol.c
 *	  Names of the ways in which a statement is sent over a connection.
 */
#include "postgres.h"

#include "protocol.h"

static const char *const names[] = {
	[RTB_PROTOCOL_PREPARED] = "prepared",
	[RTB_PROTOCOL_EXTENDED] = "extended",
	[RTB_PROTOCOL_SIMPLE] = "simple",
	[RTB_PROTOCOL_PIPELINE] = "pipeline",
	[RTB_PROTOCOL_MULTI] = "multi",
	[RTB_PROTOCOL_COPY] = "copy"
};

/*
 * rtb_protocol_read
 *		A protocol by its name; copies: is "copy" one?  22023 for an unknown one.
 */
RtbProtocol
rtb_protocol_read(const char *name, bool copies)
{
	for (int i = RTB_PROTOCOL_PREPARED; i < lengthof(names) - !copies; i++)
	{
		if (strcmp(names[i], name) == 0)
			return (RtbProtocol) i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("protocol \"%s\" is not known", name),
			 copies ? errhint("Valid values are \"prepared\", \"extended\", \"simple\", \"pipeline\", \"multi\" and \"copy\".") :
			 errhint(RTB_VALID_PROTOCOLS)));
}

/* its name, a constant */
const char *
rtb_protocol_name(RtbProtocol protocol)
{
	return names[protocol];
}
