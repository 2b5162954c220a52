/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions by which threads of a program end. The last one ends its process. */
#ifndef QUEST_EXIT_H
#define QUEST_EXIT_H

#include <stdint.h>
#include <inmate/trap.h>

struct process;

/*
 * Frees everything of `p`, which has no threads. If no parent waits for it, frees its slot, too.
 * Lets others run.
 */
void process_release(struct process *p);

/* Ends the current thread. If it is the last one of its process, ends the process, too. */
_Noreturn void process_end_thread(uint64_t result);

/*
 * The last call before the return to ring 3 at `frame`. Does not return if the process is ending,
 * or is leaving the CPU with its VCPUs (move.h).
 */
void process_leave(struct trap_frame *frame);

#endif
