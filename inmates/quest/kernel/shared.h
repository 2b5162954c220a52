/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that programs share: segments by number, mapped as foreign pages (space.h). A segment
 * belongs to the program that made it. It is freed when its program has freed it, or has ended, and
 * no program has it attached. Interrupts are off in every call.
 */
#ifndef QUEST_SHARED_H
#define QUEST_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHARED_MAX	32		/* of all programs */
#define SHARED_OF_ONE	8		/* that a program may make, and that it may attach */
#define SHARED_PAGES	256		/* of one segment */

struct process;

/* A segment that a process has attached: plain data. */
struct attachment {
	uint64_t at;			/* 0: this entry is free */
	int segment;
};

/*
 * Creates a zeroed segment of at least `bytes` for `p`. Returns its number, or minus an error
 * (errors.h): EINVAL, EAGAIN, ENOMEM.
 */
int shared_alloc(struct process *p, uint64_t bytes);

/*
 * Attaches segment `id` to `p`: only the program that made the segment and its children may.
 * Returns its address there, or minus an error: EINVAL, EPERM, EMFILE, ENOMEM.
 */
int64_t shared_attach(struct process *p, int id);

/* Returns 0, or EINVAL if nothing is attached at `at`. */
int shared_detach(struct process *p, uint64_t at);

/* From now on no program can attach segment `id`. Returns 0 or minus an error: EINVAL, EPERM. */
int shared_free(struct process *p, int id);

/* Returns whether `p` has made a segment or has one attached. */
bool shared_used(const struct process *p);

/*
 * The address space of `p` is gone, and all its attachments. If `p` itself ends, its segments are
 * freed, too.
 */
void shared_leave(struct process *p);
void shared_process_ends(struct process *p);

#endif
