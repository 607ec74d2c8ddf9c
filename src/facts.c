/*
 * facts.c
 *	  What a run's figures depend on beside the arms: settings and machine.
 */
#include "postgres.h"

#include "facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/json.h"
#include "utils/memutils.h"

#include "ledger.h"
#include "own_sql.h"
#include "probe.h"

/* settings that change what a statement costs or how it is planned */
static const char *const settings[] = {
	"autovacuum", "block_size", "bgwriter_delay", "checkpoint_timeout", "commit_delay",
	"cpu_index_tuple_cost", "cpu_operator_cost", "cpu_tuple_cost", "data_checksums",
	"debug_assertions", "default_statistics_target", "default_transaction_isolation",
	"effective_cache_size", "enable_bitmapscan", "enable_hashjoin", "enable_indexonlyscan",
	"enable_indexscan", "enable_mergejoin", "enable_nestloop", "enable_seqscan", "fsync",
	"full_page_images", "full_page_writes", "huge_pages", "jit", "jit_above_cost",
	"lock_timeout", "log_min_duration_statement", "log_statement", "maintenance_work_mem",
	"max_parallel_workers_per_gather", "max_wal_size", "max_worker_processes",
	"plan_cache_mode", "random_page_cost", "rtbench.pass_order", "search_path", "seq_page_cost",
	"session_preload_libraries", "session_replication_role", "shared_buffers",
	"shared_preload_libraries", "statement_timeout", "synchronous_commit", "temp_buffers",
	"track_io_timing", "wal_compression", "wal_level", "work_mem"
};

/*
 * rtb_json_to_jsonb
 *		The same document as jsonb, in the current context; throws if malformed.
 */
Jsonb *
rtb_json_to_jsonb(const char *json)
{
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json)));
}

/*
 * rtb_facts_add
 *		A member more of an object under way; nothing where there is no value.
 */
void
rtb_facts_add(StringInfo buf, const char *name, const char *value)
{
	if (value == NULL)
		return;
	appendStringInfoString(buf, buf->len > 1 ? ", " : "");
	escape_json(buf, name);
	appendStringInfoString(buf, ": ");
	escape_json(buf, value);
}

/*
 * rtb_facts_settings
 *		The settings in force that matter, and the role, as an object.
 *
 * Those that the caller may not see, and those that this server does not
 * have, are left out.
 */
Jsonb *
rtb_facts_settings(void)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	rtb_facts_add(&buf, "role", GetUserNameFromId(GetUserId(), false));
	for (int i = 0; i < lengthof(settings); i++)
		rtb_facts_add(&buf, settings[i], GetConfigOption(settings[i], true, false));
	appendStringInfoChar(&buf, '}');
	return rtb_json_to_jsonb(buf.data);
}

/*
 * rtb_facts_question
 *		The query that asks another server for the same settings.
 */
char *
rtb_facts_question(void)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < lengthof(settings); i++)
		appendStringInfo(&buf, "%s'%s'", i > 0 ? ", " : "SELECT name, setting FROM pg_catalog.pg_settings WHERE name = ANY (ARRAY[",
						 settings[i]);
	appendStringInfoString(&buf, "])");
	return buf.data;
}

/* the clock that passes are timed with, and the cheapest statement */
static void
add_clock(StringInfo buf, int64 empty_statement_ns)
{
	appendStringInfo(buf, "\"clock_step_ns\": " INT64_FORMAT ", ", rtb_clock_step_ns());
	appendStringInfo(buf, "\"clock_cost_ns\": " INT64_FORMAT ", ", rtb_clock_cost_ns());
	appendStringInfo(buf, "\"" RTB_EMPTY_STATEMENT_NS "\": " INT64_FORMAT "}", empty_statement_ns);
}

/*
 * rtb_facts_machine
 *		System, cores, the clock's step and cost, the cheapest empty statement.
 */
Jsonb *
rtb_facts_machine(int64 empty_statement_ns)
{
	struct utsname system;
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	if (uname(&system) == 0)
	{
		rtb_facts_add(&buf, "system", system.sysname);
		rtb_facts_add(&buf, "release", system.release);
		rtb_facts_add(&buf, "architecture", system.machine);
		appendStringInfoString(&buf, ", ");
	}
	appendStringInfo(&buf, "\"cores\": %ld, ", sysconf(_SC_NPROCESSORS_ONLN));
	add_clock(&buf, empty_statement_ns);
	return rtb_json_to_jsonb(buf.data);
}

/*
 * rtb_facts_far_machine
 *		Of a machine somewhere else: what its server says it is, and the clock,
 *		which is here.
 */
Jsonb *
rtb_facts_far_machine(int64 empty_statement_ns, const char *version)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	rtb_facts_add(&buf, "version", version);
	appendStringInfoString(&buf, version != NULL ? ", " : "");
	add_clock(&buf, empty_statement_ns);
	return rtb_json_to_jsonb(buf.data);
}
