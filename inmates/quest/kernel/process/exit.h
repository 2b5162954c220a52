/* SPDX-License-Identifier: GPL-2.0-only */
/* How threads of a program leave it: the last one ends its process. */
#ifndef QUEST_EXIT_H
#define QUEST_EXIT_H

#include <stdint.h>
#include <inmate/trap.h>

/* The current thread ends; with the last one its process does. */
_Noreturn void process_end_thread(uint64_t result);

/*
 * Last call before ring 3, which continues at `frame`. Does not return if the process is ending, or
 * leaving with its VCPUs (move.h).
 */
void process_leave(struct trap_frame *frame);

#endif
