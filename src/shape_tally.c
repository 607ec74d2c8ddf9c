/*
 * shape_tally.c
 *	  How often each plan shape ran, in order of first appearance.
 *
 * Shapes are told apart by their texts, so that the result is the same in every
 * pass although a temporary table made anew has another OID.  Texts are dear,
 * so a small cache leads from a plan's fingerprint to its shape; what falls out
 * of the cache is only made into text again.
 *
 * Memory: a fixed number of shapes, and their texts in the context "rtbench
 * shapes", which lasts for the process and is emptied by rtb_shapes_reset().
 * Scraps of text making go to its child "rtbench shape text", emptied each time.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/memutils.h"

#include "plan_shape.h"
#include "shape_tally.h"

/* distinct shapes kept of a kind; statements of further ones are counted as one */
#define SHAPES_KEPT		64

/* the cache: sets of few entries each, the newest first (a power of 2 of sets) */
#define CACHE_SETS		256
#define CACHE_WAYS		4

typedef struct CacheEntry
{
	uint64		key;
	RtbShape   *shape;			/* NULL: free */
} CacheEntry;

typedef struct Tally
{
	int			nshapes;
	RtbShape	shapes[SHAPES_KEPT];
	RtbShape	others;
} Tally;

static Tally tallies[RTB_KINDS];
static CacheEntry cache[CACHE_SETS][CACHE_WAYS];
static MemoryContext shape_context = NULL;
static MemoryContext text_context = NULL;

/*
 * Forget all shapes.  Makes the memory contexts when first called, which must
 * be before any other function here.
 */
void
rtb_shapes_reset(void)
{
	if (shape_context == NULL)
	{
		shape_context = AllocSetContextCreate(TopMemoryContext, "rtbench shapes",
											  ALLOCSET_SMALL_SIZES);
		text_context = AllocSetContextCreate(shape_context, "rtbench shape text",
											 ALLOCSET_SMALL_SIZES);
	}
	MemoryContextResetOnly(shape_context);
	MemoryContextReset(text_context);
	memset(tallies, 0, sizeof(tallies));
	memset(cache, 0, sizeof(cache));
}

/*
 * The kind's shape of that text, which is copied if it is to be kept.
 */
static RtbShape *
intern(RtbKind kind, const char *text, bool copy)
{
	Tally	   *tally = &tallies[kind];
	RtbShape   *shape;

	for (int i = 0; i < tally->nshapes; i++)
	{
		if (strcmp(tally->shapes[i].text, text) == 0)
			return &tally->shapes[i];
	}
	if (tally->nshapes == SHAPES_KEPT)
		return &tally->others;

	if (copy)
		text = MemoryContextStrdup(shape_context, text);
	shape = &tally->shapes[tally->nshapes++];
	shape->text = text;
	return shape;
}

/*
 * The shape of a plan, for the caller to count up (and down).  The pointer is
 * valid until rtb_shapes_reset().  Reads the catalogs on first sight only, when
 * it can throw what that can throw.
 */
RtbShape *
rtb_shape_of_plan(RtbKind kind, const PlannedStmt *stmt)
{
	uint64		key = rtb_plan_fingerprint(stmt) + kind;
	CacheEntry *set = cache[key & (CACHE_SETS - 1)];
	MemoryContext old;
	RtbShape   *shape;

	for (int i = 0; i < CACHE_WAYS; i++)
	{
		if (set[i].key == key && set[i].shape != NULL)
			return set[i].shape;
	}

	old = MemoryContextSwitchTo(text_context);
	shape = intern(kind, rtb_plan_shape(stmt), true);
	MemoryContextSwitchTo(old);
	MemoryContextReset(text_context);

	memmove(&set[1], &set[0], sizeof(CacheEntry) * (CACHE_WAYS - 1));
	set[0].key = key;
	set[0].shape = shape;
	return shape;
}

/*
 * The same of a utility statement, whose shape is its command tag.  Allocates
 * nothing and cannot throw: a failing utility is counted while it fails.
 */
RtbShape *
rtb_shape_of_utility(RtbKind kind, CommandTag tag)
{
	return intern(kind, GetCommandTagName(tag), false);
}

/*
 * "4000 x Delete(t) -> Index Scan(t_pkey) | 1 x ...", palloc'd in the current
 * context, or NULL if nothing of that kind ran.
 */
char *
rtb_shapes_text(RtbKind kind)
{
	const Tally *tally = &tallies[kind];
	StringInfoData out;

	initStringInfo(&out);
	for (int i = 0; i < tally->nshapes; i++)
	{
		/* a caller whose count was taken back leaves an empty shape */
		if (tally->shapes[i].count > 0)
			appendStringInfo(&out, "%s" INT64_FORMAT " x %s", out.len > 0 ? " | " : "",
							 tally->shapes[i].count, tally->shapes[i].text);
	}
	if (tally->others.count > 0)
		appendStringInfo(&out, " | " INT64_FORMAT " x other shapes", tally->others.count);
	if (out.len == 0)
	{
		pfree(out.data);
		return NULL;
	}
	return out.data;
}
