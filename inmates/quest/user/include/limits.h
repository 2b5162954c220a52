/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The compiler's own limits.h includes this one for the system's limits. */
#ifndef QUEST_LIMITS_H
#define QUEST_LIMITS_H

#define ARG_MAX			1000
#define OPEN_MAX		11
/* largest length of a file's name with the NUL; there are no folders */
#define PATH_MAX		32
#define NAME_MAX		31
#define PIPE_BUF		512
#define SSIZE_MAX		__LONG_MAX__
#define SEM_VALUE_MAX		0x7FFFFFFF
#define PTHREAD_THREADS_MAX	16
#define PTHREAD_STACK_MIN	65536	/* all stacks have this size, so it is also the largest */
#define PTHREAD_KEYS_MAX	32
#define PTHREAD_DESTRUCTOR_ITERATIONS	4

#endif
