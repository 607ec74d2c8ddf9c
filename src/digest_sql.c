/*
 * digest_sql.c
 *	  The digests' SQL face: rtbench.digest and its like.
 *
 * Queries run through SPI as the calling role, and their rows go straight to
 * the digest: none is kept but, for digest_compare, its hash.
 *
 * Memory: digests and results are in the function's own context; SPI's is gone
 * before it returns.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"

#include "digest.h"

PG_FUNCTION_INFO_V1(rtb_sql_digest);
PG_FUNCTION_INFO_V1(rtb_sql_digest_compare);
PG_FUNCTION_INFO_V1(rtb_sql_digest_tables);
PG_FUNCTION_INFO_V1(rtb_sql_digest_text_rows);

#define ROWS_HINT \
	errhint("Give one SELECT, VALUES or TABLE, or one INSERT, UPDATE or DELETE with RETURNING.")

/*
 * Check that a plan is one statement that returns rows.  Returns whether it
 * only reads, by the rules of CommandIsReadOnly.
 */
static bool
check_plan(SPIPlanPtr plan)
{
	List	   *sources = SPI_plan_get_plan_sources(plan);
	CachedPlanSource *source;
	Query	   *query;

	if (list_length(sources) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("cannot digest an empty query"),
				 ROWS_HINT));
	if (list_length(sources) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("cannot digest several statements at once"),
				 ROWS_HINT));

	source = linitial(sources);
	query = source->query_list == NIL ? NULL : linitial_node(Query, source->query_list);
	if (query != NULL && query->commandType == CMD_UTILITY)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot digest the rows of %s",
						GetCommandTagName(CreateCommandTag(query->utilityStmt))),
				 ROWS_HINT));
	if (source->resultDesc == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("cannot digest %s, which returns no rows",
						GetCommandTagName(source->commandTag)),
				 ROWS_HINT));

	return list_length(source->query_list) == 1 && query->commandType == CMD_SELECT &&
		query->rowMarks == NIL && !query->hasModifyingCTE;
}

/*
 * Run a query and digest its rows; SPI must be connected.
 *
 * A query that only reads sees what the calling statement sees, so that two
 * of them in one call see the same.  must_read refuses others.
 */
static void
digest_query(const char *text, bool must_read, RtbDigest *digest, Tuplestorestate *row_hashes)
{
	SPIPlanPtr	plan = SPI_prepare_cursor(text, 0, NULL, CURSOR_OPT_PARALLEL_OK);
	SPIExecuteOptions options = {0};
	int			result;

	if (plan == NULL)
		elog(ERROR, "SPI_prepare_cursor failed: %s", SPI_result_code_string(SPI_result));

	options.read_only = check_plan(plan);
	if (must_read && !options.read_only)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot compare queries that write or lock rows"),
				 errdetail("Both queries must see the same state."),
				 errhint("Use rtbench.digest for each.")));
	options.must_return_tuples = true;
	options.dest = rtb_digest_receiver(digest, row_hashes);
	result = SPI_execute_plan_extended(plan, &options);
	if (result < 0)
		elog(ERROR, "SPI_execute_plan_extended failed: %s", SPI_result_code_string(result));
	options.dest->rDestroy(options.dest);
	SPI_freeplan(plan);
}

static Datum
text_array(Datum *texts, int count)
{
	return PointerGetDatum(construct_array(texts, count, TEXTOID, -1, false, TYPALIGN_INT));
}

/*
 * The result row of rtbench.digest.
 */
