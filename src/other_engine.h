/*
 * other_engine.h
 *	  A far end that speaks the protocol and is not PostgreSQL.
 */
#ifndef RTB_OTHER_ENGINE_H
#define RTB_OTHER_ENGINE_H

#include "postgres.h"

#include "nodes/pg_list.h"

extern const char rtb_engine_is_postgres_sql[];

extern List *rtb_engine_tables(const char *schema, List *ignore_columns);
extern List *rtb_engine_sequences(const char *schema, MemoryContext cxt);
extern void rtb_engine_analyze(List *tables);
extern bool rtb_engine_defers(void);
extern char *rtb_engine_scratch_name(int number);
extern List *rtb_engine_left_over(void);

#endif							/* RTB_OTHER_ENGINE_H */
