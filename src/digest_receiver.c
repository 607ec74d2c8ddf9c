/*
 * digest_receiver.c
 *	  Rows of the executor into a digest: text forms, settings, row hashes.
 *
 * Text forms must not depend on what the session or an arm has SET, and the
 * query that makes the rows must run under just those settings.  So only the
 * output is pinned: rows whose text may depend on a setting are held back, a
 * batch at a time, and written with the settings pinned around the batch.
 * Rows of types that no setting touches are written at once.
 *
 * Memory: a receiver is allocated in the context that is current when it is
 * made, with three contexts below it: "setup" (output functions, from start to
 * the next start), "batch" (rows held back, at most BATCH_BYTES and one row
 * more), "row" (one row's text forms, reset for each row).  rDestroy frees all.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include "compat.h"
#include "digest.h"
#include "own_sql.h"

/* rows held back before they are written under pinned settings */
#define BATCH_ROWS	1000
#define BATCH_BYTES	(256 * 1024)

/* how a column's text form is made */
typedef enum TextForm
{
	TEXT_BY_FUNCTION,
	TEXT_INT4,
	TEXT_INT8,
	TEXT_BOOL,
	TEXT_FLOAT4,
	TEXT_FLOAT8,
	TEXT_VARLENA				/* the bytes themselves: text, varchar, bpchar */
} TextForm;

typedef struct OutputColumn
{
	TextForm	form;
	FmgrInfo	output;
} OutputColumn;

typedef struct DigestReceiver
{
	DestReceiver pub;
	RtbDigest  *digest;
	Tuplestorestate *row_hashes;	/* or NULL */

	MemoryContext setup_context;
	MemoryContext batch_context;
	MemoryContext row_context;

	OutputColumn *columns;
	bool		pinned;			/* must settings be pinned for these columns? */
	TupleTableSlot *batch_slot;
	MinimalTuple *batch;
	int			batch_rows;
	Size		batch_bytes;
} DigestReceiver;

/*
 * The settings that text forms depend on.  A session whose rows come over a
 * wire must SET the same.
 */
const RtbSetting rtb_digest_settings[] = {
	{"DateStyle", "ISO, YMD"},
	{"IntervalStyle", "postgres"},
	{"TimeZone", "UTC"},
	{"extra_float_digits", "1"},
	{"bytea_output", "hex"},
	{"lc_monetary", "C"},
	{"xmlbinary", "base64"},
	{"quote_all_identifiers", "off"},
	{NULL, NULL}
};

static void
pin_setting(const char *name, const char *value)
{
	if (rtb_own_is_far())
	{
		rtb_set_local(name, value);
		return;
	}
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, ERROR, false);
}

/*
 * Pin rtb_digest_settings until rtb_digest_unpin_settings is called with the
 * level that this returns, or the (sub)transaction aborts.  Allowed in
 * parallel mode.
 *
 * The receiver does this itself around its output.  A caller needs it where
 * the query too is to run under these settings, so that what it formats does
 * not depend on the session.  search_path is left alone: the query needs it.
 */
int
rtb_digest_pin_settings(void)
{
	int			nestlevel = rtb_own_nest();

	for (const RtbSetting *setting = rtb_digest_settings; setting->name != NULL; setting++)
		pin_setting(setting->name, setting->value);
	return nestlevel;
}

/*
 * Put back what rtb_digest_pin_settings changed.
 */
void
rtb_digest_unpin_settings(int nestlevel)
{
	rtb_own_end(nestlevel);
}

/*
 * Choose how a column's text is made.  Returns whether it may depend on a
 * setting: so does everything not known to be free of that.
 */
