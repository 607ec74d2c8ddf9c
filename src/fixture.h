/*
 * fixture.h
 *	  A point's fixture in a scratch schema of its own, and its starting state.
 */
#ifndef RTB_FIXTURE_H
#define RTB_FIXTURE_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "scenario.h"
#include "transport.h"

typedef struct RtbSequence
{
	Oid			relid;
	char	   *name;
	int64		last_value;
	bool		is_called;
} RtbSequence;

typedef struct RtbFixture
{
	char	   *schema;			/* scratch schema, NULL if there is none */
	char	   *path;			/* search_path of the passes, NULL: the caller's own */
	bool		temporary;		/* tables stand in pg_temp: no CREATE on the database */
	List	   *relations;		/* of Oid: the temporary ones that the setup made */
	List	   *sequences;		/* of RtbSequence *: scratch ones, as the setup left them */
} RtbFixture;

extern void rtb_fixture_create(RtbFixture *fixture, const RtbTransport *transport,
							   const RtbWork *work);
extern void rtb_fixture_rebuild(RtbFixture *fixture, const RtbTransport *transport,
								const RtbWork *work);
extern void rtb_fixture_drop(RtbFixture *fixture, const RtbTransport *transport);
extern void rtb_fixture_vacuum(const RtbTransport *transport, List *relations, bool at_end);
extern void rtb_fixture_reset_sequences(RtbFixture *fixture, const RtbTransport *transport);

#endif							/* RTB_FIXTURE_H */
