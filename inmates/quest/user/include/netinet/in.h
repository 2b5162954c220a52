/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_NETINET_IN_H
#define QUEST_NETINET_IN_H

#include <stdint.h>
#include <sys/socket.h>

typedef uint16_t in_port_t;
typedef uint32_t in_addr_t;

struct in_addr {
	in_addr_t s_addr;		/* in the order of the network */
};

struct sockaddr_in {
	sa_family_t sin_family;
	in_port_t sin_port;		/* in the order of the network */
	struct in_addr sin_addr;
	unsigned char sin_zero[8];
};

#define IPPROTO_TCP	6
#define IPPROTO_UDP	17
#define INADDR_ANY	((in_addr_t)0)
#define INADDR_NONE	((in_addr_t)-1)
#define INET_ADDRSTRLEN	16

/* Between the order of bytes of the network and that of the processor */
static inline uint16_t htons(uint16_t x) { return __builtin_bswap16(x); }
static inline uint16_t ntohs(uint16_t x) { return __builtin_bswap16(x); }
static inline uint32_t htonl(uint32_t x) { return __builtin_bswap32(x); }
static inline uint32_t ntohl(uint32_t x) { return __builtin_bswap32(x); }

#endif
