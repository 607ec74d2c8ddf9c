/*
 * placement.c
 *	  On which cores the two ends of a connection run, and where they may.
 *
 * A round trip between two processes of one machine takes two to three times as
 * long when each has a core of its own, as one must be woken on another core
 * each time.  That is more than any protocol differs from another, so it is
 * either left to the kernel and said, or decided here.
 *
 * Memory: an RtbPlaced has a context of its own below the one that is current
 * when it is taken; its end restores, so that no error leaves a process bound
 * to a core.
 */
#include "postgres.h"

#include <sched.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "placement.h"

struct RtbPlaced
{
	MemoryContext context;		/* holds this */
	bool		bound;
	int			far_pid;
	cpu_set_t	own;			/* as they were */
	cpu_set_t	far;
	MemoryContextCallback release;
};

static const char *const placement_names[] = {
	[RTB_PLACED_FREE] = "free",
	[RTB_PLACED_SAME_CORE] = "same core",
	[RTB_PLACED_TWO_CORES] = "two cores"
};

/*
 * rtb_placement_read
 *		A placement by its name; 22023 for an unknown one.
 */
RtbPlacement
rtb_placement_read(const char *name)
{
	for (int i = 0; i < lengthof(placement_names); i++)
	{
		if (strcmp(placement_names[i], name) == 0)
			return (RtbPlacement) i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("placement \"%s\" does not exist", name),
			 errhint("Valid placements are free, same core and two cores.")));
}

const char *
rtb_placement_name(RtbPlacement placement)
{
	return placement_names[placement];
}

/* the core that this process runs on now, -1 if unknown */
int
rtb_core_of_this(void)
{
	return sched_getcpu();
}

/*
 * rtb_core_of
 *		The core that a process of this machine ran on last, -1 if unknown.
 */
int
rtb_core_of(int pid)
{
	char		path[64];
	char		stat[1024];
	FILE	   *file;
	size_t		n;
	char	   *field;
	int			core;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = AllocateFile(path, "r");
	if (file == NULL)
		return -1;
	n = fread(stat, 1, sizeof(stat) - 1, file);
	FreeFile(file);
	stat[n] = '\0';

	/* the command in field 2 may hold spaces, but it ends with the last ')' */
	field = strrchr(stat, ')');
	for (int i = 2; field != NULL && i < 39; i++)
		field = strchr(field + 1, ' ');
	return field != NULL && sscanf(field, "%d", &core) == 1 ? core : -1;
}

static bool
get_cores(int pid, cpu_set_t *set)
{
	CPU_ZERO(set);
	return sched_getaffinity(pid, sizeof(*set), set) == 0;
}

/* the first core of a set but one, -1 if there is none */
static int
core_but(const cpu_set_t *set, int but)
{
	for (int i = 0; i < CPU_SETSIZE; i++)
	{
		if (CPU_ISSET(i, set) && i != but)
			return i;
	}
	return -1;
}

/*
 * rtb_placement_impossible
 *		Why it cannot be had on this machine; NULL if it can.
 */
const char *
rtb_placement_impossible(RtbPlacement placement)
{
	cpu_set_t	own;

	if (placement == RTB_PLACED_FREE)
		return NULL;
	if (!get_cores(0, &own))
		return "this process may not see its cores";
	if (placement == RTB_PLACED_TWO_CORES && core_but(&own, core_but(&own, -1)) < 0)
		return "this process has one core only";
	return NULL;
}

static void
bind_to(int pid, int core)
{
	cpu_set_t	set;

	CPU_ZERO(&set);
	CPU_SET(core, &set);
	if (sched_setaffinity(pid, sizeof(set), &set) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("could not bind process %d to core %d: %m",
						pid == 0 ? MyProcPid : pid, core),
				 errhint("Use placement free.")));
}

/* let both run where they might before; the other may have ended */
static void
release(void *arg)
{
	RtbPlaced  *placed = arg;

	if (!placed->bound)
		return;
	(void) sched_setaffinity(0, sizeof(placed->own), &placed->own);
	(void) sched_setaffinity(placed->far_pid, sizeof(placed->far), &placed->far);
}

/*
 * rtb_placement_take
 *		Bind this process and the other to cores, until restored.  The other
 *		must be of this machine and of the same operating system's user.
 */
RtbPlaced *
rtb_placement_take(RtbPlacement placement, int far_pid)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtbench placement",
												  ALLOCSET_SMALL_SIZES);
	RtbPlaced  *placed = MemoryContextAllocZero(context, sizeof(RtbPlaced));
	int			core;

	placed->context = context;
	if (placement == RTB_PLACED_FREE)
		return placed;
	if (!get_cores(0, &placed->own) || !get_cores(far_pid, &placed->far))
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("could not see the cores of process %d: %m", far_pid),
				 errhint("Use placement free.")));
	placed->far_pid = far_pid;
	placed->bound = true;
	placed->release.func = release;
	placed->release.arg = placed;
	MemoryContextRegisterResetCallback(context, &placed->release);

	core = core_but(&placed->own, -1);
	bind_to(0, core);
	if (placement == RTB_PLACED_TWO_CORES)
		core = core_but(&placed->own, core);
	bind_to(far_pid, core);
	return placed;
}

/*
 * rtb_placement_restore
 *		Let both run where they might before, and free it.  Never throws.
 */
void
rtb_placement_restore(RtbPlaced *placed)
{
	MemoryContextDelete(placed->context);
}
