/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads of the kernel: one stack each, preemptive. Times are TSC cycles
 * unless a name says otherwise.
 */
#ifndef QUEST_THREAD_H
#define QUEST_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include "../sched/sched.h"
#include "timerq.h"

#define THREAD_MAX	TIMERQ_MAX
#define SHELL_THREADS	4		/* of those, kept for the kernel's own and what the shell starts */
#define THREAD_NAME	16
#define THREAD_IDLE_ID	0

enum thread_state { THREAD_FREE, THREAD_READY, THREAD_SLEEPING, THREAD_WAITING, THREAD_DEAD };

typedef void thread_function(void *arg);

struct fpu_state;
struct process;
struct trap_frame;
struct wait_queue;

/* A call that has been given up and begins again (move.h). */
struct call_restart {
	bool again;			/* it is the second time at least */
	uint64_t until;			/* TSC: when the wait was to end; 0: it did not wait for time */
};

struct thread {
	struct sched_entity sched;
	struct timer_event timer;	/* end of its sleep */
	struct thread *next_waiting;
	struct wait_queue *waiting_on;	/* NULL: does not wait */
	bool late;			/* the time to wait was over before somebody woke it */
	struct process *process;	/* whose program it runs; NULL: the kernel's */
	unsigned int slot;		/* its number and its stack there (process.h) */
	uint64_t kernel_top;		/* where its stack begins when it comes from ring 3 */
	struct fpu_state *fpu;		/* while another program's thread has the FPU */
	uint64_t rsp;			/* while it does not run */
	uint64_t stack;			/* its lowest address; 0: the boot stack */
	enum thread_state state;
	int id;
	int own_vcpu;			/* which it asked for; sched.vcpu may be one that it has inherited (lock.h) */
	struct call_restart restart;	/* of the call that it is in */
	uint64_t awaits;		/* the lock that it waits for; 0: none */
	uint32_t awaits_owner;		/* whose that is: its word without LOCK_AWAITED */
	char name[THREAD_NAME];
};

struct wait_queue {
	struct thread *head;
};

/* The caller becomes the idle thread (id 0); the timer interrupts on `timer_vector`. VCPUs are not there yet. */
void threads_init(unsigned int timer_vector, enum admission_test admission);

/* A new thread on VCPU `vcpu`, ready at once. Its id, or minus an error (errors.h): no slot or no such VCPU, no memory. */
int thread_create(const char *name, int vcpu, thread_function *fn, void *arg);

/*
 * A thread of `p` that starts in ring 3 as `frame` says, with what the FPU holds of `like` (NULL: nothing).
 * Interrupts are off. 0 or minus an error (errors.h): no slot, no memory.
 */
int thread_create_user(struct process *p, unsigned int slot, const struct trap_frame *frame,
		       const struct thread *like);

/* Its threads sleep and wait no longer: whatever they called comes back early. */
void thread_interrupt_all(const struct process *p);

/* Cycles used by the threads that `p` has now. */
uint64_t thread_used_by(const struct process *p);

/* The threads on VCPU `from` go on on VCPU `to`. */
void thread_move_all(int from, int to);

/* Is VCPU `id` some thread's own, though perhaps it runs on another now? */
bool thread_owns_vcpu(int id);

/* The threads of `p` by their numbers there; NULL: none. */
void thread_collect(const struct process *p, struct thread *by_slot[]);

/* `t`, which waits, does so no longer. */
void thread_wake(struct thread *t);

/* The current thread's name. */
void thread_rename(const char *name);

_Noreturn void thread_exit(void);
struct thread *thread_current(void);
void thread_sleep_us(uint64_t us);
void thread_sleep_until(uint64_t at);

/* Sleep until wake_all(). Interrupts must be off: the caller has just looked at what it waits for. */
void wait_on(struct wait_queue *q);

/* The same until TSC `at` at the latest (UINT64_MAX: no limit). False: nobody woke it before. */
bool wait_on_until(struct wait_queue *q, uint64_t at);

/* For dispatch.c: the time of `t` has come; where it waits, it does so no longer. */
void thread_expire(struct thread *t);

/* Make all waiters ready. From any context; preemption follows at once, or when interrupts are on again. */
void wake_all(struct wait_queue *q);

/*
 * As wake_all(), where the waiters handle interrupts on I/O VCPU `vcpu`, which
 * inherits the period of whoever waits in `served` (NULL: nobody's). From an
 * interrupt that came at TSC `since`: the time until now is the I/O VCPU's.
 */
void wake_for(struct wait_queue *q, const struct wait_queue *served, int vcpu, uint64_t since);

/* A copy of slot `i` (0..THREAD_MAX - 1) with its time up to now. False: empty. */
bool thread_snapshot(int i, struct thread *copy);
const char *thread_state_name(enum thread_state state);

/* Cycles the CPU was idle. */
uint64_t thread_idle_cycles(void);

/* The thread below whose stack `address` lies, so near that who goes there has exhausted it; NULL: none. */
const struct thread *thread_guarded(uint64_t address);

/* For dispatch.c: slot allocation is thread.c's, switching is dispatch.c's. */
void thread_release(struct thread *t);

#endif
