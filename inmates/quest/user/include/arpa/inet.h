/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Addresses as text; with netinet/in.h, the order of bytes */
#ifndef QUEST_ARPA_INET_H
#define QUEST_ARPA_INET_H

#include <netinet/in.h>

/* Return 1, or 0: no address. Only "a.b.c.d", in decimal. */
int inet_aton(const char *text, struct in_addr *to);
int inet_pton(int family, const char *text, void *to);		/* EAFNOSUPPORT */
in_addr_t inet_addr(const char *text);				/* INADDR_NONE: no address */

/* Return the text, or NULL: EAFNOSUPPORT, ENOSPC. That of inet_ntoa() lasts until its next call. */
const char *inet_ntop(int family, const void *from, char *text, socklen_t size);
char *inet_ntoa(struct in_addr from);

#endif
