/*
 * digest.c
 *	  Order-independent hash of a row set.
 *
 * A row is written as the number of its columns and, for each, the length of
 * its text form and the text itself; NULL is a length that no text has.  Two
 * differently seeded 64-bit hashes of that make one 128-bit number, and the
 * numbers are added modulo 2^128: order does not matter, duplicates count, and
 * a value in another column or another row is another hash.  Beside it each
 * column's own hashes are added, which names the columns that differ.
 *
 * Texts longer than RTB_LONG_VALUE go into the row as their own two hashes, so
 * that a row never needs more than about a kilobyte a column.
 *
 * Memory: everything a digest holds is in the context that was current at
 * rtb_digest_init: names, sums and one row buffer.  Adding a row allocates
 * nothing once that buffer has grown to the widest row.
 */
#include "postgres.h"

#include <math.h>

#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "digest.h"

/* above this a value is hashed by itself, not copied into the row */
#define RTB_LONG_VALUE	1024

/* a length no text form can have: those end at 1 GB */
#define RTB_NULL_LENGTH	((uint32) 0xFFFFFFFF)

/* seeds: the fractional hexadecimal digits of pi */
#define RTB_SEED_HI		UINT64CONST(0x243F6A8885A308D3)
#define RTB_SEED_LO		UINT64CONST(0x13198A2E03707344)
#define RTB_SEED_TEXT_HI UINT64CONST(0xA4093822299F31D0)
#define RTB_SEED_TEXT_LO UINT64CONST(0x082EFA98EC4E6C89)
#define RTB_SEED_PART_HI UINT64CONST(0x452821E638D01377)
#define RTB_SEED_PART_LO UINT64CONST(0xBE5466CF34E90C6C)
#define RTB_NULL_HASH	UINT64CONST(0xC0AC29B7C97C50DD)

static uint64
hash64(const char *data, Size length, uint64 seed)
{
	return hash_bytes_extended((const unsigned char *) data, (int) length, seed);
}

static void
add128(RtbHash128 *sum, RtbHash128 add)
{
	sum->lo += add.lo;
	sum->hi += add.hi + (sum->lo < add.lo ? 1 : 0);
}

/*
 * Make an empty digest.  What it will hold lives in the current memory
 * context, which must outlive it.
 */
void
rtb_digest_init(RtbDigest *digest)
{
	memset(digest, 0, sizeof(RtbDigest));
	digest->context = CurrentMemoryContext;
}

/*
 * Say how many columns the rows have, and their names: NULL, or an array in
 * which a name may be NULL too.  Optional before the first text row.  Throws
 * if the digest already has rows of another width.
 */
void
rtb_digest_set_columns(RtbDigest *digest, int ncolumns, char **names)
{
	MemoryContext caller;

	if (digest->column_sums != NULL)
	{
		if (digest->ncolumns != ncolumns)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("cannot digest rows of %d columns together with rows of %d columns",
							ncolumns, digest->ncolumns)));
		return;
	}

	caller = MemoryContextSwitchTo(digest->context);
	digest->ncolumns = ncolumns;
	digest->columns = palloc0(Max(ncolumns, 1) * sizeof(char *));
	digest->column_sums = palloc0(Max(ncolumns, 1) * sizeof(uint64));
	for (int i = 0; names != NULL && i < ncolumns; i++)
		digest->columns[i] = names[i] ? pstrdup(names[i]) : NULL;
	MemoryContextSwitchTo(caller);
}

/*
 * Room for so many more bytes in the row buffer.
 */
static char *
row_reserve(RtbDigest *digest, Size more)
{
	Size		needed = digest->row_used + more;
	char	   *place;

	if (unlikely(needed > digest->row_size))
	{
		Size		size = Max(digest->row_size * 2, Max(needed, 1024));

		if (digest->row == NULL)
			digest->row = MemoryContextAlloc(digest->context, size);
		else
			digest->row = repalloc(digest->row, size);
		digest->row_size = size;
	}
	place = digest->row + digest->row_used;
	digest->row_used = needed;
	return place;
}

