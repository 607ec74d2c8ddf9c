/*
 * servers.c
 *	  Where a connection goes, and as whom: loopbacks and foreign servers.
 *
 * A backend connects as the operating system's user that the server runs as,
 * whom many servers let in as a superuser.  So a role that is no superuser
 * needs a password that the far end asks for, as with dblink and postgres_fdw.
 *
 * Memory: a target is palloc'd in the current context, passwords and all.
 */
#include "postgres.h"

#include <limits.h>

#include "access/reloptions.h"
#include "access/xact.h"
#include "catalog/pg_foreign_data_wrapper.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_user_mapping.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "postmaster/postmaster.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "compat.h"
#include "connection.h"

/* options of our own beside the server's and the mapping's, and the NULL */
#define OWN_OPTIONS		10

PG_FUNCTION_INFO_V1(rtb_fdw_validator);

/* put an option in, or another value for it */
static void
set_option(RtbTarget *target, const char *keyword, const char *value)
{
	int			i = 0;

	while (target->keywords[i] != NULL && strcmp(target->keywords[i], keyword) != 0)
		i++;
	target->keywords[i] = keyword;
	target->values[i] = value;
}

static const char *
get_option(const RtbTarget *target, const char *keyword)
{
	for (int i = 0; target->keywords[i] != NULL; i++)
	{
		if (strcmp(target->keywords[i], keyword) == 0)
			return target->values[i];
	}
	return NULL;
}

static RtbTarget *
make_target(const char *name, bool is_server, int noptions)
{
	RtbTarget  *target = palloc0(sizeof(RtbTarget));

	target->name = pstrdup(name);
	target->is_server = is_server;
	target->timeout = RTB_CONNECT_TIMEOUT;
	target->keywords = palloc0((noptions + OWN_OPTIONS) * sizeof(char *));
	target->values = palloc0((noptions + OWN_OPTIONS) * sizeof(char *));
	return target;
}

static void
set_own_options(RtbTarget *target)
{
	set_option(target, "client_encoding", GetDatabaseEncodingName());
	/* otherwise the environment that this server was started in would name us */
	if (get_option(target, "application_name") == NULL)
		set_option(target, "application_name", "rtbench");
}

/*
 * Is this a transport that leads back to this server?
 */
bool
rtb_target_is_loopback(const char *name)
{
	return strcmp(name, "unix") == 0 || strcmp(name, "tcp") == 0 || strcmp(name, "tls") == 0;
}

/*
 * The first of a list of directories; NULL if there is none.
 */
static char *
first_directory(void)
{
	List	   *directories;

	if (Unix_socket_directories == NULL ||
		!SplitDirectoriesString(pstrdup(Unix_socket_directories), ',', &directories) ||
		directories == NIL)
		return NULL;
	return linitial(directories);
}

/*
 * An address at which this server listens by TCP; NULL if there is none.
 */
static char *
first_address(void)
{
	List	   *addresses;
	char	   *address;

	if (ListenAddresses == NULL ||
		!SplitGUCList(pstrdup(ListenAddresses), ',', &addresses) || addresses == NIL)
		return NULL;
	address = linitial(addresses);
	if (strcmp(address, "*") == 0 || strcmp(address, "0.0.0.0") == 0)
		return "127.0.0.1";
	if (strcmp(address, "::") == 0)
		return "::1";
	return address;
}

/*
 * rtb_target_unreachable
 *		Why this server cannot be reached by a loopback, as far as that can be
 *		told beforehand; NULL if it may work.
 */
char *
rtb_target_unreachable(const char *transport)
{
	if (strcmp(transport, "unix") == 0)
		return first_directory() == NULL ? "this server has no unix socket: unix_socket_directories is empty" : NULL;
	if (first_address() == NULL)
		return "this server listens to no TCP address: listen_addresses is empty";
	if (strcmp(transport, "tls") == 0 && !EnableSSL)
		return "this server has TLS switched off: ssl is off";
	return NULL;
}

/*
 * The commands that let a plain role connect, for hints; none of them shows a
 * password.
 */
static char *
how_to_map(const char *server)
{
	return psprintf("Connect by a password: CREATE USER MAPPING FOR CURRENT_USER SERVER %s OPTIONS (user '...', password '...').",
					quote_identifier(server));
}

/*
 * rtb_target_loopback
 *		This very server, this database, as the current user.
 *
 * Throws 2F003 for who is no superuser, 55000 if the server does not listen so.
 */
RtbTarget *
rtb_target_loopback(const char *transport)
{
	RtbTarget  *target = make_target(transport, false, 0);
	const char *why = rtb_target_unreachable(transport);

	Assert(rtb_target_is_loopback(transport));
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
				 errmsg("password is required"),
				 errdetail("By transport \"%s\" this server would be let in as its own operating system's user, which only a superuser may make use of.",
						   transport),
				 errhint("Have a superuser run CREATE SERVER loopback FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '...', port '%d', dbname '...') and GRANT USAGE ON FOREIGN SERVER loopback TO %s; run CREATE USER MAPPING FOR CURRENT_USER SERVER loopback OPTIONS (user '...', password '...'); and use server => 'loopback'.",
						 PostPortNumber, quote_identifier(GetUserNameFromId(GetUserId(), false)))));
	if (why != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot connect by transport \"%s\"", transport),
				 errdetail_internal("%s", why)));

	set_option(target, "host", strcmp(transport, "unix") == 0 ? first_directory() : first_address());
	set_option(target, "port", psprintf("%d", PostPortNumber));
	set_option(target, "dbname", get_database_name(MyDatabaseId));
	set_option(target, "user", GetUserNameFromId(GetUserId(), false));
	set_option(target, "sslmode", strcmp(transport, "tls") == 0 ? "require" : "disable");
	/* neither tickets nor files of the server's own user decide who connects */
	set_option(target, "gssencmode", "disable");
	set_own_options(target);
	return target;
}

