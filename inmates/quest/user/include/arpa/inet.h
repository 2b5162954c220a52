/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Between the order of bytes of the network and that of the processor */
#ifndef QUEST_ARPA_INET_H
#define QUEST_ARPA_INET_H

#include <netinet/in.h>

static inline uint16_t htons(uint16_t x) { return __builtin_bswap16(x); }
static inline uint16_t ntohs(uint16_t x) { return __builtin_bswap16(x); }
static inline uint32_t htonl(uint32_t x) { return __builtin_bswap32(x); }
static inline uint32_t ntohl(uint32_t x) { return __builtin_bswap32(x); }

#endif
