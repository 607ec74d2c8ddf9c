/*
 * classify.h
 *	  What a statement that starts is: a statement, a loop's query, a caller.
 */
#ifndef RTB_CLASSIFY_H
#define RTB_CLASSIFY_H

#include "postgres.h"

#include "executor/execdesc.h"

#include "hooks.h"

#pragma GCC visibility push(hidden)

extern bool rtb_is_portal_start(const QueryDesc *query);
extern bool rtb_is_loop_query(const QueryDesc *query, int depth, int under_depth,
							  NodeTag under_utility);
extern bool rtb_is_sql_function(const QueryDesc *query, int depth, int under_depth,
								NodeTag under_utility);
extern bool rtb_reads_nothing(const PlannedStmt *stmt);
extern void rtb_note_utility(Node *statement, RtbCounts *noted);

#pragma GCC visibility pop

#endif							/* RTB_CLASSIFY_H */
