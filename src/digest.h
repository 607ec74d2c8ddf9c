/*
 * digest.h
 *	  Order-independent hash of a row set.
 */
#ifndef RTB_DIGEST_H
#define RTB_DIGEST_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "tcop/dest.h"
#include "utils/tuplestore.h"

typedef struct RtbHash128
{
	uint64		hi;
	uint64		lo;
} RtbHash128;

typedef struct RtbDigest
{
	uint64		rows;
	RtbHash128	sum;			/* of the rows' 128-bit hashes, modulo 2^128 */
	int			ncolumns;
	char	  **columns;		/* names, for people; compared by position */
	uint64	   *column_sums;	/* of each column's 64-bit hashes, modulo 2^64 */
} RtbDigest;

/* a receiver that digests; row_hashes, if not NULL, gets every row's hash as a uuid */
extern DestReceiver *rtb_digest_receiver(RtbDigest *digest, Tuplestorestate *row_hashes);
extern void rtb_digest_init(RtbDigest *digest);
extern void rtb_digest_add_text_row(RtbDigest *digest, int ncolumns, char **values, int *lengths);
extern char *rtb_digest_text(const RtbDigest *digest);
extern bool rtb_digest_equal(const RtbDigest *a, const RtbDigest *b);
extern char *rtb_digest_differing_columns(const RtbDigest *a, const RtbDigest *b);
extern void rtb_digest_combine(RtbDigest *total, const char *label, const RtbDigest *part);
extern int	rtb_digest_pin_settings(void);
extern void rtb_digest_unpin_settings(int nestlevel);
extern void rtb_row_hashes_compare(Tuplestorestate *a, Tuplestorestate *b,
								   uint64 *only_a, uint64 *only_b);

#endif							/* RTB_DIGEST_H */
