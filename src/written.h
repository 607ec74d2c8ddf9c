/*
 * written.h
 *	  Which relations a pass wrote, and what may be done with them.
 */
#ifndef RTB_WRITTEN_H
#define RTB_WRITTEN_H

#include "postgres.h"

#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"

typedef struct RtbRelation
{
	Oid			relid;
	char		relkind;
	bool		scratch;		/* stands in the scratch schema */
	bool		temporary;
	char	   *name;			/* quoted, with its schema */
	char	   *label;			/* quoted, for people and digests: no scratch schema */
	char	   *columns;		/* quoted list of the columns that are digested */
	Bitmapset  *ignored;		/* of ignore_columns, from 0: those that it has */
	char	   *unreadable;		/* why the caller may not read it whole, or NULL */
	bool		owned;			/* the caller may VACUUM it */
	int			mode;			/* the strongest lock that an arm takes on it */
	int64		bytes;			/* of its main fork and its toast */
	int64		total_bytes;	/* with its indexes; of a user's table only */
	double		tuples;			/* as ANALYZE saw them, -1 unknown */
} RtbRelation;

/* inside the pass, before it is rolled back: list of Oid */
extern List *rtb_written_locked(void);
/* those of them whose rows or definition may have changed: list of Oid */
extern List *rtb_written_changed(List *oids);
/* and the strongest lock mode on each of them: list of int */
extern List *rtb_written_modes(List *oids);
extern const char *rtb_written_mode_name(const RtbRelation *rel);
/* those of them that are tables made since then, temporary ones apart */
extern List *rtb_written_made(List *locked, SubTransactionId since);
/* in a transaction, SPI connected: list of RtbRelation *, by label */
extern List *rtb_written_describe(List *oids, const char *scratch, List *ignore_columns);
/* likewise: all tables of a schema, list of Oid */
extern List *rtb_written_in_schema(const char *schema);
/* the rows of one that are digested; limit 0: all */
extern char *rtb_written_query(const RtbRelation *rel, int limit);
/* a list of Oid, or of char *, as the text of an array */
extern char *rtb_oids_text(List *oids);
extern char *rtb_texts_text(List *texts);
/* advisory locks that this process holds; back to those of an earlier list */
extern List *rtb_advisory_locks(void);
extern int	rtb_advisory_locks_release(List *before);
extern bool rtb_advisory_locks_regain(List *before);

#endif							/* RTB_WRITTEN_H */
