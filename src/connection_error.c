/*
 * connection_error.c
 *	  What the far end says: errors and notices, as this server's own.
 *
 * Notices come while libpq reads, where nothing may be thrown: they are put
 * by, a limited number for a pass, and told when an answer has been read.  Where
 * nobody shall be told they are counted, as are their bytes: a client gets them.
 *
 * The far end may have no encoding, or not keep to the one that was asked for:
 * nothing that it says is shown or kept as text before rtb_connection_text().
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "connection_private.h"

/* all fields of a report that libpq keeps */
static const char report_fields[] = {
	PG_DIAG_SEVERITY, PG_DIAG_SEVERITY_NONLOCALIZED, PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY,
	PG_DIAG_MESSAGE_DETAIL, PG_DIAG_MESSAGE_HINT, PG_DIAG_STATEMENT_POSITION,
	PG_DIAG_INTERNAL_POSITION, PG_DIAG_INTERNAL_QUERY, PG_DIAG_CONTEXT, PG_DIAG_SCHEMA_NAME,
	PG_DIAG_TABLE_NAME, PG_DIAG_COLUMN_NAME, PG_DIAG_DATATYPE_NAME, PG_DIAG_CONSTRAINT_NAME,
	PG_DIAG_SOURCE_FILE, PG_DIAG_SOURCE_LINE, PG_DIAG_SOURCE_FUNCTION
};

/*
 * rtb_connection_text
 *		What came from a far end, to be shown: a copy in the current context, in
 *		which each byte that is not valid in this database's encoding is \xHH.
 *		Never throws for what is in it.
 */
char *
rtb_connection_text(const char *bytes)
{
	int			encoding = GetDatabaseEncoding();
	int			left = strlen(bytes);
	StringInfoData text;

	if (likely(pg_verify_mbstr(encoding, bytes, left, true)))
		return pstrdup(bytes);
	initStringInfo(&text);
	while (left > 0)
	{
		int			length = pg_encoding_verifymbchar(encoding, bytes, left);

		if (length > 0)
			appendBinaryStringInfo(&text, bytes, length);
		else
		{
			length = 1;
			appendStringInfo(&text, "\\x%02x", (unsigned char) *bytes);
		}
		bytes += length;
		left -= length;
	}
	return text.data;
}

/*
 * rtb_connection_valid
 *		Is what came from a far end text of this database?
 */
bool
rtb_connection_valid(const char *bytes)
{
	return pg_verify_mbstr(GetDatabaseEncoding(), bytes, strlen(bytes), true);
}

/*
 * Bytes of an ErrorResponse or NoticeResponse.
 */
int64
rtb_connection_report_size(const PGresult *result)
{
	int64		size = RTB_MESSAGE + 1;

	for (int i = 0; i < lengthof(report_fields); i++)
	{
		const char *value = PQresultErrorField(result, report_fields[i]);

		if (value != NULL)
			size += 1 + strlen(value) + 1;
	}
	return size;
}

static int
sqlstate_of(const PGresult *result, int otherwise)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	if (state == NULL || strlen(state) != 5)
		return otherwise;
	return MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]);
}

static int
level_of(const PGresult *result)
{
	const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

	if (severity == NULL)		/* engines of older protocols */
		severity = PQresultErrorField(result, PG_DIAG_SEVERITY);
	if (severity == NULL)
		return NOTICE;
	if (strcmp(severity, "WARNING") == 0)
		return WARNING;
	if (strcmp(severity, "INFO") == 0)
		return INFO;
	if (strcmp(severity, "LOG") == 0 || strcmp(severity, "DEBUG") == 0)
		return DEBUG1;
	return NOTICE;
}

/* a copy that may fail to be made, as nothing may be thrown */
static char *
copy_field(RtbConnection *c, const PGresult *result, int field)
{
	const char *value = PQresultErrorField(result, field);
	char	   *copy;

	if (value == NULL)
		return NULL;
	copy = MemoryContextAllocExtended(c->context, strlen(value) + 1, MCXT_ALLOC_NO_OOM);
	if (copy != NULL)
		strcpy(copy, value);
	return copy;
}

/*
 * libpq's notice receiver.
 */
