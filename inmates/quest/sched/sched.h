/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides which thread runs next, and until when: pure bookkeeping on times that the caller gives.
 * It touches no clock, interrupt or thread, so the same object runs in the kernel, in tests and in
 * the simulator on the host.
 *
 * There are two levels. VCPUs share the CPU by rate-monotonic priority, each within its budget. The
 * VCPU with the shortest period runs first. If periods are equal, I/O VCPUs precede Main VCPUs. If
 * the types are equal, too, the lower id comes first. A Main VCPU is a sporadic server
 * (sporadic.h), an I/O VCPU uses PIBS (pibs.h). Entities (threads) run round-robin on their VCPU.
 *
 * A runnable VCPU with budget is in the foreground. While no VCPU is in the foreground, the
 * runnable VCPUs run round-robin in the background. Time in the background is charged to no budget.
 *
 * Times are TSC cycles. All calls of one decision get the same `now`, which never decreases. Only
 * sched_ready_for() may get an earlier time: a thread that wakes late counts as runnable since
 * then. The caller must not let calls overlap (interrupts off).
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
#define SCHED_NO_OWNER	0		/* owner number of past use that delays all owners */

enum vcpu_type {
	MAIN_VCPU,
	IO_VCPU,
	/* a VCPU without budget: C and T are 0; always admitted; runs in the background only */
	BACKGROUND_VCPU,
};

struct vcpu_params {
	char name[SCHED_NAME];		/* for display; ends with NUL */
	enum vcpu_type type;
	uint64_t budget;		/* C, cycles */
	/* T, cycles. I/O VCPU: U = C/T, and T is its period while it inherits no other */
	uint64_t period;
	int owner;			/* number of the owner, whose past use counts against it */
};

/* Errors of create and set, which otherwise return an id or 0. sched_error_text() explains each. */
enum sched_error {
	/* wrong C or T (0 < C <= T <= ADMISSION_PERIOD_MAX; I/O: C < T), or a change of type */
	SCHED_BAD_PARAMS = -1,
	SCHED_FULL = -2,		/* SCHED_VCPUS VCPUs exist already */
	SCHED_OVER_BOUND = -3,		/* rejected by ADMISSION_BOUND: utilisation */
	SCHED_MISSES_PERIOD = -4,	/* rejected by ADMISSION_EXACT: response time */
	SCHED_NO_VCPU = -5,		/* no VCPU has this id */
	SCHED_IN_USE = -6,		/* entities are bound to the VCPU */
	/*
	 * rejected because of past use by other owners, which counts for one of their periods at
	 * most
	 */
	SCHED_NOT_YET = -7,
	SCHED_TOO_SHORT = -8,		/* C is below VCPU_LEAST_US (kernel/vcpu/vcpu.h) */
};

/* A thread, as the scheduler sees it. */
struct sched_entity {
	struct sched_entity *next, *prev;
	int vcpu;			/* id of the VCPU; -1: the entity is bound to no VCPU */
	bool runnable;
	uint64_t slice;			/* rest of the entity's quantum, in cycles */
	/* cycles charged so far, with those in the background; see also sched_used() */
	uint64_t used;
};

struct sched_queue {
	struct sched_entity *head, *tail;
};

struct vcpu_counts {
	uint64_t created;		/* TSC at which the VCPU was created */
	uint64_t used;			/* cycles that the VCPU ran at its priority */
	uint64_t background;		/* cycles that the VCPU ran in the background */
	uint64_t depleted;		/* how often its budget was used up */
	uint64_t overruns;		/* how often the VCPU ran longer than its budget */
	uint64_t overrun_max;		/* the longest overrun, in cycles */
	/* number of interrupts that sched_charge_for() has charged */
	uint64_t interrupts;
	/* cycles of the interrupts' handlers, also counted in `used` */
	uint64_t interrupt_time;
};

enum vcpu_state { VCPU_FREE, VCPU_ACTIVE, VCPU_RETIRED };

/*
 * The fields before `queue` are valid on another CPU after their times are converted to that CPU's
 * clock.
 */
