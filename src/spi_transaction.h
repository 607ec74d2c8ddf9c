/*
 * spi_transaction.h
 *	  The transactions in which an arm's statements run by SPI in a worker.
 */
#ifndef RTB_SPI_TRANSACTION_H
#define RTB_SPI_TRANSACTION_H

#include "postgres.h"

#include "executor/spi.h"
#include "nodes/params.h"
#include "tcop/dest.h"

#include "scenario.h"

extern void rtb_spi_begin(const RtbArm *arm);
extern void rtb_spi_need_snapshot(void);
extern void rtb_spi_next_transaction(void);
extern void rtb_spi_finish(void);
extern void rtb_spi_forget(void);
extern void rtb_spi_send_savepoint(const char *text);
extern void rtb_spi_send_text(const char *text, DestReceiver *dest, int64 *prepare_ns);
extern void rtb_spi_call(const char *text, SPIPlanPtr plan, ParamListInfo params,
						 DestReceiver *dest);

#endif							/* RTB_SPI_TRANSACTION_H */
