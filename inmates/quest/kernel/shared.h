/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that programs share. It consists of numbered segments, which are mapped as foreign pages
 * (space.h). A segment belongs to the program that made it. The memory is freed when two conditions
 * hold: that program has freed the segment or has ended, and no program has it attached. Interrupts
 * are off in every call.
 */
#ifndef QUEST_SHARED_H
#define QUEST_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHARED_MAX	32		/* largest number of segments of all programs */
/* largest number of segments that a program may make, and that it may attach */
#define SHARED_OF_ONE	8
#define SHARED_PAGES	256		/* largest size of one segment in pages */

struct process;

/* A segment that a process has attached: plain data. */
struct attachment {
	/* address of the segment in the program; 0: this entry is free */
	uint64_t at;
	int segment;
};

/*
 * Creates a zeroed segment of at least `bytes` for `p`. Returns its number, or minus an error
 * (errors.h): EINVAL, EAGAIN, ENOMEM.
 */
int shared_alloc(struct process *p, uint64_t bytes);

/*
 * Attaches segment `id` to `p`. Only the program that made the segment and its children may do so.
 * Returns the segment's address in `p`, or minus an error: EINVAL, EPERM, EMFILE, ENOMEM.
 */
int64_t shared_attach(struct process *p, int id);

/*
 * Detaches the segment at address `at`. Returns 0, or minus EINVAL if no segment is attached there.
 */
int shared_detach(struct process *p, uint64_t at);

/* From now on no program can attach segment `id`. Returns 0 or minus an error: EINVAL, EPERM. */
int shared_free(struct process *p, int id);

/* Returns whether `p` has made a segment or has one attached. */
bool shared_used(const struct process *p);

/*
 * Call shared_leave() when `p` loses its address space: it drops all attachments. Call
 * shared_process_ends() when `p` ends: it also frees the segments of `p`.
 */
void shared_leave(struct process *p);
void shared_process_ends(struct process *p);

#endif
