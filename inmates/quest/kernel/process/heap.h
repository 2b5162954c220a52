/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of a process: calls that map pages while other threads run, and fork(), exclude each
 * other.
 */
#ifndef QUEST_HEAP_H
#define QUEST_HEAP_H

#include <stdbool.h>

struct process;

/*
 * Waits until no other thread maps pages of `p`, the current process, or copies them. Returns false
 * if the call must not continue: process_interrupted() gives the reason.
 */
bool process_take_heap(struct process *p);
void process_give_heap(struct process *p);

#endif
