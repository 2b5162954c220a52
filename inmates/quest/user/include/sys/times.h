/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_SYS_TIMES_H
#define QUEST_SYS_TIMES_H

#include <quest/posix_types.h>

/*
 * Times are in ticks of a microsecond: sysconf(_SC_CLK_TCK). The kernel's work for a program counts
 * as the program's time.
 */
struct tms {
	clock_t tms_utime, tms_stime;	/* time of this program's threads; tms_stime is 0 */
	/* time of children that waitpid() has returned; tms_cstime is 0 */
	clock_t tms_cutime, tms_cstime;
};

clock_t times(struct tms *used);	/* returns the time since the kernel's start; -1: EFAULT */

#endif
