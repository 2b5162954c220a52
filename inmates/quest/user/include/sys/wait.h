/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_SYS_WAIT_H
#define QUEST_SYS_WAIT_H

#include <quest/posix_types.h>

/*
 * returns a child (-1: any) that has ended; with WNOHANG, 0: none has ended; ECHILD, EINVAL, EFAULT
 */
pid_t waitpid(pid_t pid, int *status, int options);
pid_t wait(int *status);				/* waitpid(-1, status, 0) */

#endif
