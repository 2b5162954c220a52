/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A signal ends a program. There are no handlers, masks or actions, hence no signal() and no sigaction(). */
#ifndef QUEST_SIGNAL_H
#define QUEST_SIGNAL_H

#include <quest/posix_types.h>

typedef int sig_atomic_t;

int kill(pid_t pid, int signal);	/* the program itself or a child of its; 0 only asks; ESRCH, EPERM, EINVAL */
int raise(int signal);			/* kill(getpid(), signal): ends the whole program */

#endif
