/*
 * ledger_private.h
 *	  What ledger_write.c and ledger_read.c share.
 */
#ifndef RTB_LEDGER_PRIVATE_H
#define RTB_LEDGER_PRIVATE_H

#include "ledger.h"

/* columns as they are written and read; the order is that of the tables */
#define RUN_COLUMNS \
	"together, server, label, scenario, transport, scope, arms, descriptions, points, swept, " \
	"baseline, margin, max_time, seed, started_at, finished_at, complete, " \
	"server_version, options, settings, machine, documents"

#define PASS_COLUMNS \
	"session, round, \"position\", kind, control, point, arm, " \
	"elapsed_ns, cpu_ns, repetitions, below_resolution, round_trips, bytes_sent, " \
	"bytes_received, statements, fired, loop_queries, rows, plannings, buffers_hit, buffers_read, wal_records, " \
	"wal_fpi, wal_bytes, xids, transactions, commit_ns, subxact_overflowed, " \
	"updates, hot_updates, core, far_core, catalog_reads, plan_shape, fired_shape, digest, returned, " \
	"sqlstate, message, failed_step, failed_statement"

#define FINDING_COLUMNS	"point, arm, finding, detail"

#define STEP_COLUMNS \
	"point, arm, step, statement, calls, first_ns, second_ns, third_ns, later_ns, " \
	"prepare_ns, custom_plans, generic_plans, custom_ns, generic_ns"

extern int	rtb_ledger_begin(void);
extern void rtb_ledger_end(int nestlevel);
extern const char *rtb_pass_kind_name(RtbPassKind kind);
extern const char *rtb_finding_kind_name(RtbFindingKind kind);
extern RtbPassKind rtb_pass_kind(const char *name);
extern RtbFindingKind rtb_finding_kind(const char *name);

#endif							/* RTB_LEDGER_PRIVATE_H */
