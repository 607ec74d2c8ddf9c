/*
 * session_host.h
 *	  A session wherever it runs: in a worker, or in this backend.
 */
#ifndef RTB_SESSION_HOST_H
#define RTB_SESSION_HOST_H

#include "postgres.h"

#include "facts.h"
#include "ledger.h"
#include "session.h"

typedef struct RtbHost RtbHost;

extern void rtb_host_init(void);

extern RtbHost *rtb_host_open(const RtbSessionOptions *options, const RtbSessionSink *sink);
extern int64 rtb_host_empty_price(RtbHost *host);
extern RtbFarFacts rtb_host_facts(RtbHost *host);
extern void rtb_host_point(RtbHost *host, const char *document);
extern void rtb_host_pilot(RtbHost *host, int64 pass_timeout_ms);
extern StringInfo rtb_host_describe(RtbHost *host);
extern void rtb_host_attach(RtbHost *host, const char *document, StringInfo description);
extern void rtb_host_enter(RtbHost *host, int place);
extern void rtb_host_round(RtbHost *host, int64 pass_timeout_ms, RtbPassKind kind,
						   int session, int round, int norder, const int *order);
extern void rtb_host_leave(RtbHost *host);
extern void rtb_host_close(RtbHost *host);
extern bool rtb_host_serves(void);

/* after an error */
extern void rtb_host_unwind(RtbHost *host);
extern void rtb_host_abandon(RtbHost *host);
/* keep a run although the caller's transaction will be rolled back */
extern int64 rtb_host_rescue(RtbHost *host, const RtbRun *run);

#endif							/* RTB_SESSION_HOST_H */
