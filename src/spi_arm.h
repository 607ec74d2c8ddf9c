/*
 * spi_arm.h
 *	  An arm's statements by SPI in this process.
 */
#ifndef RTB_SPI_ARM_H
#define RTB_SPI_ARM_H

#include "postgres.h"

#include "transport.h"

extern void *rtb_spi_open_arm(const RtbArm *arm);
extern void rtb_spi_close_arm(void *state);
extern void rtb_spi_release_arm(void *state);
extern void rtb_spi_run(void *state, RtbArmRun *run);
extern void rtb_spi_limit_messages(bool limit);
extern void rtb_spi_refuse(int rc, const char *statement) pg_attribute_noreturn();

#endif							/* RTB_SPI_ARM_H */
