/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions to wait until a child process ends, and to give up the children when the parent ends.
 */
#ifndef QUEST_CHILDREN_H
#define QUEST_CHILDREN_H

#include <stdbool.h>

struct process;

/*
 * Waits until a child of process `parent` has ended: child `pid`, or any child (-1). Frees the
 * child and returns its pid. Returns 0 if `nowait` is set and no child has ended; or an error.
 */
int process_wait(int parent, int pid, bool nowait, int *status);

/*
 * Copies a background process of the kernel that has ended, and frees it. Returns false if no such
 * process exists.
 */
bool process_reap_background(struct process *copy);

/*
 * Call it when process `pid` ends. Its children become orphans, and children that have ended
 * already are freed.
 */
void process_leave_children(int pid);

#endif
