/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_SYS_TIME_H
#define QUEST_SYS_TIME_H

#include <quest/posix_types.h>

/* gets the time since the kernel's start; `zone` must be NULL; EFAULT, EINVAL */
int gettimeofday(struct timeval *now, void *zone);

#endif
