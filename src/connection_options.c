/*
 * connection_options.c
 *	  What libpq knows of options: which may be set, and where.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "connection_private.h"

/*
 * Of the server, of the user, or not to be set: as in dblink.  client_encoding
 * is always the database's; what libpq marks for debugging, and what would have
 * it speak another protocol, is for nobody.
 */
static RtbOptionPlace
place_of(const PQconninfoOption *option)
{
	if (strcmp(option->keyword, "client_encoding") == 0 ||
		strcmp(option->keyword, "replication") == 0 ||
		strchr(option->dispchar, 'D') != NULL)
		return RTB_OPTION_REFUSED;
	if (strcmp(option->keyword, "user") == 0 || strchr(option->dispchar, '*') != NULL)
		return RTB_OPTION_OF_USER;
	return RTB_OPTION_OF_SERVER;
}

static PQconninfoOption *
known_options(void)
{
	/* lasts as long as the process: libpq's own, so not palloc'd */
	static PQconninfoOption *known = NULL;

	if (known == NULL)
		known = PQconndefaults();
	if (known == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Could not get libpq's default connection options.")));
	return known;
}

/*
 * rtb_connection_option
 *		Where an option of this name is to be set.
 */
RtbOptionPlace
rtb_connection_option(const char *name)
{
	for (PQconninfoOption *option = known_options(); option->keyword != NULL; option++)
	{
		if (strcmp(option->keyword, name) == 0)
			return place_of(option);
	}
	return RTB_OPTION_UNKNOWN;
}

/*
 * rtb_connection_option_names
 *		The names of all that may be set there, for a hint; palloc'd.
 */
char *
rtb_connection_option_names(RtbOptionPlace place)
{
	StringInfoData names;

	initStringInfo(&names);
	for (PQconninfoOption *option = known_options(); option->keyword != NULL; option++)
	{
		if (place_of(option) == place)
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", option->keyword);
	}
	return names.data;
}
