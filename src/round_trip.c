/*
 * round_trip.c
 *	  How far away the client of this backend is.
 */
#include "postgres.h"

/* libpq-be.h would want GSSAPI's headers; nothing here looks at that part */
#undef ENABLE_GSS

#include "fmgr.h"
#include "libpq/libpq-be.h"
#include "miscadmin.h"

#include "socket_info.h"

PG_FUNCTION_INFO_V1(rtb_my_round_trip);

/*
 * rtbench.my_round_trip(): milliseconds, as the kernel has seen them on this
 * backend's connection; NULL on a unix socket and in a process without client.
 */
Datum
rtb_my_round_trip(PG_FUNCTION_ARGS)
{
	unsigned int us = MyProcPort != NULL ? rtb_socket_round_trip(MyProcPort->sock) : 0;

	if (us == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(us / 1000.0);
}
