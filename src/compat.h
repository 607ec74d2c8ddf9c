/*
 * compat.h
 *	  Differences between PostgreSQL majors (15, 17, 18, 19).
 *
 * The only file of the project that names PG_VERSION_NUM.
 */
#ifndef RTB_COMPAT_H
#define RTB_COMPAT_H

#include "postgres.h"

/* before the declaration, from 18 on */
#if PG_VERSION_NUM < 180000
#define pg_noreturn _Noreturn
#endif

#if PG_VERSION_NUM < 150000
#error "rtbench needs PostgreSQL 15 or later"
#endif

/* PortalRun of a whole statement; alone in its message it may end transactions.  run_once is gone from 18 */
#if PG_VERSION_NUM >= 180000
#define rtb_portal_run(portal, alone, dest, qc) \
	PortalRun(portal, FETCH_ALL, alone, dest, dest, qc)
#else
#define rtb_portal_run(portal, alone, dest, qc) \
	PortalRun(portal, FETCH_ALL, alone, true, dest, dest, qc)
#endif

/* the value is palloc'd in the current context in every version (utils/tuplesort.h first) */
#if PG_VERSION_NUM >= 160000
#define RTB_TUPLESORT_GETDATUM(sort, value, isnull) \
	tuplesort_getdatum(sort, true, true, value, isnull, NULL)
#else
#define RTB_TUPLESORT_GETDATUM(sort, value, isnull) \
	tuplesort_getdatum(sort, true, value, isnull, NULL)
#endif

/* 17: the superuser state of the authenticated user is looked up, not kept */
#if PG_VERSION_NUM >= 170000
#define rtb_compat_set_authenticated_user(id, is_superuser) SetAuthenticatedUserId(id)
#else
#define rtb_compat_set_authenticated_user(id, is_superuser) \
	SetAuthenticatedUserId((id), (is_superuser))
#endif

/* 17: a background worker may connect as a role that cannot log in */
#if PG_VERSION_NUM >= 170000
#define RTB_COMPAT_BYPASS_LOGIN_CHECK	BGWORKER_BYPASS_ROLELOGINCHECK
#else
#define RTB_COMPAT_BYPASS_LOGIN_CHECK	0
#endif

/* ExecutorRun lost its execute_once in 18 */
#if PG_VERSION_NUM >= 180000
#define RTB_EXECUTOR_RUN_PARAMS QueryDesc *query, ScanDirection direction, uint64 count
#define RTB_EXECUTOR_RUN_ARGS	query, direction, count
#else
#define RTB_EXECUTOR_RUN_PARAMS QueryDesc *query, ScanDirection direction, uint64 count, bool once
#define RTB_EXECUTOR_RUN_ARGS	query, direction, count, once
#endif

/* the planner is told of a running EXPLAIN from 19 on */
#if PG_VERSION_NUM >= 190000
#define RTB_PLANNER_PARAMS	Query *parse, const char *source, int options, ParamListInfo params, \
	struct ExplainState *explain
#define RTB_PLANNER_ARGS	parse, source, options, params, explain
#else
#define RTB_PLANNER_PARAMS	Query *parse, const char *source, int options, ParamListInfo params
#define RTB_PLANNER_ARGS	parse, source, options, params
#endif

/* join types that not every major has, under EXPLAIN's names */
#if PG_VERSION_NUM >= 180000
#define RTB_NEWER_JOIN_TYPES \
	case JOIN_RIGHT_ANTI: return "Right Anti"; \
	case JOIN_RIGHT_SEMI: return "Right Semi";
#elif PG_VERSION_NUM >= 160000
#define RTB_NEWER_JOIN_TYPES \
	case JOIN_RIGHT_ANTI: return "Right Anti";
#else
#define RTB_NEWER_JOIN_TYPES
#endif

/* does a raw DML statement have RETURNING? MERGE has it from 17 */
#if PG_VERSION_NUM >= 180000
#define RTB_RETURNS_ROWS(stmt)	((stmt)->returningClause != NULL)
#else
#define RTB_RETURNS_ROWS(stmt)	((stmt)->returningList != NIL)
#endif
#if PG_VERSION_NUM >= 170000
#define RTB_MERGE_RETURNS_ROWS(stmt)	RTB_RETURNS_ROWS(stmt)
#else
#define RTB_MERGE_RETURNS_ROWS(stmt)	false
#endif

