/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who runs next, and until when: pure bookkeeping on times given by the
 * caller. No clock, no interrupt, no thread is touched here, so the same
 * object runs in the kernel, in a test and in the simulator on the host.
 *
 * Two levels: VCPUs share the CPU by rate-monotonic priority (the shorter
 * period goes first; on equal periods I/O VCPUs before Main VCPUs, then the
 * lower id), each within its budget; entities (threads) take turns on their
 * VCPU. When no VCPU that has budget wants the CPU, those without have it by
 * turns, in the background: charged to nobody's budget, ended by any budget.
 *
 * Times are TSC cycles. Every call of one decision gets the same `now`, and
 * `now` never decreases. Callers keep calls from overlapping (interrupts off).
 */
#ifndef QUEST_SCHED_H
#define QUEST_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "admission.h"
#include "pibs.h"
#include "readytree.h"
#include "sporadic.h"

#define SCHED_NEVER	UINT64_MAX
#define SCHED_VCPUS	READYTREE_MAX
#define SCHED_NAME	16
#define SCHED_NOBODY	0		/* the owner, where it is nobody in particular: what such a VCPU has used delays all owners */

enum vcpu_type {
	MAIN_VCPU,
	IO_VCPU,
	BACKGROUND_VCPU,		/* no budget: C and T are 0, admitted always, runs in the background only */
};

struct vcpu_params {
	char name[SCHED_NAME];		/* for people; ends with 0 */
	enum vcpu_type type;
	uint64_t budget;		/* C, cycles */
	uint64_t period;		/* T, cycles; I/O: U = C/T, and T when none is inherited */
	int owner;			/* who answers for it, also when it is gone: any number, or SCHED_NOBODY */
};

/* What create and set may answer instead of an id or 0. sched_error_text() has a sentence for each. */
enum sched_error {
	SCHED_BAD_PARAMS = -1,		/* not 0 < C <= T <= ADMISSION_PERIOD_MAX; I/O: C < T; set from Main to I/O or back */
	SCHED_FULL = -2,		/* SCHED_VCPUS exist */
	SCHED_OVER_BOUND = -3,		/* refused by ADMISSION_BOUND */
	SCHED_TOO_LATE = -4,		/* refused by ADMISSION_EXACT */
	SCHED_NO_VCPU = -5,		/* no such id */
	SCHED_IN_USE = -6,		/* entities are bound to it */
	SCHED_NOT_YET = -7,		/* refused beside what VCPUs of others, which are gone, have used: it comes back within their periods */
};

/* A thread, as seen from here. */
struct sched_entity {
	struct sched_entity *next, *prev;
	int vcpu;			/* id; -1: bound to none */
	bool runnable;
	uint64_t slice;			/* left of its turn */
	uint64_t used;			/* charged so far, background included; see also sched_used() */
};

struct sched_queue {
	struct sched_entity *head, *tail;
};

struct vcpu_counts {
	uint64_t created;		/* when */
	uint64_t used;			/* at its priority */
	uint64_t background;		/* in the background */
	uint64_t depleted;		/* times its budget in hand was used up */
	uint64_t overruns;		/* times it had the CPU longer than its budget */
	uint64_t overrun_max;		/* the longest of them, in cycles */
	uint64_t interrupts;		/* that came for it: sched_charge_for() */
	uint64_t interrupt_time;	/* cycles of their handlers; they are in `used`, too */
};

enum vcpu_state { VCPU_FREE, VCPU_ACTIVE, VCPU_RETIRED };

/* Up to `queue` all is plain data that means the same on another CPU once shifted to its clock. */
struct vcpu {
	enum vcpu_state state;
	struct vcpu_params params;
	union {
		struct sporadic main;
		struct pibs io;
	};
	struct vcpu_counts counts;
	struct admission_entry past;	/* what it used under other parameters, or before it was destroyed, in one period of then */
	uint64_t settled;		/* when all of that would have come back; not later than now: nothing is to be remembered */
	uint64_t used_then;		/* counts.used when it got its present parameters */
	struct sched_queue queue;	/* runnable entities, in turn */
	unsigned int bound;		/* entities bound, runnable or not */
	int ring_next, ring_prev;	/* of the VCPUs that want the CPU, for the background */
};

struct sched_config {
	uint64_t quantum;		/* length of an entity's turn, cycles */
	bool background;		/* VCPUs without budget may have a CPU that would idle */
	enum admission_test admission;
};

/*
 * Admission's trial of one VCPU: a copy of all that the decision depends on, and the decision. It is
 * too large for a stack, so struct sched has room for one trial at a time. Nothing in it lasts beyond
 * the trial.
 *
 * `set` has three groups, one behind the other; each of the counts is where its group ends.
 */
struct sched_trial {
	/* What is wanted: */
	struct vcpu_params params;
	int instead;			/* the VCPU that is to get `params`; -1: a new one */
	uint64_t created;		/* of that VCPU: its id may be another VCPU's when the trial ends */
	/* What counts: */
	unsigned int living;		/* VCPUs that exist, the one on trial first */
	unsigned int refusing;		/* past use of other owners: the VCPU is refused if it does not fit */
	unsigned int delaying;		/* past use of its owner and of nobody: it begins when it fits */
	struct admission_entry set[2 * SCHED_VCPUS + 1];
	uint64_t settled[2 * SCHED_VCPUS + 1];	/* of past use: when it no longer counts */
	/* The decision: */
	int error;			/* 0: admitted */
	uint64_t begin;			/* when its first budget is usable */
};