static Datum
digest_result(FunctionCallInfo fcinfo, const RtbDigest *digest)
{
	TupleDesc	desc;
	Datum		values[4];
	bool		nulls[4] = {false};
	Datum	   *names = palloc(Max(digest->ncolumns, 1) * sizeof(Datum));
	Datum	   *sums = palloc(Max(digest->ncolumns, 1) * sizeof(Datum));

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	for (int i = 0; i < digest->ncolumns; i++)
	{
		const char *name = digest->columns[i];

		names[i] = CStringGetTextDatum(name ? name : psprintf("column %d", i + 1));
		sums[i] = CStringGetTextDatum(psprintf("%016llx",
											   (unsigned long long) digest->column_sums[i]));
	}
	values[0] = Int64GetDatum((int64) digest->rows);
	values[1] = CStringGetTextDatum(rtb_digest_text(digest));
	values[2] = text_array(names, digest->ncolumns);
	values[3] = text_array(sums, digest->ncolumns);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

/*
 * rtbench.digest(query text): digest of the rows a query returns.
 */
Datum
rtb_sql_digest(PG_FUNCTION_ARGS)
{
	char	   *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	RtbDigest	digest;

	rtb_digest_init(&digest);
	SPI_connect();
	digest_query(query, false, &digest, NULL);
	SPI_finish();
	PG_RETURN_DATUM(digest_result(fcinfo, &digest));
}

/*
 * rtbench.digest_compare(query_a text, query_b text): are the rows the same,
 * and if not, which columns differ and how many rows does each have alone?
 */
Datum
rtb_sql_digest_compare(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Datum		values[6];
	bool		nulls[6] = {false};
	RtbDigest	digests[2];
	Tuplestorestate *hashes[2];
	uint64		only_a = 0;
	uint64		only_b = 0;
	List	   *differing;
	Datum	   *names;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	for (int i = 0; i < 2; i++)
	{
		rtb_digest_init(&digests[i]);
		hashes[i] = tuplestore_begin_heap(false, false, work_mem);
	}
	SPI_connect();
	for (int i = 0; i < 2; i++)
		digest_query(text_to_cstring(PG_GETARG_TEXT_PP(i)), true, &digests[i], hashes[i]);
	SPI_finish();

	differing = rtb_digest_differing_list(&digests[0], &digests[1]);
	if (differing != NIL)
		rtb_row_hashes_compare(hashes[0], hashes[1], &only_a, &only_b);
	for (int i = 0; i < 2; i++)
		tuplestore_end(hashes[i]);

	names = palloc(Max(list_length(differing), 1) * sizeof(Datum));
	for (int i = 0; i < list_length(differing); i++)
		names[i] = CStringGetTextDatum(list_nth(differing, i));
	values[0] = BoolGetDatum(differing == NIL);
	values[1] = Int64GetDatum((int64) digests[0].rows);
	values[2] = Int64GetDatum((int64) digests[1].rows);
	values[3] = Int64GetDatum((int64) only_a);
	values[4] = Int64GetDatum((int64) only_b);
	values[5] = text_array(names, list_length(differing));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/*
 * rtbench.digest_tables(VARIADIC tables regclass[]): one digest of several
 * tables' rows.
 */
Datum
rtb_sql_digest_tables(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	Datum	   *elements;
	bool	   *nulls;
	int			count;
	RtbDigest	total;

	rtb_digest_init(&total);
	deconstruct_array(array, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT,
					  &elements, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		Oid			table = DatumGetObjectId(elements[i]);
		char	   *name = nulls[i] ? NULL : get_rel_name(table);
		char	   *schema;
		RtbDigest	part;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("table must not be null")));
		if (name == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("relation with OID %u does not exist", table)));
		schema = get_namespace_name(get_rel_namespace(table));

		rtb_digest_init(&part);
		SPI_connect();
		digest_query(psprintf("SELECT * FROM %s", quote_qualified_identifier(schema, name)), true, &part, NULL);
		SPI_finish();
		rtb_digest_combine(&total, rtb_digest_label(schema, name), &part);
	}
	PG_RETURN_DATUM(digest_result(fcinfo, &total));
}

/*
 * rtbench.digest_text_rows(rows text[]): digest of rows given as text forms,
 * one in each slice of the array.
 */
Datum
rtb_sql_digest_text_rows(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	Datum	   *elements;
	bool	   *nulls;
	int			count;
	int			width;
	char	  **row;
	int		   *lengths;
	RtbDigest	digest;

	rtb_digest_init(&digest);
	if (ARR_NDIM(array) != 0 && ARR_NDIM(array) != 2)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array of rows must have two dimensions, not %d", ARR_NDIM(array)),
				 errhint("Give an array of arrays, one for each row.")));

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
	width = count > 0 ? ARR_DIMS(array)[1] : 1;
	row = palloc(width * sizeof(char *));
	lengths = palloc(width * sizeof(int));
	for (int i = 0; i < count; i += width)
	{
		CHECK_FOR_INTERRUPTS();
		for (int j = 0; j < width; j++)
		{
			struct varlena *bytes = (struct varlena *) DatumGetPointer(elements[i + j]);

			row[j] = nulls[i + j] ? NULL : VARDATA_ANY(bytes);
			lengths[j] = nulls[i + j] ? 0 : VARSIZE_ANY_EXHDR(bytes);
		}
		(void) rtb_digest_add_text_row(&digest, width, row, lengths);
	}
	PG_RETURN_DATUM(digest_result(fcinfo, &digest));
}
