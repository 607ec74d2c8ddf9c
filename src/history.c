/*
 * history.c
 *	  Runs beside runs: may they be compared?  And runs that are to be forgotten.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "judge.h"
#include "ledger_private.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"

PG_FUNCTION_INFO_V1(rtb_sql_comparable_runs);
PG_FUNCTION_INFO_V1(rtb_sql_forget);

static void
no_such_run(int64 id)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("run " INT64_FORMAT " does not exist", id),
			 errhint("Your runs are listed in rtbench.history.")));
}

static void
refuse(const RtbRun *first, const RtbRun *other, char *why, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("runs " INT64_FORMAT " and " INT64_FORMAT " cannot be compared",
					first->run, other->run),
			 errdetail("%s", why),
			 errhint("%s", hint)));
}

/* the parameters of a run as text, keys in jsonb's order */
static char *
parameters_of(const RtbRun *run)
{
	JsonbValue	value;

	if (run->options == NULL || !JB_ROOT_IS_OBJECT(run->options) ||
		getKeyJsonValueFromContainer(&run->options->root, "parameters", strlen("parameters"),
									 &value) == NULL || value.type != jbvBinary)
		return "{}";
	return JsonbToCString(NULL, value.val.binary.data, value.val.binary.len);
}

/* the same arm at the same point in another run's results, or NULL */
static const RtbResult *
counterpart(const RtbRun *run, const RtbResult *result, const RtbRun *other, List *results)
{
	ListCell   *lc;

	foreach(lc, results)
	{
		const RtbResult *candidate = lfirst(lc);

		if (candidate->has_point == result->has_point &&
			(!result->has_point || candidate->point == result->point) &&
			strcmp(list_nth(other->arms, candidate->arm), list_nth(run->arms, result->arm)) == 0)
			return candidate;
	}
	return NULL;
}

/* throws where two runs did not do the same */
static void
check_pair(const RtbRun *first, List *first_results, const RtbRun *other)
{
	List	   *results = rtb_judge(other);
	bool		common = false;
	ListCell   *lc;

	if (strcmp(first->scenario, other->scenario) != 0)
		refuse(first, other, psprintf("Their scenarios are \"%s\" and \"%s\".",
									  first->scenario, other->scenario),
			   "Compare runs of one scenario.");
	if (strcmp(parameters_of(first), parameters_of(other)) != 0)
		refuse(first, other, psprintf("Their parameters are %s and %s.",
									  parameters_of(first), parameters_of(other)),
			   "Run the scenario again with the same parameters => ....");
	foreach(lc, first_results)
	{
		const RtbResult *result = lfirst(lc);
		const RtbResult *same = counterpart(first, result, other, results);

		common |= same != NULL;
		if (same && result->digest && same->digest && strcmp(result->digest, same->digest) != 0)
			refuse(first, other,
				   psprintf("The digests of arm \"%s\"%s differ: it did not leave or return the same rows.",
							(char *) list_nth(first->arms, result->arm), result->has_point ?
							psprintf(" at " INT64_FORMAT, result->point) : ""),
				   "Compare runs over the same rows, or give both the same check_query => ... without what differs.");
	}
	if (!common)
		refuse(first, other, "They have no arm and point in common.",
			   "Run the scenario again with the same points => ... and arms => ....");
}

/* comparable_runs(runs bigint[]): the same runs, or an error */
Datum
rtb_sql_comparable_runs(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	int			n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	const int64 *ids = (const int64 *) ARR_DATA_PTR(array);
	RtbRun	   *first = NULL;
	List	   *results = NIL;

	if (n < 2 || array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("at least two runs are needed, and none may be null"),
				 errhint("Your runs are listed in rtbench.history.")));
	for (int i = 0; i < n; i++)
	{
		RtbRun	   *run = rtb_ledger_read(ids[i]);

		CHECK_FOR_INTERRUPTS();
		for (int k = 0; k < i; k++)
			if (ids[k] == ids[i])
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("run " INT64_FORMAT " is named twice", ids[i]),
						 errhint("Name each run once, the first is what the others are compared with.")));
		if (run == NULL)
			no_such_run(ids[i]);
		if (first == NULL)
		{
			first = run;
			results = rtb_judge(first);
		}
		else
			check_pair(first, results, run);
	}
	PG_RETURN_ARRAYTYPE_P(array);
}

/* forget(run bigint): one of the caller's own runs with all that is kept of it */
Datum
rtb_sql_forget(PG_FUNCTION_ARGS)
{
	int64		id = PG_GETARG_INT64(0);
	Oid			types[2] = {INT8OID, REGROLEOID};
	Datum		values[2] = {Int64GetDatum(id), ObjectIdGetDatum(GetUserId())};
	int			nestlevel = rtb_ledger_begin();
	int			result;
	uint64		removed;

	result = SPI_execute_with_args("DELETE FROM rtbench.runs WHERE run = $1 AND owner = $2",
								   2, types, values, NULL, false, 0);
	if (result != SPI_OK_DELETE)
		elog(ERROR, "could not remove the run: %s", SPI_result_code_string(result));
	removed = SPI_processed;
	if (removed == 0 &&
		SPI_execute_with_args("DELETE FROM rtbench.loads WHERE run = $1 AND owner = $2",
							  2, types, values, NULL, false, 0) == SPI_OK_DELETE)
		removed = SPI_processed;
	rtb_ledger_end(nestlevel);
	if (removed == 0)
		no_such_run(id);
	PG_RETURN_VOID();
}
