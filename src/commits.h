/*
 * commits.h
 *	  What is seen of the transactions that a pass commits.
 */
#ifndef RTB_COMMITS_H
#define RTB_COMMITS_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* what a refused commit says, here or at a far end */
#define RTB_COMMITS_REFUSED \
	"an arm that commits may write only what its scenario's setup made"

typedef struct RtbCommits
{
	int64		transactions;	/* committed, those without a statement left out */
	int64		commit_ns;		/* spent in their commits */
	int64		xids;			/* of top-level transactions that have ended */
	bool		overflowed;		/* one had more subtransactions than the shared cache holds */
} RtbCommits;

/* what a discovery wants to know: NULL for every other pass */
typedef struct RtbCommitWatch
{
	const char *scratch;		/* the schema that may be written */
	MemoryContext cxt;			/* of the lists */
	List	   *locked;			/* of Oid: relations that were written, */
	List	   *modes;			/* and in which lock mode */
} RtbCommitWatch;

extern void rtb_commits_begin(RtbCommitWatch *watch);
extern void rtb_commits_end(RtbCommits *commits);
extern void rtb_commits_abandon(void);
extern bool rtb_commits_is_refusal(const ErrorData *edata);
extern bool rtb_commits_overflowed(void);

#endif							/* RTB_COMMITS_H */