struct vcpu {
	enum vcpu_state state;
	struct vcpu_params params;
	union {
		struct sporadic main;
		struct pibs io;
	};
	struct vcpu_counts counts;
	/*
	 * Past use (past.h): CPU time that was not yet replenished when the VCPU got other
	 * parameters or was destroyed. It counts until `settled`, when all of it would have been
	 * replenished.
	 */
	struct admission_entry past;
	uint64_t settled;
	/* value of counts.used when the present parameters were set */
	uint64_t used_then;
	struct sched_queue queue;	/* runnable entities in round-robin order */
	unsigned int bound;		/* number of bound entities, runnable or not */
	int ring_next, ring_prev;	/* runnable VCPUs in background order */
};

struct sched_config {
	uint64_t quantum;		/* quantum of an entity, in cycles */
	/* whether VCPUs without budget may run when the CPU would be idle */
	bool background;
	enum admission_test admission;
};

/*
 * A request for admission: the parameters that a VCPU is to have, a copy of all input of the
 * admission test, and the result. The request is valid from sched_admission_begin() to
 * sched_admission_commit().
 */
struct admission_request {
	struct vcpu_params params;
	int replaces;			/* id of the VCPU that is to get `params`; -1: a new VCPU */
	/* counts.created of that VCPU, which shows whether another VCPU has got its id meanwhile */
	uint64_t created;
	/*
	 * The task set of the test, in three groups that follow each other in set[]. 1. `params`,
	 * then the other existing VCPUs that have a budget. 2. Past use (past.h) of other owners.
	 * If the VCPUs of group 1 do not get their budgets together with it, `params` are rejected.
	 * 3. Past use of the same owner and of SCHED_NO_OWNER. If they do not get their budgets
	 * together with it, the first budget of the VCPU is delayed.
	 */
	unsigned int existing_end, rejecting_end, delaying_end;
	struct admission_entry set[2 * SCHED_VCPUS + 1];
	/* for each past use in set[], the time when it no longer counts */
	uint64_t settled[2 * SCHED_VCPUS + 1];
	/* The result: */
	int error;			/* 0: admitted */
	/* the time from which on the VCPU's first budget is usable */
	uint64_t start;
};

struct sched {
	struct sched_config config;
	struct sched_entity *current;	/* the last decision; NULL: idle */
	bool in_background;		/* whether `current` runs in the background now */
	uint64_t charged;		/* all time before this point is charged */
	uint64_t idle;			/* idle cycles */
	uint64_t decisions;
	int ring;			/* the VCPU that is next in the background; -1: none */
	struct readytree ready;
	/* the request; it is a field, since it is too large for a stack */
	struct admission_request request;
	struct vcpu vcpus[SCHED_VCPUS];
};

struct sched_choice {
	struct sched_entity *entity;	/* the entity that runs next; NULL: none is runnable */
	/* the latest time for the next decision; SCHED_NEVER: none is needed */
	uint64_t until;
};

void sched_init(struct sched *s, const struct sched_config *config, uint64_t now);

/*
 * Creates a VCPU if the admission test allows. Returns its id (the lowest free one), or an error.
 */
int sched_vcpu_create(struct sched *s, const struct vcpu_params *params, uint64_t now);

/*
 * The three steps of sched_vcpu_create() (`replaces` is -1) and of sched_vcpu_set() (`replaces` is
 * the id), for one caller at a time. The first step fills in s->request, the second one does the
 * admission test, and the last step carries the request out. It returns the result of the whole
 * call.
 *
 * sched_admission_test() may take milliseconds and uses only s->request, so interrupts may be on,
 * and other calls of the scheduler may come in between. A VCPU that is destroyed meanwhile still
 * counts in the test. If VCPU `replaces` is destroyed meanwhile, the result is SCHED_NO_VCPU.
 */
void sched_admission_begin(struct sched *s, const struct vcpu_params *params, int replaces,
			   uint64_t now);
void sched_admission_test(struct sched *s);
int sched_admission_commit(struct sched *s, uint64_t now);

/*
 * Destroys VCPU `id`. Returns 0, SCHED_NO_VCPU, or SCHED_IN_USE if entities are bound to it. Its
 * past use counts until it would have been replenished, for one period at most. If a new VCPU does
 * not fit with that use, it depends on the owner: a VCPU of the same owner begins later, and a VCPU
 * of another owner is rejected. Past use of SCHED_NO_OWNER delays all owners.
 */
int sched_vcpu_destroy(struct sched *s, int id, uint64_t now);

