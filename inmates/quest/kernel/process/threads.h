/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads of the current process, identified by the numbers that its program uses. */
#ifndef QUEST_THREADS_H
#define QUEST_THREADS_H

#include <stdint.h>

/* Creates a thread that starts at `rip`. Returns its number, or an error. */
int process_add_thread(uint64_t rip, uint64_t arg0, uint64_t arg1);

/* Waits until thread `n` has ended. Possible only once for each thread. Returns 0 or an error. */
int process_join(unsigned int n, uint64_t *result);

/* Declares that no thread will join thread `n`. Returns 0 or an error. */
int process_detach(unsigned int n);

#endif
