/*
 * cleanup.c
 *	  rtbench.cleanup(): drop what runs have left on another server.
 *
 * Memory: nothing is kept.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "scratch.h"
#include "wire.h"

PG_FUNCTION_INFO_V1(rtb_cleanup);

/*
 * rtb_cleanup
 *		rtbench.cleanup(server text) returns int
 */
Datum
rtb_cleanup(PG_FUNCTION_ARGS)
{
	RtbWireOptions options = {0};
	volatile int dropped = 0;

	/* its own connection would be taken away from a run */
	if (rtb_wire != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("rtbench.cleanup() cannot be part of a run")));
	options.name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	options.is_server = true;
	options.batch = 1;
	PG_TRY();
	{
		rtb_wire_open(&options);
		dropped = rtb_scratch_cleanup();
	}
	PG_FINALLY();
	{
		rtb_wire_close();
	}
	PG_END_TRY();
	PG_RETURN_INT32(dropped);
}
