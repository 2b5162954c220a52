/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A signal ends a program. There are no handlers, masks or actions, so signal() and sigaction() do
 * not exist.
 */
#ifndef QUEST_SIGNAL_H
#define QUEST_SIGNAL_H

#include <quest/posix_types.h>

typedef int sig_atomic_t;

/* `pid` is the program itself or its child; signal 0 only checks; ESRCH, EPERM, EINVAL */
int kill(pid_t pid, int signal);
int raise(int signal);			/* kill(getpid(), signal): ends the whole program */

#endif
