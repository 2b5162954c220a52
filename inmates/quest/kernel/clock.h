/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times as programs know them: seconds and nanoseconds since the kernel started, which is their
 * epoch. A program that comes from another cell keeps its epoch.
 */
#ifndef QUEST_CLOCK_H
#define QUEST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include "../user/include/quest/types.h"

struct timespec clock_timespec(uint64_t ns);

/* Returns whether `t` is valid: not negative, and fewer than 10^9 ns. */
bool clock_sane(const struct timespec *t);

/*
 * Returns the TSC value at which the valid time `t` has passed since TSC value `since`; UINT64_MAX
 * if that is more than 68 years later.
 */
uint64_t clock_after(uint64_t since, const struct timespec *t);

/*
 * Returns the TSC value at which a call that waits until TSC `at` must end. If the call was
 * restarted, that is the time limit of its first start.
 */
uint64_t clock_wait_end(uint64_t at);

/*
 * The current thread, which runs a program, sleeps until TSC `at`. Returns 0, or the error of
 * process_interrupted().
 */
long clock_sleep(uint64_t at);

#endif
