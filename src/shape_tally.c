/*
 * shape_tally.c
 *	  How often each plan shape ran, in order of first appearance.
 *
 * Shapes are told apart by their texts, so that the result is the same in every
 * pass although a temporary table made anew has another OID.  Texts are dear, so a
 * small cache leads from a plan's fingerprint to its shape; what falls out of the
 * cache is only made into text again.  Even fingerprints are noticed when a cached
 * plan is executed a million times, so its shape is remembered with the plan:
 * a reset callback on the plan's memory context forgets it before the plan's
 * address can be another's.
 *
 * Memory: a fixed number of shapes, and their texts in the context "rtbench
 * shapes", which lasts for the process and is emptied by rtb_shapes_reset().
 * Scraps of text making go to its child "rtbench shape text", emptied each time.
 * A pool with an entry for each cached plan alive is in "rtbench plans".
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "lib/stringinfo.h"
#include "nodes/memnodes.h"
#include "nodes/parsenodes.h"
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

/* the shapes of a cached plan: what every statement needs is in one cache line */
typedef struct KnownPlan
{
	const PlannedStmt *stmt;
	uint32		era;			/* of its shapes */
	RtbShape   *shapes[RTB_KINDS];	/* NULL if not known */
	struct KnownPlan *next_free;
	MemoryContextCallback gone; /* the plan's memory context is being deleted */
} KnownPlan;

/* where they are found: of two plans in one place only the latest */
#define KNOWN_PLACES	256
#define PLANS_PER_BLOCK	32

static KnownPlan *known[KNOWN_PLACES];
static KnownPlan *free_plans = NULL;
static uint32 era = 0;			/* what is known from before the last reset is not */
static Tally tallies[RTB_KINDS];
static CacheEntry cache[CACHE_SETS][CACHE_WAYS];
static bool foreign = false;	/* is one of them over a foreign table? */
static MemoryContext shape_context = NULL;
static MemoryContext text_context = NULL;
static MemoryContext plan_context = NULL;

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
		plan_context = AllocSetContextCreate(TopMemoryContext, "rtbench plans",
											 ALLOCSET_DEFAULT_SIZES);
	}
	era++;
	foreign = false;
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

static inline KnownPlan **
known_place(const PlannedStmt *stmt)
{
	uintptr_t	address = (uintptr_t) stmt;

	/* chunks of a plan's size begin at multiples of 8 in blocks of 1 kB and more */
	return &known[(address >> 3 ^ address >> 11) % KNOWN_PLACES];
}

static void
plan_gone(void *arg)
{
	KnownPlan  *plan = arg;
	KnownPlan **place = known_place(plan->stmt);

	if (*place == plan)
		*place = NULL;
	plan->next_free = free_plans;
	free_plans = plan;
}

static KnownPlan *
new_plan(void)
{
	KnownPlan  *plan;

	if (free_plans == NULL)
	{
		KnownPlan  *block = MemoryContextAlloc(plan_context, sizeof(KnownPlan) * PLANS_PER_BLOCK);

		for (int i = 0; i < PLANS_PER_BLOCK; i++)
		{
			block[i].next_free = free_plans;
			free_plans = &block[i];
		}
	}
	plan = free_plans;
	free_plans = plan->next_free;
	return plan;
}

/*
 * Remember a plan's shape for as long as the plan lives, if it may be executed
 * again: the plan cache keeps those in contexts of their own.
 */
static void
remember(RtbKind kind, const PlannedStmt *stmt, RtbShape *shape)
{
	MemoryContext home = GetMemoryChunkContext((void *) stmt);
	KnownPlan  *plan = NULL;

	if (home->parent != CacheMemoryContext)
		return;

	for (MemoryContextCallback *cb = home->reset_cbs; cb != NULL && plan == NULL; cb = cb->next)
	{
		if (cb->func == plan_gone && ((KnownPlan *) cb->arg)->stmt == stmt)
			plan = cb->arg;
	}
	if (plan == NULL)
	{
		plan = new_plan();
		plan->stmt = stmt;
		plan->era = era - 1;
		plan->gone.func = plan_gone;
		plan->gone.arg = plan;
		MemoryContextRegisterResetCallback(home, &plan->gone);
	}
	if (plan->era != era)
	{
		plan->era = era;
		memset(plan->shapes, 0, sizeof(plan->shapes));
	}
	plan->shapes[kind] = shape;
	*known_place(stmt) = plan;
}

/* does a plan read or write a foreign table? */
static bool
uses_foreign_table(const PlannedStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_FOREIGN_TABLE)
			return true;
	}
	return false;
}

/*
 * The shape of a plan that is not known.
 */
static pg_noinline RtbShape *
find_shape(RtbKind kind, const PlannedStmt *stmt)
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
	foreign |= uses_foreign_table(stmt);

	memmove(&set[1], &set[0], sizeof(CacheEntry) * (CACHE_WAYS - 1));
	set[0].key = key;
	set[0].shape = shape;
	return shape;
}

/*
 * The shape of a plan, for the caller to count up (and down).  The pointer is
 * valid until rtb_shapes_reset().  Reads the catalogs on first sight only, when
 * it can throw what that can throw.
 */
pg_attribute_hot RtbShape *
rtb_shape_of_plan(RtbKind kind, const PlannedStmt *stmt)
{
	const KnownPlan *plan = *known_place(stmt);
	RtbShape   *shape;

	if (likely(plan != NULL && plan->stmt == stmt && plan->era == era &&
			   plan->shapes[kind] != NULL))
		return plan->shapes[kind];

	shape = find_shape(kind, stmt);
	remember(kind, stmt, shape);
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

/*
 * Has any plan read or written a foreign table?
 */
bool
rtb_shapes_foreign(void)
{
	return foreign;
}
