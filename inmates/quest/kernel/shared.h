/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that programs share: segments by numbers, mapped as foreign pages (space.h). A segment belongs to the program
 * that made it, and goes when it has been given up (or its program has ended) and no program has it attached.
 * Interrupts are off in every call.
 */
#ifndef QUEST_SHARED_H
#define QUEST_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHARED_MAX	32		/* segments of all programs */
#define SHARED_OF_ONE	8		/* that one program has made, and that one has attached */
#define SHARED_PAGES	256		/* of one segment */

struct process;

/* What a process has attached: plain data. */
struct attachment {
	uint64_t at;			/* 0: none */
	int segment;
};

/* A new segment of `p` of at least `bytes`, zeroed. Its number, or minus an error (errors.h): EINVAL, EAGAIN, ENOMEM. */
int shared_alloc(struct process *p, uint64_t bytes);

/*
 * Segment `id` in `p`'s memory: the program that made it, and its children, may. Its address there, or minus an error:
 * EINVAL, EPERM, EMFILE, ENOMEM.
 */
int64_t shared_attach(struct process *p, int id);

/* 0, or EINVAL: nothing is attached at `at`. */
int shared_detach(struct process *p, uint64_t at);

/* Nobody attaches it from now on. 0, or minus an error: EINVAL, EPERM. */
int shared_free(struct process *p, int id);

/* Has `p` any segment, or one attached? */
bool shared_used(const struct process *p);

/* `p`'s space is no more: nothing is attached. When `p` itself ends, its segments are given up, too. */
void shared_leave(struct process *p);
void shared_process_ends(struct process *p);

#endif
