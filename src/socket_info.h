/*
 * socket_info.h
 *	  What the kernel knows of a socket.
 */
#ifndef RTB_SOCKET_INFO_H
#define RTB_SOCKET_INFO_H

/* microseconds of a round trip to its other end; 0 if it is no TCP socket */
extern unsigned int rtb_socket_round_trip(int sock);

#endif							/* RTB_SOCKET_INFO_H */