/*
 * Gives VCPU `id` another C and T (and name). The type must stay the same, unless the old or the
 * new type is BACKGROUND_VCPU. The past use of the VCPU still counts. Returns 0, and the caller
 * must decide at once; or an error, and nothing has changed.
 */
int sched_vcpu_set(struct sched *s, int id, const struct vcpu_params *params, uint64_t now);

/*
 * sched_set_owner() makes `owner` the owner of VCPU `id`, which exists. sched_inherit_past() makes
 * `heir` the owner of all past use of `owner`.
 */
void sched_set_owner(struct sched *s, int id, int owner);
void sched_inherit_past(struct sched *s, int owner, int heir);

/* Returns the number of VCPUs of `owner`, including destroyed ones whose past use counts. */
unsigned int sched_count_owned(const struct sched *s, int owner, uint64_t now);

/* Returns VCPU `id`, read only; NULL if it does not exist. */
const struct vcpu *sched_vcpu(const struct sched *s, int id);

/* Explains an error and its remedy; "" for 0 and ids. */
const char *sched_error_text(int error);

/* Initialises an entity: bound to no VCPU, not runnable. */
void sched_entity_init(struct sched_entity *e);

/*
 * Moves `e` to VCPU `id`, even while it is runnable or runs (then decide at once). Returns 0 or
 * SCHED_NO_VCPU.
 */
int sched_bind(struct sched *s, struct sched_entity *e, int id, uint64_t now);
void sched_unbind(struct sched *s, struct sched_entity *e, uint64_t now);

/*
 * Make the bound entity `e` runnable, or block it. They do nothing if `e` is in that state already.
 */
void sched_ready(struct sched *s, struct sched_entity *e, uint64_t now);
void sched_block(struct sched *s, struct sched_entity *e, uint64_t now);

/*
 * As sched_ready(), for an entity on an I/O VCPU, which inherits `period` (0: none) of the VCPU it
 * works for.
 */
void sched_ready_for(struct sched *s, struct sched_entity *e, uint64_t period, uint64_t now);

/* Charges the time up to `now`. sched_block() and sched_decide() do it themselves. */
void sched_charge(struct sched *s, uint64_t now);

/*
 * Charges an interrupt handler, which has run since `since`, to VCPU `id`, whichever entity is
 * current. The handler counts as a dispatch of the VCPU. If the VCPU has budget, the budget begins
 * at `since` and pays for the handler; the rest is for the entity that the handler has woken. If
 * the VCPU has no budget, its next budget comes later. Before this call, make the woken entity
 * runnable at time `since`, so that no time is charged twice.
 */
void sched_charge_for(struct sched *s, int id, uint64_t since, uint64_t now);

/* Decides which entity runs next. That entity is current from `now` on. */
struct sched_choice sched_decide(struct sched *s, uint64_t now);

/*
 * A VCPU with a smaller key has a higher priority. sched_first_key() returns the key of the VCPU
 * that a decision at `now` would choose for the foreground; UINT64_MAX: none has budget.
 */
uint64_t sched_key(const struct sched *s, int id);
uint64_t sched_first_key(const struct sched *s, uint64_t now);

/* Returns the cycles that `e` has used up to `now`. */
uint64_t sched_used(const struct sched *s, const struct sched_entity *e, uint64_t now);

/* Returns the time from which on the VCPU has budget. */
uint64_t vcpu_eligible(const struct vcpu *v);

/*
 * Return the cycles that the VCPU may run before its next replenishment, and the number of
 * outstanding replenishments.
 */
uint64_t vcpu_left(const struct vcpu *v, uint64_t now);
unsigned int vcpu_replenishments(const struct vcpu *v);

/* Adds `by` to all times of `v`, for a clock that is ahead by `by`. `v` must not be in use. */
void vcpu_shift(struct vcpu *v, int64_t by);

/*
 * Gives VCPU `id`, just created with the parameters of `was`, the state of `was`: its budget, its
 * replenishments (already shifted to this CPU's clock) and its counts. Does not change a VCPU that
 * begins later than `now`.
 */
void sched_vcpu_restore(struct sched *s, int id, const struct vcpu *was, uint64_t now);

/*
 * Returns the period that determines the priority of the VCPU now. An I/O VCPU may have inherited
 * it.
 */
uint64_t vcpu_period(const struct vcpu *v);

#endif