void
rtb_connection_receive_notice(void *arg, const PGresult *result)
{
	RtbConnection *c = arg;
	RtbNotice  *notice;

	c->traffic.bytes_received += rtb_connection_report_size(result);
	if (c->hushed)
	{
		c->traffic.notices++;
		return;
	}
	if (c->traffic.notices++ >= RTB_TOLD_NOTICES || c->nnotices == RTB_TOLD_NOTICES)
	{
		c->traffic.notices_untold++;
		c->warning_untold |= level_of(result) >= WARNING;
		return;
	}
	notice = &c->notices[c->nnotices++];
	notice->level = level_of(result);
	notice->sqlstate = sqlstate_of(result, ERRCODE_SUCCESSFUL_COMPLETION);
	notice->message = copy_field(c, result, PG_DIAG_MESSAGE_PRIMARY);
	notice->detail = copy_field(c, result, PG_DIAG_MESSAGE_DETAIL);
	notice->hint = copy_field(c, result, PG_DIAG_MESSAGE_HINT);
}

static void
free_field(char *field)
{
	if (field != NULL)
		pfree(field);
}

/* a field that was put by, as text in the current context; or NULL */
static char *
take_field(char *field)
{
	char	   *text = field != NULL ? rtb_connection_text(field) : NULL;

	free_field(field);
	return text;
}

/*
 * Tell what has been put by.
 */
void
rtb_connection_tell_notices(RtbConnection *c)
{
	int			n = c->nnotices;

	c->nnotices = 0;
	for (int i = 0; i < n; i++)
	{
		RtbNotice  *notice = &c->notices[i];
		char	   *message = take_field(notice->message);
		char	   *detail = take_field(notice->detail);
		char	   *hint = take_field(notice->hint);

		ereport(notice->level,
				(errcode(notice->sqlstate),
				 errmsg_internal("%s", message != NULL ? message : "notice without text"),
				 detail != NULL ? errdetail_internal("%s", detail) : 0,
				 hint != NULL ? errhint("%s", hint) : 0,
				 errcontext("connection \"%s\"", c->name)));
		free_field(message);
		free_field(detail);
		free_field(hint);
	}
}

/* a field of the error in the current context, as valid text; or NULL */
static char *
error_field(const PGresult *error, int field)
{
	const char *value = PQresultErrorField(error, field);

	return value != NULL ? rtb_connection_text(value) : NULL;
}

/*
 * libpq's message as valid text in the current context, without its newline.
 */
char *
rtb_connection_message(const RtbConnection *c)
{
	return rtb_connection_text(pchomp(PQerrorMessage(c->pg)));
}

/*
 * Where in query, as it is shown, the far end's position is: 0 if it gave none.
 * Who knows no encoding counts bytes.
 */
static int
position_in(const RtbConnection *c, const char *query, const char *position)
{
	int			at = position != NULL ? atoi(position) : 0;

	if (query == NULL || at <= 0)
		return 0;
	if (c->encoding != PG_SQL_ASCII)
		return at;
	return 1 + pg_mbstrlen(rtb_connection_text(pnstrdup(query, at - 1)));
}

/*
 * Where both ends have an encoding the far end converts what it sends: what it
 * cannot is an error there, even in the middle of telling another.  A hint, or NULL.
 */
static char *
hint_at_encodings(const RtbConnection *c, int sqlstate)
{
	const char *there = PQparameterStatus(c->pg, "server_encoding");

	if (sqlstate != ERRCODE_UNTRANSLATABLE_CHARACTER || there == NULL ||
		c->encoding == PG_SQL_ASCII || pg_char_to_encoding(there) == c->encoding)
		return NULL;
	return psprintf("The far end's encoding is %s, this database's is %s. The far end sends nothing that has no equivalent here: its server log has errors and notices; rows can be compared by check_query => 'SELECT encode(convert_to(..., ''%s''), ''hex'') FROM ...'.",
					there, GetDatabaseEncodingName(), there);
}

/*
 * Throw the far end's error.
 */
