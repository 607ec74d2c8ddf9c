/*
 * own_sql.h
 *	  rtbench's own statements, apart from the arms'.
 */
#ifndef RTB_OWN_SQL_H
#define RTB_OWN_SQL_H

#include "postgres.h"

#include "executor/spi.h"
#include "nodes/pg_list.h"

/* between these two, SPI statements are rtbench's own: safe path, not tracked */
extern int	rtb_own_begin(void);
extern void rtb_own_end(int nestlevel);

/* rows of one of rtbench's own statements, as text */
typedef struct RtbOwnRows
{
	int			n;
	int			columns;
	char	  **values;			/* row after row; NULL is null */
} RtbOwnRows;

/* who runs them: a far server, where the arms' transactions are */
typedef RtbOwnRows *(*RtbOwnRoute) (const char *sql, int nparams, char **params);

extern void rtb_own_route(RtbOwnRoute route, bool other_engine);
extern bool rtb_own_is_far(void);
extern bool rtb_own_is_other(void);
extern bool rtb_own_refused(void);
/* own_qualify.c: independent of any search_path */
extern char *rtb_own_qualified(const char *sql);

extern RtbOwnRows *rtb_own_try(const char *sql, bool in_block);
extern RtbOwnRows *rtb_own_rows(const char *sql, int nparams, char **params);
extern char *rtb_own_row_text(const RtbOwnRows *rows, int row, int column);
extern bool rtb_own_row_bool(const RtbOwnRows *rows, int row, int column);
extern int64 rtb_own_row_int64(const RtbOwnRows *rows, int row, int column);

extern uint64 rtb_own_query(const char *sql, int nargs, Oid *types, Datum *values,
							const char *nulls);
extern char *rtb_own_text(uint64 row, int column);
extern bool rtb_own_bool(uint64 row, int column);
extern int64 rtb_own_int64(uint64 row, int column);

/* one statement in transactions of its own, as a client's top-level one */
extern void rtb_toplevel(const char *sql);

/* names of the process's prepared statements: list of String nodes */
extern List *rtb_prepared_statements(void);

extern int	rtb_own_nest(void);
extern void rtb_set_local(const char *name, const char *value);
extern void rtb_set_far(const char *name, const char *value, bool local);

#endif							/* RTB_OWN_SQL_H */
