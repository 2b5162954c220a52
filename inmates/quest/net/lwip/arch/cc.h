/* SPDX-License-Identifier: GPL-2.0-only */
/* The types and functions that lwIP needs of the compiler and of the kernel. */
#ifndef QUEST_LWIP_CC_H
#define QUEST_LWIP_CC_H

#include <stddef.h>
#include <stdint.h>
#include <inmate/string.h>

#define LWIP_NO_INTTYPES_H	1
#define LWIP_NO_UNISTD_H	1
#define LWIP_NO_CTYPE_H		1
#define LWIP_NO_LIMITS_H	1
#define LWIP_TIMEVAL_PRIVATE	0

#define X8_F	"02x"
#define U16_F	"u"
#define S16_F	"d"
#define X16_F	"x"
#define U32_F	"u"
#define S32_F	"d"
#define X32_F	"x"
#define SZT_F	"lu"

typedef long ssize_t;
#define SSIZE_MAX	__LONG_MAX__
#define INT_MAX		__INT_MAX__

/* A sentence of lwIP that is not true: its memory may be damaged, so the kernel stops. */
_Noreturn void net_broken(const char *what);
unsigned int net_random(void);

#define LWIP_PLATFORM_DIAG(x)
#define LWIP_PLATFORM_ASSERT(what)	net_broken(what)
#define LWIP_RAND()			net_random()

#endif
