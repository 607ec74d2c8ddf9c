/*
 * sweep_arguments.h
 *	  The arguments of sweep() and compare(), checked.
 */
#ifndef RTB_SWEEP_ARGUMENTS_H
#define RTB_SWEEP_ARGUMENTS_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"
#include "utils/jsonb.h"

#include "experiment.h"

extern RtbExperiment *rtb_arguments_of_sweep(FunctionCallInfo fcinfo);
extern RtbExperiment *rtb_arguments_of_compare(FunctionCallInfo fcinfo);
extern void rtb_arguments_require_connection(const RtbArm *arm, const char *transport);
extern void rtb_arguments_check_endings(const RtbExperiment *e, bool called);
extern char *rtb_arguments_text(FunctionCallInfo fcinfo, int n);
extern void rtb_arguments_refuse_null(const char *argument, const char *hint);
extern void rtb_arguments_elements(ArrayType *array, Oid type, const char *argument, Datum **elems,
								   int *n);
extern Jsonb *rtb_arguments_document(const RtbExperiment *e);

#endif							/* RTB_SWEEP_ARGUMENTS_H */
