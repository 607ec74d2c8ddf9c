/*
 * outside.c
 *	  Definitions that a transaction changes outside a scratch schema.
 *
 * The locks that a transaction holds tell which relations it wrote, but not that
 * it dropped one, nor what it did to objects that nobody locks: functions,
 * schemas, types, roles, large objects, privileges.  Hooks note those while they
 * happen; what became of them is looked up before the transaction commits, so
 * that what a savepoint has undone does not count.
 *
 * The hooks are in between rtb_outside_begin() and rtb_outside_end() only, as one
 * of them is called for every function that a statement is going to call.
 *
 * Memory: notes lie in a context of their own, until the transaction ends.
 */
#include "postgres.h"

#include "outside.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_largeobject.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_trigger.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"

typedef enum ChangeKind
{
	CHANGE_CREATED,
	CHANGE_ALTERED,
	CHANGE_DROPPED,
	CHANGE_SHARED				/* no object of a schema, whatever it is */
} ChangeKind;

typedef struct Change
{
	ChangeKind	kind;
	ObjectAddress object;
	Oid			schema;			/* of a dropped one, while it was there */
	char	   *name;			/* the same, and of CHANGE_SHARED */
} Change;

static MemoryContext notes_cxt = NULL;
static List *changes = NIL;
static bool active = false;
static bool installed = false;
static object_access_hook_type previous_object_access = NULL;
static ProcessUtility_hook_type previous_ProcessUtility = NULL;

/* parts of relations, which are locked when they change, and of operator classes */
static bool
is_part(Oid class_id)
{
	switch (class_id)
	{
		case AttrDefaultRelationId:
		case ConstraintRelationId:
		case TriggerRelationId:
		case RewriteRelationId:
		case PolicyRelationId:
		case IndexRelationId:
		case InheritsRelationId:
		case AccessMethodOperatorRelationId:
		case AccessMethodProcedureRelationId:
			return true;
		default:
			return false;
	}
}

/*
 * The schema of an object; for a schema itself.  InvalidOid with *found if it is
 * in none.
 */
static Oid
schema_of(Oid class_id, Oid object_id, bool *found)
{
	Relation	catalog;
	HeapTuple	tuple;
	AttrNumber	attribute;
	Oid			schema = InvalidOid;
	bool		isnull;

	*found = true;
	if (class_id == LargeObjectRelationId)
		*found = LargeObjectExists(object_id);
	if (!is_objectclass_supported(class_id))
		return InvalidOid;
	catalog = table_open(class_id, AccessShareLock);
	tuple = get_catalog_object_by_oid(catalog, get_object_attnum_oid(class_id), object_id);
	*found = HeapTupleIsValid(tuple);
	attribute = get_object_attnum_namespace(class_id);
	if (*found && class_id == NamespaceRelationId)
		schema = object_id;
	else if (*found && attribute != InvalidAttrNumber)
		schema = DatumGetObjectId(heap_getattr(tuple, attribute, RelationGetDescr(catalog), &isnull));
	table_close(catalog, AccessShareLock);
	return schema;
}

static void
note(ChangeKind kind, Oid class_id, Oid object_id, const char *name)
{
	MemoryContext old;
	Change	   *change;
	bool		found;

	if (notes_cxt == NULL)
		notes_cxt = AllocSetContextCreate(TopMemoryContext, "rtbench changes outside",
										  ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(notes_cxt);
	change = palloc0(sizeof(Change));
	change->kind = kind;
	ObjectAddressSet(change->object, class_id, object_id);
	if (kind == CHANGE_DROPPED)
	{
		change->schema = schema_of(class_id, object_id, &found);
		change->name = getObjectDescription(&change->object, true);
	}
	else if (name != NULL)
		change->name = pstrdup(name);
	changes = lappend(changes, change);
	MemoryContextSwitchTo(old);
}

static void
rtb_object_access(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id, void *arg)
{
	if (previous_object_access)
		previous_object_access(access, class_id, object_id, sub_id, arg);
	if (!active || is_part(class_id))
		return;
	if (access == OAT_DROP && sub_id == 0)
		note(CHANGE_DROPPED, class_id, object_id, NULL);
	else if (access == OAT_POST_CREATE && sub_id == 0)
		note(CHANGE_CREATED, class_id, object_id, NULL);
	else if (access == OAT_POST_ALTER && class_id != RelationRelationId)
		note(CHANGE_ALTERED, class_id, object_id, NULL);
}

/* whose privileges are about to change: nothing else tells */
static void
note_grant(const GrantStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->objects)
	{
		if (stmt->targtype == ACL_TARGET_ALL_IN_SCHEMA)
			note(CHANGE_ALTERED, NamespaceRelationId, get_namespace_oid(strVal(lfirst(lc)), true), "all");
		else if (stmt->objtype == OBJECT_TABLE || stmt->objtype == OBJECT_SEQUENCE)
			note(CHANGE_ALTERED, RelationRelationId,
				 RangeVarGetRelid(lfirst_node(RangeVar, lc), NoLock, true), NULL);
		else if (stmt->objtype == OBJECT_FUNCTION || stmt->objtype == OBJECT_PROCEDURE ||
				 stmt->objtype == OBJECT_ROUTINE)
		{
			Relation	relation;
			ObjectAddress function = get_object_address(stmt->objtype, lfirst(lc), &relation,
														AccessShareLock, true);

			note(CHANGE_ALTERED, function.classId, function.objectId, NULL);
		}
		else
			note(CHANGE_SHARED, InvalidOid, InvalidOid, "privileges");
	}
}