/*
 * Begin a row of the digest's columns (rtb_digest_set_columns must have been
 * called).  Every column follows in order, then rtb_digest_row_end.
 */
void
rtb_digest_row_begin(RtbDigest *digest)
{
	digest->row_used = 0;
	*(uint32 *) row_reserve(digest, sizeof(uint32)) = (uint32) digest->ncolumns;
}

/*
 * The next column, counted from 0, is NULL.
 */
void
rtb_digest_row_null(RtbDigest *digest, int column)
{
	*(uint32 *) row_reserve(digest, sizeof(uint32)) = RTB_NULL_LENGTH;
	digest->column_sums[column] += RTB_NULL_HASH;
}

/*
 * The next column, counted from 0, has this text form.
 *
 * Values are padded to whole words: hash_bytes_extended is faster on them.
 */
void
rtb_digest_row_value(RtbDigest *digest, int column, const char *value, Size length)
{
	char	   *place;

	if (likely(length <= RTB_LONG_VALUE))
	{
		Size		padded = TYPEALIGN(sizeof(uint32), length);

		place = row_reserve(digest, sizeof(uint32) + padded);
		*(uint32 *) place = (uint32) length;
		place += sizeof(uint32);
		if (padded > length)
			*(uint32 *) (place + padded - sizeof(uint32)) = 0;
		memcpy(place, value, length);
		digest->column_sums[column] += hash64(place, length, RTB_SEED_HI);
	}
	else
	{
		uint64		hashes[2];

		hashes[0] = hash64(value, length, RTB_SEED_HI);
		hashes[1] = hash64(value, length, RTB_SEED_LO);
		place = row_reserve(digest, sizeof(uint32) + sizeof(hashes));
		*(uint32 *) place = (uint32) length;
		memcpy(place + sizeof(uint32), hashes, sizeof(hashes));
		digest->column_sums[column] += hashes[0];
	}
}

/*
 * The value that was just given as text is this floating-point number.
 */
void
rtb_digest_row_float(RtbDigest *digest, int column, double value)
{
	RtbMoments *moments;

	if (unlikely(digest->moments == NULL))
		digest->moments = MemoryContextAllocZero(digest->context,
												 digest->ncolumns * sizeof(RtbMoments));
	moments = &digest->moments[column];
	moments->values++;
	moments->sum += value;
	moments->size += fabs(value);
	moments->squares += value * value;
}

/*
 * End the row: add it to the digest.  Returns the row's own hash.
 */
RtbHash128
rtb_digest_row_end(RtbDigest *digest)
{
	RtbHash128	hash;

	hash.hi = hash64(digest->row, digest->row_used, RTB_SEED_HI);
	hash.lo = hash64(digest->row, digest->row_used, RTB_SEED_LO);
	add128(&digest->sum, hash);
	digest->rows++;
	return hash;
}

/*
 * Add a row of text forms, as they come over a wire: values[i] NULL for SQL
 * NULL, else lengths[i] bytes in the database's encoding.  The session that
 * wrote them must have had rtb_digest_settings, then the digest is the same as
 * that of rtb_digest_receiver over the same rows.  The first row fixes the
 * width; throws on a row of another.  Returns the row's hash.
 */
RtbHash128
rtb_digest_add_text_row(RtbDigest *digest, int ncolumns, char **values, int *lengths)
{
	if (unlikely(digest->column_sums == NULL || digest->ncolumns != ncolumns))
		rtb_digest_set_columns(digest, ncolumns, NULL);

	rtb_digest_row_begin(digest);
	for (int i = 0; i < ncolumns; i++)
	{
		if (values[i] == NULL)
			rtb_digest_row_null(digest, i);
		else
			rtb_digest_row_value(digest, i, values[i], lengths[i]);
	}
	return rtb_digest_row_end(digest);
}

