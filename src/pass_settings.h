/*
 * pass_settings.h
 *	  Settings of a pass, and what an arm that commits leaves in the session.
 */
#ifndef RTB_PASS_SETTINGS_H
#define RTB_PASS_SETTINGS_H

#include "postgres.h"

#include "session.h"

extern bool rtb_pass_set_up(RtbSession *s, const RtbArm *arm, bool committing);
extern void rtb_pass_forget_session(const RtbTransport *transport);

#endif							/* RTB_PASS_SETTINGS_H */
