/*
 * scenario.h
 *	  Scenarios, arms and steps: from their jsonb documents, validated.
 */
#ifndef RTB_SCENARIO_H
#define RTB_SCENARIO_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/array.h"
#include "utils/jsonb.h"

#include "protocol.h"

typedef enum RtbStepKind
{
	RTB_STEP_STATEMENT,			/* a text that is sent: one message */
	RTB_STEP_FOREACH,			/* a driver query whose rows run the body */
	RTB_STEP_GENERATED,			/* a query whose values are texts to send */
	RTB_STEP_COPY				/* a driver query whose rows a COPY FROM STDIN gets */
} RtbStepKind;

/* a subtransaction around each execution of a statement */
typedef enum RtbSubxact
{
	RTB_SUBXACT_NONE,
	RTB_SUBXACT_INTERNAL,		/* begun and released in C, as an EXCEPTION block does */
	RTB_SUBXACT_SAVEPOINT		/* SAVEPOINT and RELEASE sent as statements */
} RtbSubxact;

/* how an arm's pass ends */
typedef enum RtbEnding
{
	RTB_ENDING_ROLLBACK,
	RTB_ENDING_COMMIT,			/* one transaction, or those that commit_every makes */
	RTB_ENDING_AUTOCOMMIT		/* every message is a transaction of its own */
} RtbEnding;

typedef struct RtbStep
{
	RtbStepKind kind;
	int			id;				/* ordinal in the arm, depth first, from 1 */
	char	   *text;			/* statement text, driver query, or generating query */
	char	   *copy;			/* COPY ... FROM STDIN; NULL of other kinds */
	List	   *statements;		/* of char *: the text split by the parser, never empty */
	int			nparams;		/* highest $n in the text, 0 if none */
	List	   *types;			/* of char *: types => given, NIL to let the server infer */
	bool		plans_kept;		/* plans => 'kept' */
	RtbSubxact	subtransaction; /* of a statement only */
	int64		commit_every;	/* driver rows of a foreach to a transaction, 0: none ends there */
	int			if_column;		/* boolean column of the driver's row that decides, 0: none */
	List	   *body;			/* of RtbStep *, of a foreach only */
} RtbStep;

typedef struct RtbArm
{
	char	   *name;
	char	   *description;	/* or NULL */
	List	   *before;			/* of char *: statements run untimed in each pass's transaction */
	List	   *steps;			/* of RtbStep *, never empty */
	RtbEnding	ending;
	bool		savepoints;		/* SAVEPOINT and the like are among its statements */
	bool		copies;			/* COPY FROM STDIN is among its steps */
	/* over a connection; the run's own where they are not set */
	RtbProtocol protocol;
	int			batch;			/* 0: not set */
	int			fetch_size;
} RtbArm;

/* one point of a scenario, every parameter filled in: all that a session needs */
typedef struct RtbWork
{
	bool		has_point;
	int64		point;
	List	   *setup;			/* of char *: single statements; NIL: the user's own tables */
	char	   *check_query;	/* or NULL */
	List	   *arms;			/* of RtbArm * */
} RtbWork;

typedef struct RtbScenario
{
	char	   *name;			/* "compare" for ad hoc */
	char	   *owner;			/* role name, NULL for built-ins and ad hoc */
	bool		builtin;
	int64		id;				/* key of its row, 0 for ad hoc */
	Oid			owner_id;		/* or InvalidOid */
	char	   *description;
	char	   *setup;			/* text or NULL */
	char	   *check_query;	/* text or NULL */
	char	   *swept;			/* parameter's name, or NULL */
	List	   *points;			/* of int64 * */
	Jsonb	   *parameters;		/* defaults: an object */
	List	   *known;			/* of char *: every parameter's name, swept's included */
	List	   *arm_names;		/* of char * */
	List	   *arm_documents;	/* of Jsonb * */
} RtbScenario;

/* scenario_catalog.c */
/* resolve a name as the current role does: own, then built-in, or owner.name */
extern RtbScenario *rtb_scenario_load(const char *name);

/* scenario.c */
/* an ad hoc scenario made of arm documents (compare); validates everything */
extern RtbScenario *rtb_scenario_ad_hoc(const char *setup, const char *check_query,
										const char *swept, List *points,
										Jsonb *parameters, List *arm_documents);
/* error for anything in it that could not be run */
extern void rtb_scenario_validate(RtbScenario *scenario);
/* keep only the named arms, in the order named; unknown or repeated names are errors */
extern void rtb_scenario_choose_arms(RtbScenario *scenario, List *arm_names);
/* another swept parameter (NULL: the same) or other points (NIL: the same) */
extern void rtb_scenario_set_points(RtbScenario *scenario, const char *swept, List *points);
/* parameters given by a call over the scenario's defaults; unknown names are errors */
extern void rtb_scenario_set_parameters(RtbScenario *scenario, Jsonb *given);
/* points of an SQL array: list of int64 *, checked */
extern List *rtb_points_from_array(ArrayType *array);

/* work.c */
/* the document of one point, all parameters filled in: JSON text, palloc'd */
extern char *rtb_work_document(const RtbScenario *scenario, bool has_point, int64 point);
/* and back, in whatever process runs it: no catalog is read */
extern RtbWork *rtb_work_parse(const char *document);
/* does any arm commit? */
extern bool rtb_work_commits(const RtbWork *work);
/* number of steps in an arm, and the step of an id */
extern int	rtb_arm_step_count(const RtbArm *arm);
extern RtbStep *rtb_arm_step(const RtbArm *arm, int id);

#endif							/* RTB_SCENARIO_H */
