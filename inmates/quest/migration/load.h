/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The load of a cell: its VCPUs and a few numbers. The source of a link asks by MSG_ASK_LOAD, and
 * the destination answers by MSG_LOAD with struct mig_load. The answer is a hint only: a wrong one
 * leads to a bad choice, but each cell admits programs by its own test.
 */
#ifndef QUEST_MIGRATION_LOAD_H
#define QUEST_MIGRATION_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../sched/sched.h"

#define LOAD_VCPUS	96		/* of one answer: they fit in an item of 4 KiB */

struct mig_load_vcpu {
	char name[SCHED_NAME];
	uint64_t budget, period;	/* cycles */
	uint32_t io;			/* 1: an I/O VCPU */
	uint32_t used;			/* of the time since it was created, in 1/1000 */
};

struct mig_load {
	uint32_t tsc_khz;
	uint32_t test;			/* enum admission_test */
	uint32_t num_vcpus;		/* VCPUs with a budget that the cell has */
	uint32_t listed;		/* the first ones of them follow */
	uint32_t programs, reserved;
	uint64_t free;			/* bytes of free memory */
	struct mig_load_vcpu vcpus[LOAD_VCPUS];
};

struct mig_link;

/* Returns the bytes of an answer that lists `listed` VCPUs. */
static inline size_t mig_load_bytes(uint32_t listed)
{
	return offsetof(struct mig_load, vcpus) + listed * sizeof(struct mig_load_vcpu);
}

/*
 * Checks the copy of an answer of `bytes` from a cell that may be hostile. Pure. Replaces
 * characters of names that cannot be printed. Returns 0, or minus an error: EBADMSG; EPROTO:
 * another clock.
 */
int mig_check_load(struct mig_load *load, size_t bytes, uint32_t tsc_khz);

/* Makes `load` that of this cell, with `most` VCPUs at most. Returns the number of VCPUs. */
uint32_t mig_load_here(struct mig_load *load, uint32_t most);

/* Asks the cell at the other end of outgoing link `link`. The answer comes later, or does not. */
void mig_load_ask(int link);

/*
 * Copies the last answer. Returns 0, or minus an error: EAGAIN: it is still awaited; ETIMEDOUT and
 * others: there is no answer.
 */
int mig_load_get(int link, struct mig_load *load);

/* For the threads of links: asks, as the source; answers, as the destination. */
void mig_load_exchange(struct mig_link *l, int number);
void mig_load_answer(struct mig_link *l);

#endif