/* nor of what gets a comment, unless that is a relation or a part of one, which are locked */
static void
note_comment(const CommentStmt *stmt)
{
	Relation	relation = NULL;
	ObjectAddress object = get_object_address(stmt->objtype, stmt->object, &relation,
											  AccessShareLock, true);

	if (relation != NULL)
		relation_close(relation, NoLock);
	else if (OidIsValid(object.objectId) && !is_part(object.classId))
		note(CHANGE_ALTERED, object.classId, object.objectId, NULL);
}

static void
rtb_ProcessUtility(PlannedStmt *pstmt, const char *source, bool read_only_tree,
				   ProcessUtilityContext context, ParamListInfo params,
				   QueryEnvironment *env, DestReceiver *dest, QueryCompletion *qc)
{
	const Node *stmt = pstmt->utilityStmt;

	if (active && IsA(stmt, GrantStmt))
		note_grant((const GrantStmt *) stmt);
	else if (active && IsA(stmt, CommentStmt))
		note_comment((const CommentStmt *) stmt);
	else if (active && IsA(stmt, GrantRoleStmt))
		note(CHANGE_SHARED, InvalidOid, InvalidOid, "memberships in roles");
	if (previous_ProcessUtility)
		previous_ProcessUtility(pstmt, source, read_only_tree, context, params, env, dest, qc);
	else
		standard_ProcessUtility(pstmt, source, read_only_tree, context, params, env, dest, qc);
}

/*
 * rtb_outside_begin
 *		Note changes from here on.
 */
void
rtb_outside_begin(void)
{
	rtb_outside_forget();
	active = true;
	if (installed)
		return;
	previous_object_access = object_access_hook;
	object_access_hook = rtb_object_access;
	previous_ProcessUtility = ProcessUtility_hook;
	ProcessUtility_hook = rtb_ProcessUtility;
	installed = true;
}

/*
 * rtb_outside_end
 *		No more; at any time, throws nothing.  A hook that another one has been put
 *		upon stays in, and only passes on.
 */
void
rtb_outside_end(void)
{
	rtb_outside_forget();
	active = false;
	if (!installed || object_access_hook != rtb_object_access || ProcessUtility_hook != rtb_ProcessUtility)
		return;
	object_access_hook = previous_object_access;
	ProcessUtility_hook = previous_ProcessUtility;
	installed = false;
}

/*
 * rtb_outside_forget
 *		The transaction has ended; throws nothing.
 */
void
rtb_outside_forget(void)
{
	changes = NIL;
	if (notes_cxt != NULL)
		MemoryContextReset(notes_cxt);
}

static bool
was_created(const Change *change)
{
	ListCell   *lc;

	foreach(lc, changes)
	{
		const Change *other = lfirst(lc);

		if (other->kind == CHANGE_CREATED && other->object.classId == change->object.classId &&
			other->object.objectId == change->object.objectId)
			return true;
	}
	return false;
}

/* may the setup's schema, or the session's temporary one, hold it? */
static bool
is_inside(const Change *change, Oid schema, Oid scratch)
{
	/* the schema that is changed itself, not what is in it */
	if (change->object.classId == NamespaceRelationId && schema == scratch)
		return change->name != NULL && change->kind == CHANGE_ALTERED;
	return (OidIsValid(schema) && schema == scratch) || IsToastNamespace(schema) || isTempOrTempToastNamespace(schema);
}

static bool
is_outside(const Change *change, Oid scratch)
{
	Oid			schema;
	bool		found;

	if (change->kind == CHANGE_SHARED)
		return true;
	schema = schema_of(change->object.classId, change->object.objectId, &found);
	if (change->kind == CHANGE_DROPPED)
		return (!found || !is_objectclass_supported(change->object.classId)) &&
			!was_created(change) && !is_inside(change, change->schema, scratch);
	/* relations are told by their locks, but for their privileges */
	if (!found || (change->kind == CHANGE_CREATED && change->object.classId == RelationRelationId))
		return false;
	return !is_inside(change, schema, scratch);
}

static char *
describe(const Change *change)
{
	char	   *name = NULL;

	if (change->kind == CHANGE_DROPPED || change->kind == CHANGE_SHARED)
		name = change->name ? pstrdup(change->name) : NULL;
	else if (change->object.classId == LargeObjectRelationId)
		name = psprintf("large object %u", change->object.objectId);
	else if (is_objectclass_supported(change->object.classId))
		name = getObjectDescription(&change->object, true);
	return name != NULL ? name : pstrdup("what is in no schema");
}

/*
 * rtb_outside_changed
 *		Something changed that will be committed and is not in the schema: its
 *		description in the current memory context, or NULL.  In the transaction.
 */
char *
rtb_outside_changed(Oid scratch)
{
	const Change *found = NULL;
	ListCell   *lc;

	foreach(lc, changes)
	{
		const Change *change = lfirst(lc);

		if (!is_outside(change, scratch))
			continue;
		/* what goes with a relation, its type say, stands before it */
		if (found == NULL || change->object.classId == RelationRelationId)
			found = change;
		if (found->object.classId == RelationRelationId)
			break;
	}
	return found != NULL ? describe(found) : NULL;
}
