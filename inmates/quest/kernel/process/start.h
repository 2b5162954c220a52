/* SPDX-License-Identifier: GPL-2.0-only */
/* Three ways to start a program: by the shell, by fork, and by exec in the same process. */
#ifndef QUEST_START_H
#define QUEST_START_H

#include <stdbool.h>
#include <inmate/trap.h>
#include "../program.h"

/*
 * Starts a program on VCPU `vcpu` as a child of the kernel, in job `job` (0: a new one). Returns
 * its pid, or minus an error (user/include/quest/errors.h); `*why` then says more.
 */
int process_run(const struct program_args *args, int vcpu, bool background, int job,
		const char **why);

/*
 * Starts a copy of the current process on VCPU `vcpu`. The copy continues at the current thread's
 * system call, which returns 0 there. Returns the copy's pid or an error.
 */
int process_fork(const struct trap_frame *frame, int vcpu);

/*
 * Replaces the program that the current process runs; on success `frame` is the start of the new
 * program. Returns 0 or an error.
 */
int process_exec(const struct program_args *args, struct trap_frame *frame);

#endif