struct sched {
	struct sched_config config;
	struct sched_entity *current;	/* as decided last; NULL: idle */
	bool in_background;		/* how current runs */
	uint64_t charged;		/* up to when time is accounted for */
	uint64_t idle;			/* cycles nobody had */
	uint64_t decisions;
	int ring;			/* first of the ring, -1: empty */
	struct readytree ready;
	struct sched_trial trial;
	struct vcpu vcpus[SCHED_VCPUS];
};

struct sched_choice {
	struct sched_entity *entity;	/* NULL: nobody */
	uint64_t until;			/* decide again then at the latest; SCHED_NEVER: no need */
};

void sched_init(struct sched *s, const struct sched_config *config, uint64_t now);

/* A new VCPU, if the admission test allows. Returns its id (the lowest free), or an error. */
int sched_vcpu_create(struct sched *s, const struct vcpu_params *params, uint64_t now);

/*
 * sched_vcpu_create() and sched_vcpu_set() (`instead` >= 0) in three steps, for one caller at a time.
 * sched_trial_decide() may take milliseconds and uses only what sched_trial_begin() has copied, so
 * interrupts may be on: other calls may come in between, except for other trials. A VCPU that is
 * destroyed meanwhile still counts; if it is the one to be set, the result is SCHED_NO_VCPU. The last
 * step returns what the whole call does.
 */
void sched_trial_begin(struct sched *s, const struct vcpu_params *params, int instead, uint64_t now);
void sched_trial_decide(struct sched *s);
int sched_trial_apply(struct sched *s, uint64_t now);

/*
 * 0, SCHED_NO_VCPU, or SCHED_IN_USE: unbind its entities first. What it has used is remembered until it would have come back,
 * which is one period at most: until then the owner's new VCPUs begin later if they are not admitted beside it, and
 * those of others are refused, as they were while it was there. Where it was nobody's, all begin later.
 */
int sched_vcpu_destroy(struct sched *s, int id, uint64_t now);

/* New C and T (and name); same type, or one of the two is BACKGROUND_VCPU; decide at once. What it has used is not forgotten. 0 or an error, then nothing has changed. */
int sched_vcpu_set(struct sched *s, int id, const struct vcpu_params *params, uint64_t now);

/* VCPU `id`, which exists, is `owner`'s from now on. All that is remembered of `owner` is `heir`'s. */
void sched_give(struct sched *s, int id, int owner);
void sched_inherit(struct sched *s, int owner, int heir);

/* VCPUs of `owner`, with those that are gone and remembered. */
unsigned int sched_owned(const struct sched *s, int owner, uint64_t now);

/* NULL: no such VCPU. To be read only. */
const struct vcpu *sched_vcpu(const struct sched *s, int id);

/* Why it was refused, and what to do about it; "" for 0 and ids. */
const char *sched_error_text(int error);

/* A new entity: bound to no VCPU, not runnable. */
void sched_entity_init(struct sched_entity *e);

/* Move `e` to VCPU `id`, also while it is runnable or runs (then decide at once). 0 or SCHED_NO_VCPU. */
int sched_bind(struct sched *s, struct sched_entity *e, int id, uint64_t now);
void sched_unbind(struct sched *s, struct sched_entity *e, uint64_t now);

/* `e`, which is bound, wants the CPU / does not want it any more. Twice is as good as once. */
void sched_ready(struct sched *s, struct sched_entity *e, uint64_t now);
void sched_block(struct sched *s, struct sched_entity *e, uint64_t now);

/* As sched_ready() for one on an I/O VCPU, which inherits `period` (0: none) of whom it works for. */
void sched_ready_for(struct sched *s, struct sched_entity *e, uint64_t period, uint64_t now);

/* Account for the time up to `now`. sched_block() and sched_decide() do it themselves. */
void sched_charge(struct sched *s, uint64_t now);

/*
 * An interrupt came at `since`, and until `now` its handler worked for VCPU `id`, whoever is current. That is as good as
 * being dispatched: if `id` has budget, it begins at `since` and the handler's time is taken from it; what is left is for
 * the entity that the handler has woken. If it has none, its next one comes later for it. Make who is woken ready first,
 * with `since` as the time: what is charged once cannot be charged again.
 */
void sched_charge_for(struct sched *s, int id, uint64_t since, uint64_t now);

/* Choose; the choice is the current entity from `now` on. */
struct sched_choice sched_decide(struct sched *s, uint64_t now);

/* Cycles used by `e` up to `now`. */
uint64_t sched_used(const struct sched *s, const struct sched_entity *e, uint64_t now);

/* From when on it has budget. */
uint64_t vcpu_eligible(const struct vcpu *v);

/* Cycles the VCPU may run before its next replenishment, and replenishments that are outstanding. */
uint64_t vcpu_left(const struct vcpu *v, uint64_t now);
unsigned int vcpu_replenishments(const struct vcpu *v);

/* Add `by` to all its times, for a clock that is ahead by that much. It must not be in use. */
void vcpu_shift(struct vcpu *v, int64_t by);

/*
 * VCPU `id`, just created with the parameters of `was`, is it: what it has used of its budget, and when that comes back,
 * in this CPU's time; and what it has counted. One that is to begin later than `now` stays as it is.
 */
void sched_vcpu_restore(struct sched *s, int id, const struct vcpu *was, uint64_t now);

/* Its T as a priority now: inherited, for an I/O VCPU. */
uint64_t vcpu_period(const struct vcpu *v);

#endif
