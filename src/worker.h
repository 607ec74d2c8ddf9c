/*
 * worker.h
 *	  A background worker that serves requests as the caller's user.
 *
 * The caller's side starts it, sends requests and waits for each to end; the
 * worker's side hands a request to the handler that a room above registered for
 * its kind (rtb_worker_set_handler in that room's init), so that nothing here
 * knows what a session is.
 */
#ifndef RTB_WORKER_H
#define RTB_WORKER_H

#include "postgres.h"

#include "lib/stringinfo.h"

typedef struct RtbWorker RtbWorker;

/* called in the worker, outside any transaction, once per request */
/* ms in which a run that ends with an error waits for the workers that went far */
#define RTB_WORKER_ENDS		1500

typedef void (*RtbWorkerHandler) (char kind, StringInfo body);
/* called in the caller for each reply; body is valid during the call only */
typedef void (*RtbWorkerSink) (void *arg, char kind, StringInfo body);

/* both sides */
extern void rtb_worker_set_handler(const char *kinds, RtbWorkerHandler handler);

/* the caller's side */
extern RtbWorker *rtb_worker_start(void);
extern void rtb_worker_request(RtbWorker *worker, char kind, const char *data, Size size,
							   RtbWorkerSink sink, void *arg);
extern int	rtb_worker_pid(const RtbWorker *worker);
extern void rtb_worker_stop(RtbWorker *worker);
extern void rtb_worker_goes_far(RtbWorker *worker);
extern void rtb_worker_end_within(int milliseconds);

/* the caller's side after an error left rtb_worker_request(): these do not throw */
extern bool rtb_worker_cancel(RtbWorker *worker);
extern bool rtb_worker_request_within(RtbWorker *worker, char kind, const char *data, Size size,
									  RtbWorkerSink sink, void *arg, int milliseconds);

/* any process that waits for another backend: throws if that waits for this one */
extern void rtb_check_blocked(int pid, const char *what);
extern bool rtb_is_blocked_error(const ErrorData *edata);

/* the worker's side */
extern void rtb_worker_reply(char kind, const char *data, Size size);
extern bool rtb_in_worker(void);
extern int	rtb_worker_caller_pid(void);
extern void rtb_worker_activity(const char *text);
extern bool rtb_worker_cancelled(void);
extern void rtb_worker_clean_up(void);
extern void rtb_worker_restore_settings(void);
extern void rtb_worker_start_timeout(int milliseconds);
extern bool rtb_worker_end_timeout(void);

#endif							/* RTB_WORKER_H */