static bool
choose_output(Oid type, OutputColumn *column, MemoryContext context)
{
	Oid			function;
	bool		is_varlena;

	getTypeOutputInfo(type, &function, &is_varlena);
	fmgr_info_cxt(function, &column->output, context);

	/* domains have their base type's output function */
	column->form = TEXT_BY_FUNCTION;
	switch (function)
	{
		case F_INT4OUT:
			column->form = TEXT_INT4;
			return false;
		case F_INT8OUT:
			column->form = TEXT_INT8;
			return false;
		case F_BOOLOUT:
			column->form = TEXT_BOOL;
			return false;
		case F_FLOAT4OUT:
			column->form = TEXT_FLOAT4;
			return true;
		case F_FLOAT8OUT:
			column->form = TEXT_FLOAT8;
			return true;
		case F_TEXTOUT:
		case F_VARCHAROUT:
		case F_BPCHAROUT:
			column->form = TEXT_VARLENA;
			return false;
		case F_INT2OUT:
		case F_OIDOUT:
		case F_NUMERIC_OUT:
		case F_NAMEOUT:
		case F_CHAROUT:
		case F_UUID_OUT:
		case F_JSON_OUT:
		case F_JSONB_OUT:
			return false;
		default:
			return true;
	}
}

/*
 * Digest one column's value.  Text forms that need memory take it from the
 * current context, which the caller resets.
 */
static void
digest_value(RtbDigest *digest, int column, const OutputColumn *output, Datum value)
{
	char		number[MAXINT8LEN + 1];
	char	   *text;
	int			length;

	switch (output->form)
	{
		case TEXT_INT4:
			length = pg_ltoa(DatumGetInt32(value), number);
			rtb_digest_row_value(digest, column, number, length);
			break;
		case TEXT_INT8:
			length = pg_lltoa(DatumGetInt64(value), number);
			rtb_digest_row_value(digest, column, number, length);
			break;
		case TEXT_BOOL:
			rtb_digest_row_value(digest, column, DatumGetBool(value) ? "t" : "f", 1);
			break;
		case TEXT_VARLENA:
			{
				struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);

				rtb_digest_row_value(digest, column, VARDATA_ANY(bytes),
									 VARSIZE_ANY_EXHDR(bytes));
			}
			break;
		case TEXT_FLOAT4:
		case TEXT_FLOAT8:
		case TEXT_BY_FUNCTION:
			text = OutputFunctionCall((FmgrInfo *) &output->output, value);
			rtb_digest_row_value(digest, column, text, strlen(text));
			if (output->form == TEXT_FLOAT4)
				rtb_digest_row_float(digest, column, DatumGetFloat4(value));
			else if (output->form == TEXT_FLOAT8)
				rtb_digest_row_float(digest, column, DatumGetFloat8(value));
			break;
	}
}

/*
 * Digest the row in a slot, under the settings in force.
 */
static void
digest_slot(DigestReceiver *self, TupleTableSlot *slot)
{
	RtbDigest  *digest = self->digest;
	MemoryContext caller = MemoryContextSwitchTo(self->row_context);
	RtbHash128	hash;

	slot_getallattrs(slot);
	rtb_digest_row_begin(digest);
	for (int i = 0; i < digest->ncolumns; i++)
	{
		if (slot->tts_isnull[i])
			rtb_digest_row_null(digest, i);
		else
			digest_value(digest, i, &self->columns[i], slot->tts_values[i]);
	}
	hash = rtb_digest_row_end(digest);
	if (self->row_hashes != NULL)
		rtb_row_hash_put(self->row_hashes, hash);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(self->row_context);
}

/*
 * Digest the rows that were held back, with all settings pinned.
 */
static void
flush_batch(DigestReceiver *self)
{
	int			nestlevel;

	if (self->batch_rows == 0)
		return;

	nestlevel = rtb_digest_pin_settings();
	/* regclass and its like write a schema's name when search_path lacks it */
	pin_setting("search_path", "pg_catalog, pg_temp");

	for (int i = 0; i < self->batch_rows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		ExecStoreMinimalTuple(self->batch[i], self->batch_slot, false);
		digest_slot(self, self->batch_slot);
	}
	ExecClearTuple(self->batch_slot);
	rtb_digest_unpin_settings(nestlevel);

	MemoryContextReset(self->batch_context);
	self->batch_rows = 0;
	self->batch_bytes = 0;
}

