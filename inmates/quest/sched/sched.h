/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who runs next, and until when: pure bookkeeping on times given by the
 * caller. No clock, no interrupt, no thread is touched here, so the same
 * object runs in the kernel and in a test on the host.
 *
 * First form: fixed priorities, round robin among equals. The kernel uses
 * nothing but these five calls; another policy may stand behind them.
 * Times are TSC cycles. Every call of one decision gets the same `now`.
 */
#ifndef QUEST_SCHED_H
#define QUEST_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_PRIORITIES	8		/* 0 goes first */
#define SCHED_NEVER		UINT64_MAX

struct sched_entity {
	struct sched_entity *next, *prev;
	unsigned int priority;
	bool runnable;
	uint64_t slice;			/* left of its turn */
	uint64_t used;			/* charged so far */
};

struct sched_queue {
	struct sched_entity *head, *tail;
};

struct sched {
	uint64_t quantum;		/* length of a turn */
	struct sched_queue ready[SCHED_PRIORITIES];
};

struct sched_choice {
	struct sched_entity *entity;	/* NULL: nobody wants the CPU */
	uint64_t until;			/* decide again then; SCHED_NEVER: no need */
};

void sched_init(struct sched *s, uint64_t quantum);

/* A new entity, not runnable. Priorities beyond the last count as the last. */
void sched_entity_init(struct sched *s, struct sched_entity *e, unsigned int priority);

/* `e` wants the CPU / does not want it any more. Twice is as good as once. */
void sched_ready(struct sched *s, struct sched_entity *e, uint64_t now);
void sched_block(struct sched *s, struct sched_entity *e, uint64_t now);

/* `e` had the CPU for `delta` cycles. */
void sched_charge(struct sched *s, struct sched_entity *e, uint64_t delta);

struct sched_choice sched_pick(const struct sched *s, uint64_t now);

#endif
