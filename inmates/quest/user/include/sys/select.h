/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_SYS_SELECT_H
#define QUEST_SYS_SELECT_H

#include <quest/posix_types.h>

#define FD_SETSIZE	32

typedef struct { uint32_t bits; } fd_set;

#define FD_ZERO(set)		((void)((set)->bits = 0))
#define FD_SET(fd, set)		((void)((set)->bits |= 1u << (fd)))
#define FD_CLR(fd, set)		((void)((set)->bits &= ~(1u << (fd))))
#define FD_ISSET(fd, set)	((set)->bits >> (fd) & 1)

/*
 * As poll(), for descriptors below `n`. Sets may be NULL, and so may `limit`: no time limit. No
 * descriptor has exceptional conditions. EBADF, EINVAL, EAGAIN
 */
int select(int n, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *limit);

#endif
