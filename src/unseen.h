/*
 * unseen.h
 *	  Relations that the caller sees and a worker cannot.
 */
#ifndef RTB_UNSEEN_H
#define RTB_UNSEEN_H

extern char *rtb_unseen_hint(const char *message);

#endif							/* RTB_UNSEEN_H */
