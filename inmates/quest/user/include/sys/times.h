/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_SYS_TIMES_H
#define QUEST_SYS_TIMES_H

#include <quest/posix_types.h>

/*
 * In ticks of a microsecond: sysconf(_SC_CLK_TCK). The kernel's work for a program counts for the
 * program.
 */
struct tms {
	clock_t tms_utime, tms_stime;	/* of this program's threads; 0 */
	clock_t tms_cutime, tms_cstime;	/* of its children that were waited for; 0 */
};

clock_t times(struct tms *used);	/* time since the kernel's start; -1: EFAULT */

#endif
