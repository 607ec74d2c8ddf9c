/*
 * rtbench.c
 *	  Module load: settings, and each room's init; nothing else.
 */
#include "postgres.h"

#include "fmgr.h"

#include "experiment.h"
#include "load.h"
#include "price_list.h"
#include "session_host.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

void
_PG_init(void)
{
	rtb_experiment_init();
	rtb_host_init();
	rtb_load_init();
	rtb_price_list_init();
}