/* a type's name as written, checked for syntax only */
#if PG_VERSION_NUM >= 160000
#define RTB_PARSE_TYPE_NAME(text)	typeStringToTypeName(text, NULL)
#else
#define RTB_PARSE_TYPE_NAME(text)	typeStringToTypeName(text)
#endif

/* 18: a last argument asks to log a lock that was not available */
#if PG_VERSION_NUM >= 180000
#define rtb_compat_lock_acquire(tag, mode, local) LockAcquireExtended(tag, mode, true, true, true, local, false)
#else
#define rtb_compat_lock_acquire(tag, mode, local) LockAcquireExtended(tag, mode, true, true, true, local)
#endif

/* 17: sets of events belong to a resource owner, here to none (storage/latch.h first) */
#if PG_VERSION_NUM >= 170000
#define rtb_create_wait_event_set(context, nevents)	CreateWaitEventSet(NULL, nevents)
#else
#define rtb_create_wait_event_set(context, nevents)	CreateWaitEventSet(context, nevents)
#endif

/* 16: one function checks all kinds of objects (utils/acl.h first) */
#if PG_VERSION_NUM >= 160000
#define rtb_foreign_server_aclcheck(server, role, mode) \
	object_aclcheck(ForeignServerRelationId, server, role, mode)
#else
#define rtb_foreign_server_aclcheck(server, role, mode) \
	pg_foreign_server_aclcheck(server, role, mode)
#endif

/* indexes into the range table of what a plan writes: a list until 18 (nodes/plannodes.h first) */
#if PG_VERSION_NUM >= 190000
#define RTB_FOREACH_RESULT_RELATION(rti, stmt) \
	for (int rti = -1; (rti = bms_next_member((stmt)->resultRelationRelids, rti)) >= 0;)
#else
#define RTB_FOREACH_RESULT_RELATION(rti, stmt) \
	for (int rti##_n = 0, rti; rti##_n < list_length((stmt)->resultRelations) && \
		 (rti = list_nth_int((stmt)->resultRelations, rti##_n), true); rti##_n++)
#endif

/* a CTE's subplan as EXPLAIN calls it: 19 puts the word before its name only there (nodes/primnodes.h first) */
#if PG_VERSION_NUM >= 190000
#define RTB_CTE_NAME(subplan)	psprintf("CTE %s", (subplan)->plan_name)
#else
#define RTB_CTE_NAME(subplan)	((subplan)->plan_name)
#endif

/* 19: what is built by hand must be finished before it is used (access/tupdesc.h first) */
#if PG_VERSION_NUM >= 190000
#define RTB_TUPDESC_FINISH(desc)	TupleDescFinalize(desc)
#else
#define RTB_TUPDESC_FINISH(desc)	((void) (desc))
#endif

/* 19 reads strings in one way only, and has no more warnings about the other (parser/parser.h first) */
#if PG_VERSION_NUM >= 190000
#define RTB_STANDARD_STRINGS	true
#define RTB_SCANNER_QUIET(extra)	((void) (extra))
#else
#define RTB_STANDARD_STRINGS	standard_conforming_strings
#define RTB_SCANNER_QUIET(extra)	((extra)->escape_string_warning = false)
#endif

/* 19: CLUSTER is a kind of REPACK (nodes/parsenodes.h first) */
#if PG_VERSION_NUM >= 190000
#define RTB_CLUSTER_TAG	T_RepackStmt
#define RtbClusterStmt	RepackStmt
#define RTB_CLUSTER_PARAMS(stmt)	((stmt)->params)
#define RTB_CLUSTER_IS_REPACK(stmt)	((stmt)->command == REPACK_COMMAND_REPACK)
#else
#define RTB_CLUSTER_TAG	T_ClusterStmt
#define RtbClusterStmt	ClusterStmt
#define RTB_CLUSTER_PARAMS(stmt)	NIL
#define RTB_CLUSTER_IS_REPACK(stmt)	false
#endif

#endif							/* RTB_COMPAT_H */