void
rtb_connection_throw(RtbConnection *c)
{
	PGresult   *error = c->error;
	char	   *message = error_field(error, PG_DIAG_MESSAGE_PRIMARY);
	char	   *detail = error_field(error, PG_DIAG_MESSAGE_DETAIL);
	char	   *hint = error_field(error, PG_DIAG_MESSAGE_HINT);
	char	   *context = error_field(error, PG_DIAG_CONTEXT);
	char	   *position = error_field(error, PG_DIAG_STATEMENT_POSITION);
	/* values that came from there may stand in it */
	char	   *query = c->text != NULL ? rtb_connection_text(c->text) : NULL;
	int			at = position_in(c, c->text, position);
	int			sqlstate = sqlstate_of(error, ERRCODE_FDW_ERROR);

	if (message == NULL)
		message = rtb_connection_message(c);
	if (hint == NULL)
		hint = hint_at_encodings(c, sqlstate);
	PQclear(error);
	c->error = NULL;
	c->text = NULL;
	if (c->refused_copy)
	{
		c->refused_copy = false;
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot COPY FROM STDIN without rows"),
				 errhint("Send it by protocol copy, or use INSERT.")));
	}
	ereport(ERROR,
			(errcode(sqlstate),
			 errmsg_internal("%s", message),
			 detail != NULL ? errdetail_internal("%s", detail) : 0,
			 hint != NULL ? errhint("%s", hint) : 0,
			 at > 0 ? internalerrposition(at) : 0,
			 at > 0 ? internalerrquery(query) : 0,
			 context != NULL ? errcontext("%s", context) : 0,
			 errcontext("connection \"%s\"", c->name)));
}

static void
throw_lost(const RtbConnection *c, const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_CONNECTION_FAILURE),
			 errmsg("connection \"%s\" was lost", c->name),
			 reason != NULL ? errdetail_internal("%s", reason) : 0));
}

/*
 * rtb_connection_give_up
 *		Throw because it cannot be used any more, with what was said when it was
 *		lost, if it was.
 */
void
rtb_connection_give_up(const RtbConnection *c)
{
	throw_lost(c, c->last_words);
}

/*
 * Throw because the connection is gone; with the far end's last words, if it
 * had any.
 */
void
rtb_connection_lost(RtbConnection *c)
{
	PGresult   *result;
	char	   *message = NULL;
	/* looking for more replaces it */
	char	   *reason = rtb_connection_message(c);

	/* nothing is waited for any more when the socket is gone */
	while (PQstatus(c->pg) != CONNECTION_OK && (result = PQgetResult(c->pg)) != NULL)
	{
		if (c->error == NULL && PQresultErrorField(result, PG_DIAG_SQLSTATE) != NULL)
			c->error = result;
		else
			PQclear(result);
	}
	if (c->error != NULL)
		message = error_field(c->error, PG_DIAG_MESSAGE_PRIMARY);
	if (message == NULL)
		message = reason[0] != '\0' ? reason : rtb_connection_message(c);
	/* it may be noticed again, by whoever tidies up */
	if (message[0] != '\0' && c->last_words == NULL)
		c->last_words = MemoryContextStrdup(c->context, message);
	c->busy = c->copying = false;
	throw_lost(c, c->last_words);
}

/*
 * Throw because no connection could be made.  Closes what there is of it.
 */
void
rtb_connection_refuse(RtbConnection *c, const RtbTarget *target, bool timed_out)
{
	char	   *message = rtb_connection_message(c);
	bool		no_password = PQconnectionNeedsPassword(c->pg);

	rtb_connection_close(c);
	/* libpq says where it was connecting to, and has not come to what is wrong */
	if (timed_out && strlen(message) >= 2 && strcmp(message + strlen(message) - 2, ": ") == 0)
		message = psprintf("%sno answer", message);
	if (timed_out)
		ereport(ERROR,
				(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
				 errmsg("could not connect to \"%s\" within %g s", target->name, target->timeout / 1000.0),
				 message[0] != '\0' ? errdetail_internal("%s", message) : 0,
				 target->is_server ? errhint("The server's option connect_timeout says how long to wait, in seconds.") : 0));
	ereport(ERROR,
			(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
			 errmsg("could not connect to \"%s\"", target->name),
			 errdetail_internal("%s", message),
			 no_password && target->is_server ?
			 errhint("Give the password: ALTER USER MAPPING ... SERVER %s OPTIONS (ADD password '...').", target->name) : 0));
}
