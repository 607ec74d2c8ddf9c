/*
 * digest.h
 *	  Order-independent hash of a row set.
 */
#ifndef RTB_DIGEST_H
#define RTB_DIGEST_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "nodes/pg_list.h"
#include "tcop/dest.h"
#include "utils/tuplestore.h"

typedef struct RtbHash128
{
	uint64		hi;
	uint64		lo;
} RtbHash128;

/* of a floating-point column, to tell rounding from other values */
typedef struct RtbMoments
{
	int64		values;
	double		sum;
	double		size;			/* sum of absolute values */
	double		squares;
} RtbMoments;

typedef struct RtbDigest
{
	uint64		rows;
	RtbHash128	sum;			/* of the rows' 128-bit hashes, modulo 2^128 */
	int			ncolumns;
	char	  **columns;		/* names, for people; compared by position */
	uint64	   *column_sums;	/* of each column's 64-bit hashes, modulo 2^64 */
	RtbMoments *moments;		/* by column, NULL if no floating-point value came */

	/* private to digest.c */
	bool		combined;		/* made by rtb_digest_combine: columns are of several tables */
	MemoryContext context;		/* holds all of this; current at rtb_digest_init */
	char	   *row;			/* the row being built */
	Size		row_used;
	Size		row_size;
} RtbDigest;

/* a setting that text forms depend on, and the value it is pinned to */
typedef struct RtbSetting
{
	const char *name;
	const char *value;
} RtbSetting;

/* digest.c: the hash itself */
extern void rtb_digest_init(RtbDigest *digest);
extern void rtb_digest_set_columns(RtbDigest *digest, int ncolumns, char **names);
extern RtbHash128 rtb_digest_add_text_row(RtbDigest *digest, int ncolumns, char **values, int *lengths);
extern char *rtb_digest_text(const RtbDigest *digest);
extern bool rtb_digest_equal(const RtbDigest *a, const RtbDigest *b);
extern char *rtb_digest_label(const char *schema, const char *name);
extern void rtb_digest_combine(RtbDigest *total, const char *label, const RtbDigest *part);
extern List *rtb_digest_differing_list(const RtbDigest *a, const RtbDigest *b);
extern char *rtb_digest_differing_columns(const RtbDigest *a, const RtbDigest *b);

/* digest.c: one row, value by value, in the columns' order */
extern void rtb_digest_row_begin(RtbDigest *digest);
extern void rtb_digest_row_null(RtbDigest *digest, int column);
extern void rtb_digest_row_value(RtbDigest *digest, int column, const char *value, Size length);
extern void rtb_digest_row_float(RtbDigest *digest, int column, double value);
extern RtbHash128 rtb_digest_row_end(RtbDigest *digest);

/* digest_receiver.c: rows of the executor */
extern const RtbSetting rtb_digest_settings[];	/* ends with a NULL name */
extern int	rtb_digest_pin_settings(void);
extern void rtb_digest_unpin_settings(int nestlevel);

/* a receiver that digests; row_hashes, if not NULL, gets every row's hash as a uuid */
extern DestReceiver *rtb_digest_receiver(RtbDigest *digest, Tuplestorestate *row_hashes);

/* row_hashes.c: how many rows each side has alone */
extern TupleDesc rtb_row_hash_tupdesc(void);
extern void rtb_row_hash_put(Tuplestorestate *hashes, RtbHash128 hash);
extern void rtb_row_hashes_compare(Tuplestorestate *a, Tuplestorestate *b,
								   uint64 *only_a, uint64 *only_b);

#endif							/* RTB_DIGEST_H */
