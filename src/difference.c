/*
 * difference.c
 *	  What differs between two checks, in words.
 *
 * Columns that no two passes have alike (ids, the clock) say nothing about
 * two arms, so they can be left out; and sums of floating-point values whose
 * last digits depend on the order of the additions are told from other values.
 *
 * Memory: everything is palloc'd in the current context; names and labels are
 * the digests' own.
 */
#include "postgres.h"

#include "difference.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "check.h"

/* what may come of adding in another order, as a share of the values' size */
#define ROUNDING_SHARE	1e-9

/*
 * rtb_column_in_list
 *		Is a column, or all of its part, in a list of RtbColumn *?
 */
bool
rtb_column_in_list(List *columns, const char *label, const char *name)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		const RtbColumn *column = lfirst(lc);

		if (strcmp(column->label, label) == 0 && strcmp(column->name, name) == 0)
			return true;
	}
	return false;
}

static void
add_column(RtbDifference *difference, const char *label, const char *name)
{
	RtbColumn  *column = palloc(sizeof(RtbColumn));

	column->label = label;
	column->name = name;
	difference->columns = lappend(difference->columns, column);
}

/*
 * Of two digests of equally many rows: do all columns that differ hold the same
 * floating-point values but for rounding, as far as their first two moments tell?
 */
static bool
only_rounded(const RtbDigest *a, const RtbDigest *b)
{
	bool		found = false;

	for (int i = 0; i < a->ncolumns; i++)
	{
		const RtbMoments *ma;
		const RtbMoments *mb;

		if (a->column_sums[i] == b->column_sums[i])
			continue;
		found = true;
		if (a->moments == NULL || b->moments == NULL)
			return false;
		ma = &a->moments[i];
		mb = &b->moments[i];
		if (ma->values == 0 || ma->values != mb->values ||
			!(fabs(ma->sum - mb->sum) <= ROUNDING_SHARE * ma->size) ||
			!(fabs(ma->squares - mb->squares) <= 2 * ROUNDING_SHARE * ma->squares))
			return false;
	}
	return found;
}

/* do columns differ, or only how their values are combined in rows? */
static bool
columns_differ(const RtbDigest *a, const RtbDigest *b)
{
	for (int i = 0; a->ncolumns == b->ncolumns && i < a->ncolumns; i++)
	{
		if (a->column_sums[i] != b->column_sums[i])
			return true;
	}
	return false;
}

static void
differ_in_part(RtbDifference *difference, StringInfo buf, const RtbCheckPart *a,
			   const RtbCheckPart *b, List *leave_out)
{
	uint64		rows_a = a ? a->digest.rows : 0;
	uint64		rows_b = b ? b->digest.rows : 0;
	const char *label = a ? a->label : b->label;
	int			found = 0;
	int			skipped = 0;
	StringInfoData names;
	ListCell   *lc;

	bool		gone = (a == NULL || b == NULL) && !(a ? a : b)->returned;

	/* an empty table is not the same as none, but no rows are no rows */
	if (!gone && rows_a == rows_b &&
		(rows_a == 0 || rtb_digest_equal(&a->digest, &b->digest)))
		return;
	if (rtb_column_in_list(leave_out, label, "*"))
	{
		difference->left_out = true;
		return;
	}
	if (gone || rows_a != rows_b)
	{
		add_column(difference, label, "*");
		difference->rounding = false;
		if (a == NULL && gone)
			appendStringInfo(buf, "%s%s: no such table against " UINT64_FORMAT " rows",
							 buf->len ? "; " : "", label, rows_b);
		else if (gone)
			appendStringInfo(buf, "%s%s: " UINT64_FORMAT " rows against no such table",
							 buf->len ? "; " : "", label, rows_a);
		else
			appendStringInfo(buf, "%s%s: " UINT64_FORMAT " rows against " UINT64_FORMAT,
							 buf->len ? "; " : "", label, rows_a, rows_b);
		return;
	}
	initStringInfo(&names);
	foreach(lc, rtb_digest_differing_list(&a->digest, &b->digest))
	{
		const char *name = lfirst(lc);

		if (rtb_column_in_list(leave_out, label, name))
		{
			skipped++;
			continue;
		}
		add_column(difference, label, name);
		appendStringInfo(&names, "%s%s", found++ ? ", " : "", name);
	}
	difference->left_out |= skipped > 0;
	if (found == 0)
		return;
	difference->rounding &= only_rounded(&a->digest, &b->digest);
	appendStringInfo(buf, "%s%s: %s%s", buf->len ? "; " : "", label,
					 !columns_differ(&a->digest, &b->digest) ? "" :
					 found == 1 ? "column " : "columns ", names.data);
}

/*
 * rtb_difference
 *		What differs between two checks but for some columns (list of
 *		RtbColumn *, or NIL).
 */
RtbDifference *
rtb_difference(const RtbCheck *a, const RtbCheck *b, List *leave_out)
{
	RtbDifference *difference = palloc0(sizeof(RtbDifference));
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	difference->rounding = true;
	foreach(lc, a->parts)
	{
		const RtbCheckPart *part = lfirst(lc);

		differ_in_part(difference, &buf, part, rtb_check_part(b, part->label), leave_out);
	}
	foreach(lc, b->parts)
	{
		const RtbCheckPart *part = lfirst(lc);

		if (rtb_check_part(a, part->label) == NULL)
			differ_in_part(difference, &buf, NULL, part, leave_out);
	}
	difference->text = buf.len > 0 ? buf.data : NULL;
	difference->rounding &= buf.len > 0;
	return difference;
}
