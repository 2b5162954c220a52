/* SPDX-License-Identifier: GPL-2.0-only */
/* How a process waits for its children to end, and what happens to them when it ends itself. */
#ifndef QUEST_CHILDREN_H
#define QUEST_CHILDREN_H

#include <stdbool.h>

struct process;

/*
 * Waits until a child of process `parent` has ended: `pid`, or any (-1). Returns its pid and frees
 * it; 0 if `nowait` and none has ended; or an error.
 */
int process_wait(int parent, int pid, bool nowait, int *status);

/*
 * Copies a background process of the kernel that has ended, and frees it. Returns false if no such
 * process exists.
 */
bool process_reap_background(struct process *copy);

/* Process `pid` ends: its children become orphans; those that have ended already are freed. */
void process_leave_children(int pid);

#endif