/* the options that libpq knows; the wrapper may have others, for itself */
static void
add_options(RtbTarget *target, List *options, RtbOptionPlace place)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (rtb_connection_option(def->defname) == place)
			set_option(target, def->defname, defGetString(def));
	}
}

/* connect_timeout, which libpq heeds only where it blocks */
static void
take_timeout(RtbTarget *target)
{
	const char *timeout = get_option(target, "connect_timeout");
	char	   *end;
	long		seconds;

	if (timeout == NULL)
		return;
	errno = 0;
	seconds = strtol(timeout, &end, 10);
	if (errno != 0 || *end != '\0' || seconds < 1 || seconds > INT_MAX / 1000)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("invalid value of option \"connect_timeout\": \"%s\"", timeout),
				 errhint("It is a number of seconds, 1 or more.")));
	target->timeout = (int) seconds * 1000;
}

/*
 * A run is known by its transport or its server: a server that is called like
 * a transport, or like this very server, would be taken for it.
 */
static void
refuse_reserved(const char *name)
{
	bool		here = strcmp(name, "local") == 0;

	if (!here && !rtb_target_is_loopback(name) && strcmp(name, "worker") != 0 && strcmp(name, "caller") != 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_RESERVED_NAME),
			 errmsg("server name \"%s\" is reserved", name),
			 here ? errdetail("In servers => '{...}' it is this very server.") :
			 errdetail("It is the name of a transport, transport => '%s'.", name),
			 errhint("A foreign server of this name must be renamed: ALTER SERVER %s RENAME TO ...", quote_identifier(name))));
}

/*
 * rtb_target_server
 *		A foreign server, as its user mapping for the current user says.
 *
 * Throws 42939 for the name of a transport, 42704 for an unknown server or mapping, 42501 without USAGE on the
 * server, 2F003 if who is no superuser has no password in his mapping.
 */
RtbTarget *
rtb_target_server(const char *name)
{
	ForeignServer *server;
	Oid			user = GetUserId();
	UserMapping *mapping;
	RtbTarget  *target;
	AclResult	allowed;
	const char *password;

	refuse_reserved(name);
	server = GetForeignServerByName(name, true);
	if (server == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("server \"%s\" does not exist", name),
				 errhint("Create it: CREATE SERVER %s FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '...', dbname '...'). SELECT srvname FROM pg_foreign_server lists those that exist.",
						 quote_identifier(name))));
	allowed = rtb_foreign_server_aclcheck(server->serverid, user, ACL_USAGE);
	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, OBJECT_FOREIGN_SERVER, name);
	if (!SearchSysCacheExists2(USERMAPPINGUSERSERVER, ObjectIdGetDatum(user), ObjectIdGetDatum(server->serverid)) &&
		!SearchSysCacheExists2(USERMAPPINGUSERSERVER, ObjectIdGetDatum(InvalidOid), ObjectIdGetDatum(server->serverid)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("server \"%s\" has no user mapping for role \"%s\"", name, GetUserNameFromId(user, false)),
				 errhint("%s", how_to_map(name))));
	mapping = GetUserMapping(user, server->serverid);

	target = make_target(name, true, list_length(server->options) + list_length(mapping->options));
	add_options(target, server->options, RTB_OPTION_OF_SERVER);
	add_options(target, mapping->options, RTB_OPTION_OF_USER);
	password = get_option(target, "password");
	target->password_required = !superuser();
	if (target->password_required && (password == NULL || password[0] == '\0'))
		ereport(ERROR,
				(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
				 errmsg("password is required"),
				 errdetail("The user mapping of server \"%s\" has no password, without which only a superuser may connect.", name),
				 errhint("ALTER USER MAPPING FOR CURRENT_USER SERVER %s OPTIONS (ADD password '...').", quote_identifier(name))));
	take_timeout(target);
	/* libpq would take the operating system's user that this server runs as */
	if (get_option(target, "user") == NULL)
		set_option(target, "user", GetUserNameFromId(user, false));
	set_own_options(target);
	return target;
}

/*
 * rtbench_fdw's validator: only what libpq knows, each in its place.
 */
Datum
rtb_fdw_validator(PG_FUNCTION_ARGS)
{
	List	   *options = untransformRelOptions(PG_GETARG_DATUM(0));
	Oid			catalog = PG_GETARG_OID(1);
	RtbOptionPlace here = RTB_OPTION_UNKNOWN;
	ListCell   *lc;

	if (catalog == ForeignServerRelationId)
		here = RTB_OPTION_OF_SERVER;
	else if (catalog == UserMappingRelationId)
		here = RTB_OPTION_OF_USER;
	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		/* the option's name only: its value may be a password */
		if (here == RTB_OPTION_UNKNOWN || rtb_connection_option(def->defname) != here)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_OPTION_NAME_NOT_FOUND),
					 errmsg("invalid option \"%s\"", def->defname),
					 here == RTB_OPTION_UNKNOWN ? errhint("There are no valid options in this context.") :
					 errhint("Valid options in this context are: %s", rtb_connection_option_names(here))));
		if (strcmp(def->defname, "connect_timeout") == 0)
		{
			RtbTarget  *probe = make_target("", true, 1);

			set_option(probe, def->defname, defGetString(def));
			take_timeout(probe);
		}
	}
	PG_RETURN_VOID();
}
