/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A signal ends a program. There are no handlers, masks or actions, and so no signal() and
 * sigaction().
 */
#ifndef QUEST_SIGNAL_H
#define QUEST_SIGNAL_H

#include <quest/posix_types.h>

typedef int sig_atomic_t;

/* the program itself or a child of it; 0 only checks; ESRCH, EPERM, EINVAL */
int kill(pid_t pid, int signal);
int raise(int signal);			/* kill(getpid(), signal): ends the whole program */

#endif
