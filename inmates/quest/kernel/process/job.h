/* SPDX-License-Identifier: GPL-2.0-only */
/* Jobs: all processes that descend from the programs of one line of the shell. */
#ifndef QUEST_JOB_H
#define QUEST_JOB_H

#include <stdbool.h>

struct process;

/*
 * process_end() for all processes of job `job` at one instant; their threads wake later, and others
 * run meanwhile. Interrupts are off. Returns false if the job has no process.
 */
bool process_end_job(int job, int status);

/* Returns whether the shell waits for the job of `p`, so that keys are for it. */
bool process_gets_keys(const struct process *p);

#endif
