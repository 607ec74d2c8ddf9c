/*
 * ledger.c
 *	  What writing and reading runs share: names of kinds, SPI as it must be.
 *
 * Memory: nothing is kept.
 */
#include "postgres.h"

#include "ledger_private.h"

#include "executor/spi.h"
#include "utils/guc.h"

/* ---- kinds and their names in SQL ---- */

typedef struct KindName
{
	char		kind;
	const char *name;
} KindName;

static const KindName pass_kinds[] = {
	{RTB_PASS_DISCOVERY, "discovery"},
	{RTB_PASS_PILOT, "pilot"},
	{RTB_PASS_WARMUP, "warmup"},
	{RTB_PASS_TIMED, "timed"},
	{RTB_PASS_LAST, "last"},
	{RTB_PASS_CLOSING, "closing"},
	{0, NULL}
};

static const KindName finding_kinds[] = {
	{RTB_FOUND_NOTE, "note"},
	{RTB_FOUND_CHECKED, "checked"},
	{RTB_FOUND_UNSTABLE, "unstable"},
	{RTB_FOUND_DIFFERENT, "different"},
	{RTB_FOUND_UNREADABLE, "unreadable"},
	{0, NULL}
};

static const char *
kind_to_name(const KindName *kinds, char kind)
{
	for (; kinds->name; kinds++)
		if (kinds->kind == kind)
			return kinds->name;
	elog(ERROR, "unknown kind %d", kind);
	return NULL;				/* keep compilers quiet */
}

static char
name_to_kind(const KindName *kinds, const char *name)
{
	for (; kinds->name; kinds++)
		if (strcmp(kinds->name, name) == 0)
			return kinds->kind;
	elog(ERROR, "unknown kind \"%s\"", name);
	return 0;					/* keep compilers quiet */
}

/* A kind of pass as rtbench.passes names it; a constant. */
const char *
rtb_pass_kind_name(RtbPassKind kind)
{
	return kind_to_name(pass_kinds, kind);
}

/* A kind of finding as rtbench.findings names it; a constant. */
const char *
rtb_finding_kind_name(RtbFindingKind kind)
{
	return kind_to_name(finding_kinds, kind);
}

/* The kind of pass of a name in rtbench.passes; throws if there is none. */
RtbPassKind
rtb_pass_kind(const char *name)
{
	return name_to_kind(pass_kinds, name);
}

/* The kind of finding of a name in rtbench.findings; throws if there is none. */
RtbFindingKind
rtb_finding_kind(const char *name)
{
	return name_to_kind(finding_kinds, name);
}

/* ---- SPI with a pinned search_path ---- */

/*
 * Connect to SPI as the current user, under the tables' policies and with
 * search_path pinned.  Returns what rtb_ledger_end() takes.
 */
int
rtb_ledger_begin(void)
{
	int			nestlevel = NewGUCNestLevel();

	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	/* off would turn the policies into errors */
	(void) set_config_option("row_security", "on", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	return nestlevel;
}

/* End what rtb_ledger_begin() began; an error ends it by itself. */
void
rtb_ledger_end(int nestlevel)
{
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	AtEOXact_GUC(true, nestlevel);
}
