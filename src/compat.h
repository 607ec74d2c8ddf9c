/*
 * compat.h
 *	  Differences between PostgreSQL majors (15, 17, 18, 19).
 *
 * The only file of the project that names PG_VERSION_NUM.
 */
#ifndef RTB_COMPAT_H
#define RTB_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error "rtbench needs PostgreSQL 15 or later"
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

#endif							/* RTB_COMPAT_H */
