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
	appendStringInfoString(&buf, "{\"role\": ");
	escape_json(&buf, GetUserNameFromId(GetUserId(), false));
	for (int i = 0; i < lengthof(settings); i++)
	{
		const char *value = GetConfigOption(settings[i], true, false);

		if (value == NULL)
			continue;
		appendStringInfoString(&buf, ", ");
		escape_json(&buf, settings[i]);
		appendStringInfoString(&buf, ": ");
		escape_json(&buf, value);
	}
	appendStringInfoChar(&buf, '}');
	return rtb_json_to_jsonb(buf.data);
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
		appendStringInfoString(&buf, "\"system\": ");
		escape_json(&buf, system.sysname);
		appendStringInfoString(&buf, ", \"release\": ");
		escape_json(&buf, system.release);
		appendStringInfoString(&buf, ", \"architecture\": ");
		escape_json(&buf, system.machine);
		appendStringInfoString(&buf, ", ");
	}
	appendStringInfo(&buf, "\"cores\": %ld, ", sysconf(_SC_NPROCESSORS_ONLN));
	appendStringInfo(&buf, "\"clock_step_ns\": " INT64_FORMAT ", ", rtb_clock_step_ns());
	appendStringInfo(&buf, "\"clock_cost_ns\": " INT64_FORMAT ", ", rtb_clock_cost_ns());
	appendStringInfo(&buf, "\"" RTB_EMPTY_STATEMENT_NS "\": " INT64_FORMAT "}", empty_statement_ns);
	return rtb_json_to_jsonb(buf.data);
}
