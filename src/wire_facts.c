/*
 * wire_facts.c
 *	  What the far end of a connection says of itself.
 *
 * Other engines have other catalogs: a question that one cannot answer is no
 * error.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "wire.h"

#include "access/xact.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "own_sql.h"

/* NULL if it cannot be answered */
static RtbOwnRows *
answer(const char *question)
{
	MemoryContext cxt = CurrentMemoryContext;
	RtbOwnRows *volatile rows = NULL;

	PG_TRY();
	{
		rows = rtb_own_rows(question, 0, NULL);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		if (!rtb_connection_usable(rtb_wire) || geterrcode() == ERRCODE_QUERY_CANCELED)
			PG_RE_THROW();
		FlushErrorState();
	}
	PG_END_TRY();
	return rows;
}

static char *
answer_text(const char *question)
{
	RtbOwnRows *rows = answer(question);

	return rows != NULL && rows->n > 0 ? rtb_own_row_text(rows, 0, 1) : NULL;
}

/* the settings of this session there; of here only what decides the order of passes */
static char *
far_settings(void)
{
	RtbOwnRows *rows = answer(rtb_facts_question());
	StringInfoData buf;

	if (rows == NULL)
		return NULL;
	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	rtb_facts_add(&buf, "role", answer_text("SELECT current_user"));
	for (int i = 0; i < rows->n; i++)
		rtb_facts_add(&buf, rtb_own_row_text(rows, i, 1), rtb_own_row_text(rows, i, 2));
	rtb_facts_add(&buf, "rtbench.pass_order", GetConfigOption("rtbench.pass_order", true, false));
	appendStringInfoChar(&buf, '}');
	return buf.data;
}

/*
 * rtb_wire_facts
 *		Version and settings of the far end.  Outside any transaction; throws
 *		only if the connection is lost, or a cancel.
 */
RtbFarFacts
rtb_wire_facts(void)
{
	MemoryContext cxt = CurrentMemoryContext;
	RtbFarFacts facts = {0};
	const char *reported;

	StartTransactionCommand();
	MemoryContextSwitchTo(cxt);
	reported = rtb_connection_parameter(rtb_wire, "server_version");
	facts.server_version = reported ? pstrdup(reported) : NULL;
	facts.version = answer_text("SELECT version()");
	facts.settings = far_settings();
	CommitTransactionCommand();
	MemoryContextSwitchTo(cxt);
	return facts;
}
