/*
 * price_list.h
 *	  What a statement costs by each way to the executor.
 *
 * For price_list*.c only.  A visit measures all statements by all protocols of
 * one transport, interleaved, on a scratch table of its own in a transaction
 * that is rolled back.  Its result is an array of microseconds a statement:
 * element protocol * RTB_PRICED + statement.
 */
#ifndef RTB_PRICE_LIST_H
#define RTB_PRICE_LIST_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "connection.h"
#include "protocol.h"

/* what is priced: nothing, and four statements on one row by key */
typedef enum RtbPriced
{
	RTB_PRICED_EMPTY,
	RTB_PRICED_SELECT,
	RTB_PRICED_INSERT,
	RTB_PRICED_UPDATE,
	RTB_PRICED_DELETE
} RtbPriced;

#define RTB_PRICED		5
#define RTB_PROTOCOLS	3		/* by each transport */
#define RTB_PRICES		(RTB_PRICED * RTB_PROTOCOLS)

#define RTB_PRICE_ROUNDS	5	/* of a visit */
#define RTB_PRICE_TIMES		30	/* a statement, each round */
#define RTB_PRICE_WARM_UP	10	/* plans have become generic by then */

/* keys of one protocol's statements; each is updated and deleted once */
#define RTB_PRICE_KEYS		(RTB_PRICE_WARM_UP + RTB_PRICE_ROUNDS * RTB_PRICE_TIMES)

/* runs a statement so many times, from that key on; nanoseconds */
typedef int64 (*RtbPriceRun) (void *arg, int protocol, RtbPriced statement, int64 first, int times);

/* price_list_visit.c */
extern const char *const rtb_priced_names[];
extern const RtbProtocol rtb_price_protocols[];
extern char *rtb_price_schema(void);
extern List *rtb_price_fixture(const char *schema);
extern char *rtb_price_statement(const char *schema, RtbPriced statement, const char *key);
extern void rtb_price_rounds(RtbPriceRun run, void *arg, double *us);
extern void rtb_price_over(RtbConnection *c, const char *server, double *us);

/* price_list_inside.c */
extern const char *const rtb_price_inside_protocols[];
extern void rtb_price_in_caller(double *us);
extern void rtb_price_in_worker(double *us);
extern void rtb_price_list_init(void);

#endif							/* RTB_PRICE_LIST_H */