/*
 * The digest as 32 lower-case hexadecimal digits, palloc'd: equal texts are
 * equal digests but for the chance of two 128-bit hashes.
 */
char *
rtb_digest_text(const RtbDigest *digest)
{
	uint64		whole[3];

	whole[0] = digest->rows;
	whole[1] = digest->sum.hi;
	whole[2] = digest->sum.lo;
	return psprintf("%016llx%016llx",
					(unsigned long long) hash64((char *) whole, sizeof(whole), RTB_SEED_TEXT_HI),
					(unsigned long long) hash64((char *) whole, sizeof(whole), RTB_SEED_TEXT_LO));
}

/*
 * Are the row sets the same?  Column names and types don't matter.
 */
bool
rtb_digest_equal(const RtbDigest *a, const RtbDigest *b)
{
	return a->rows == b->rows && a->sum.hi == b->sum.hi && a->sum.lo == b->sum.lo;
}

/*
 * Position of a name among the columns of a combined digest, or -1.
 */
static int
find_column(const RtbDigest *digest, const char *name)
{
	for (int i = 0; i < digest->ncolumns; i++)
		if (strcmp(digest->columns[i], name) == 0)
			return i;
	return -1;
}

/*
 * Add to a column of a combined digest, which is made if it isn't there.
 */
static void
combine_column(RtbDigest *total, const char *name, uint64 sum)
{
	int			i = find_column(total, name);

	if (i < 0)
	{
		MemoryContext caller = MemoryContextSwitchTo(total->context);

		i = total->ncolumns;
		if (i == 0)
		{
			total->columns = palloc(sizeof(char *));
			total->column_sums = palloc(sizeof(uint64));
		}
		else if ((i & (i - 1)) == 0)
		{
			total->columns = repalloc(total->columns, 2 * i * sizeof(char *));
			total->column_sums = repalloc(total->column_sums, 2 * i * sizeof(uint64));
		}
		total->columns[i] = pstrdup(name);
		total->column_sums[i] = 0;
		total->ncolumns++;
		MemoryContextSwitchTo(caller);
	}
	total->column_sums[i] += sum;
}

/*
 * A column's name for people, palloc'd: with its position where the name alone
 * would not say which column is meant.
 */
static char *
column_title(const RtbDigest *digest, int column)
{
	const char *name = digest->columns[column];

	if (name == NULL)
		return psprintf("column %d", column + 1);
	for (int i = 0; i < digest->ncolumns; i++)
		if (i != column && digest->columns[i] != NULL && strcmp(digest->columns[i], name) == 0)
			return psprintf("%s (column %d)", quote_identifier(name), column + 1);
	return pstrdup(quote_identifier(name));
}

/*
 * rtb_digest_label
 *		What a table is called in a digest, palloc'd; schema may be NULL.  Names
 *		are quoted where they need it, whatever quote_all_identifiers says: it is
 *		hashed, and held against other servers' and sessions'.
 */
char *
rtb_digest_label(const char *schema, const char *name)
{
	bool		all = quote_all_identifiers;
	char	   *label;

	/* nothing in between throws but for want of memory, which the caller's setting does not matter to */
	quote_all_identifiers = false;
	label = quote_qualified_identifier(schema, name);
	quote_all_identifiers = all;
	return label;
}

/*
 * Fold the digest of one table into that of everything that is checked.
 *
 * The label is the table's name as people should read it.  It is hashed with
 * the part's rows and sum, so tables can neither cancel each other nor change
 * places.  total must come from rtb_digest_init and gets nothing but parts; a
 * label may come again (its parts are added).  The total has one column
 * "label.*" for each table and one for each of its columns, in its context.
 */
