/*
 * socket_info.c
 *	  What the kernel knows of a socket.
 *
 * A file of its own: the kernel's header, which knows more than the C
 * library's, cannot stand beside it, and the server's headers include that.
 */
#include "postgres.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "socket_info.h"

/*
 * rtb_socket_round_trip
 *		Microseconds to the other end and back; 0 if it is no TCP socket.
 *
 * The smallest seen lately, where the kernel tells it: an end that has nothing
 * to say acknowledges late, by 40 ms or more, and such waits are in the mean.
 */
unsigned int
rtb_socket_round_trip(int sock)
{
	struct tcp_info info;
	socklen_t	size = sizeof(info);

	/* an older kernel fills less of it */
	memset(&info, 0, sizeof(info));
	if (getsockopt(sock, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
		return 0;
	if (info.tcpi_min_rtt > 0 && info.tcpi_min_rtt < info.tcpi_rtt)
		return info.tcpi_min_rtt;
	return info.tcpi_rtt;
}
