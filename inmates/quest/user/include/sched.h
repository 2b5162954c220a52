/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Quest schedules VCPUs by budgets and periods (quest.h): there are no priorities and no
 * SCHED_FIFO.
 */
#ifndef QUEST_SCHED_H
#define QUEST_SCHED_H

#include <quest/posix_types.h>

int sched_yield(void);
/*
 * Sets parameters of the VCPU on which `pid` (-1: the caller; else a child) started. With
 * `affinity` the program then moves to that cell (posix_types.h).
 */
int sched_setparam(pid_t pid, const struct sched_param *param);

#endif