static bool
receive_slot(TupleTableSlot *slot, DestReceiver *receiver)
{
	DigestReceiver *self = (DigestReceiver *) receiver;
	MemoryContext caller;
	MinimalTuple tuple;

	if (!self->pinned)
	{
		CHECK_FOR_INTERRUPTS();
		digest_slot(self, slot);
		return true;
	}

	caller = MemoryContextSwitchTo(self->batch_context);
	tuple = ExecCopySlotMinimalTuple(slot);
	MemoryContextSwitchTo(caller);
	self->batch[self->batch_rows++] = tuple;
	self->batch_bytes += tuple->t_len;
	if (self->batch_rows == BATCH_ROWS || self->batch_bytes >= BATCH_BYTES)
		flush_batch(self);
	return true;
}

static void
receive_start(DestReceiver *receiver, int operation, TupleDesc desc)
{
	DigestReceiver *self = (DigestReceiver *) receiver;
	MemoryContext caller;
	char	  **names;

	MemoryContextReset(self->batch_context);
	self->batch_rows = 0;
	self->batch_bytes = 0;

	MemoryContextReset(self->setup_context);
	caller = MemoryContextSwitchTo(self->setup_context);
	self->columns = palloc0(Max(desc->natts, 1) * sizeof(OutputColumn));
	names = palloc(Max(desc->natts, 1) * sizeof(char *));
	self->pinned = false;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		names[i] = NameStr(attribute->attname);
		if (choose_output(attribute->atttypid, &self->columns[i], self->setup_context))
			self->pinned = true;
	}
	rtb_digest_set_columns(self->digest, desc->natts, names);
	if (self->pinned)
	{
		self->batch = palloc(BATCH_ROWS * sizeof(MinimalTuple));
		self->batch_slot = MakeSingleTupleTableSlot(CreateTupleDescCopy(desc),
													&TTSOpsMinimalTuple);
	}
	MemoryContextSwitchTo(caller);
}

static void
receive_end(DestReceiver *receiver)
{
	flush_batch((DigestReceiver *) receiver);
}

static void
receive_destroy(DestReceiver *receiver)
{
	DigestReceiver *self = (DigestReceiver *) receiver;

	MemoryContextDelete(self->setup_context);
	MemoryContextDelete(self->batch_context);
	MemoryContextDelete(self->row_context);
	pfree(self);
}

/*
 * A receiver that adds every row to a digest, and every row's hash as a uuid
 * to row_hashes if that is not NULL (a tuplestore of rtb_row_hash_tupdesc
 * rows, made by the caller).  It may be started several times, on rows of the
 * same width.  The receiver lives in the current memory context; the digest is
 * complete when it has been shut down.  Throws what output functions throw.
 */
DestReceiver *
rtb_digest_receiver(RtbDigest *digest, Tuplestorestate *row_hashes)
{
	DigestReceiver *self = palloc0(sizeof(DigestReceiver));

	self->pub.receiveSlot = receive_slot;
	self->pub.rStartup = receive_start;
	self->pub.rShutdown = receive_end;
	self->pub.rDestroy = receive_destroy;
	self->pub.mydest = DestTuplestore;	/* keeps rows; no code of the server's looks closer */

	self->digest = digest;
	self->row_hashes = row_hashes;
	self->setup_context = AllocSetContextCreate(CurrentMemoryContext, "rtbench digest setup",
												ALLOCSET_SMALL_SIZES);
	self->batch_context = AllocSetContextCreate(CurrentMemoryContext, "rtbench digest batch",
												ALLOCSET_DEFAULT_SIZES);
	self->row_context = AllocSetContextCreate(CurrentMemoryContext, "rtbench digest row",
											  ALLOCSET_DEFAULT_SIZES);
	return &self->pub;
}
