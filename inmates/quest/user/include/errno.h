/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Each thread has its own errno. Functions with a name of POSIX return -1 and set it where POSIX
 * specifies that; pthread_*() and clock_nanosleep() return the number itself. Quest's own functions
 * (quest.h) return minus the number.
 */
#ifndef QUEST_ERRNO_H
#define QUEST_ERRNO_H

#include <quest/errors.h>

int *quest_errno(void);		/* returns the address of the calling thread's errno */
#define errno (*quest_errno())

/* POSIX requires macros. */
#define EPERM		1
#define ENOENT		2
#define ESRCH		3
#define EINTR		4
#define E2BIG		7
#define ENOEXEC		8
#define EBADF		9
#define ECHILD		10
#define EAGAIN		11
#define EWOULDBLOCK	EAGAIN
#define ENOMEM		12
#define EFAULT		14
#define EBUSY		16
#define EXDEV		18
#define EINVAL		22
#define EMFILE		24
#define ENOSPC		28
#define ESPIPE		29
#define EROFS		30
#define EPIPE		32
#define EDOM		33
#define ERANGE		34
#define EDEADLK		35
#define ENAMETOOLONG	36
#define ENOSYS		38
#define EOVERFLOW	75
#define ENOTSOCK	88
#define EDESTADDRREQ	89
#define EMSGSIZE	90
#define ENOPROTOOPT	92
#define ENOTSUP		95
#define EOPNOTSUPP	ENOTSUP
#define EAFNOSUPPORT	97
#define EADDRINUSE	98
#define EADDRNOTAVAIL	99
#define ENETDOWN	100
#define ECONNABORTED	103
#define ECONNRESET	104
#define ENOBUFS		105
#define EISCONN		106
#define ENOTCONN	107
#define ETIMEDOUT	110
#define ECONNREFUSED	111
#define EHOSTUNREACH	113
#define EALREADY	114
#define EINPROGRESS	115

#endif