void
rtb_digest_combine(RtbDigest *total, const char *label, const RtbDigest *part)
{
	Size		label_length = strlen(label);
	Size		size = 3 * sizeof(uint64) + label_length;
	char	   *buffer = palloc(size);
	uint64	   *whole = (uint64 *) buffer;
	RtbHash128	hash;
	char	   *name;

	Assert(total->combined || total->column_sums == NULL);
	total->combined = true;

	whole[0] = part->rows;
	whole[1] = part->sum.hi;
	whole[2] = part->sum.lo;
	memcpy(buffer + 3 * sizeof(uint64), label, label_length);
	hash.hi = hash64(buffer, size, RTB_SEED_PART_HI);
	hash.lo = hash64(buffer, size, RTB_SEED_PART_LO);
	pfree(buffer);

	add128(&total->sum, hash);
	total->rows += part->rows;

	name = psprintf("%s.*", label);
	combine_column(total, name, hash.hi);
	pfree(name);
	for (int i = 0; i < part->ncolumns; i++)
	{
		char	   *title = column_title(part, i);

		name = psprintf("%s.%s", label, title);
		combine_column(total, name, part->column_sums[i]);
		pfree(name);
		pfree(title);
	}
}

/*
 * The columns of a combined digest that differ.  "label.*" says that the table
 * differs though none of its columns does.
 */
static List *
differing_combined(const RtbDigest *a, const RtbDigest *b)
{
	List	   *names = NIL;
	const RtbDigest *sides[2] = {a, b};

	for (int side = 0; side < 2; side++)
	{
		const RtbDigest *here = sides[side];
		const RtbDigest *there = sides[1 - side];
		char	   *whole = NULL;
		bool		found = true;

		for (int i = 0; i < here->ncolumns; i++)
		{
			Size		length = strlen(here->columns[i]);
			int			j = find_column(there, here->columns[i]);
			bool		differs = j < 0 || here->column_sums[i] != there->column_sums[j];

			/* what differs on both sides was named from the first */
			if (side == 1 && j >= 0)
				continue;
			if (length >= 2 && strcmp(here->columns[i] + length - 2, ".*") == 0)
			{
				if (!found)
					names = lappend(names, whole);
				whole = here->columns[i];
				found = !differs;
			}
			else if (differs)
			{
				names = lappend(names, here->columns[i]);
				found = true;
			}
		}
		if (!found)
			names = lappend(names, whole);
	}
	return names;
}

/*
 * What differs between two digests: NIL if they are equal, else a list of
 * palloc'd names, quoted as identifiers where need be.  When every column has
 * the same values and only the rows they stand in differ, the one entry says
 * so.
 */
List *
rtb_digest_differing_list(const RtbDigest *a, const RtbDigest *b)
{
	List	   *names = NIL;
	ListCell   *lc;

	if (rtb_digest_equal(a, b))
		return NIL;

	if (a->combined || b->combined)
	{
		names = differing_combined(a, b);
		foreach(lc, names)
			lfirst(lc) = pstrdup(lfirst(lc));
	}
	else if (a->column_sums == NULL || b->column_sums == NULL)
		return list_make1(pstrdup("number of rows"));
	else if (a->ncolumns != b->ncolumns)
		return list_make1(psprintf("number of columns (%d and %d)", a->ncolumns, b->ncolumns));
	else
	{
		for (int i = 0; i < a->ncolumns; i++)
			if (a->column_sums[i] != b->column_sums[i])
				names = lappend(names, column_title(a, i));
	}

	if (names == NIL)
		names = list_make1(pstrdup(a->rows != b->rows ?
								   "number of rows" : "combination of columns"));
	return names;
}

/*
 * The same as one text, palloc'd, with commas between; NULL if equal.
 */
char *
rtb_digest_differing_columns(const RtbDigest *a, const RtbDigest *b)
{
	List	   *names = rtb_digest_differing_list(a, b);
	StringInfoData text;
	ListCell   *lc;

	if (names == NIL)
		return NULL;
	initStringInfo(&text);
	foreach(lc, names)
		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "", (char *) lfirst(lc));
	list_free_deep(names);
	return text.data;
}
