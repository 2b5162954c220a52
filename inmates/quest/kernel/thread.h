/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads. Each has a kernel stack and may be preempted. Some threads run a program in ring 3
 * (userthread.h). wait.h has the functions by which a thread waits. Times are TSC cycles unless a
 * name says otherwise.
 */
#ifndef QUEST_THREAD_H
#define QUEST_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include "../sched/sched.h"
#include "timerq.h"

#define THREAD_MAX	TIMERQ_MAX
/* number of slots of THREAD_MAX that are kept for the kernel and the shell's programs */
#define SHELL_THREADS	4
#define THREAD_NAME	16
#define THREAD_IDLE_ID	0

enum thread_state {
	THREAD_FREE, THREAD_READY, THREAD_SLEEPING, THREAD_WAITING, THREAD_DEAD,
	THREAD_NEW,			/* it has a stack, and no VCPU yet (process/userthread.h) */
};

typedef void thread_function(void *arg);

struct fpu_state;
struct process;
struct wait_queue;

/* A system call that was cancelled by a move, and that begins again after it (process/move.h). */
struct call_restart {
	bool again;			/* this call is the restart of a cancelled one */
	/* TSC value at which the call's wait ends; 0: it has no time limit */
	uint64_t until;
};

struct thread {
	struct sched_entity sched;
	struct timer_event timer;	/* the time at which to wake the thread */
	struct thread *next_waiting, *prev_waiting;
	uint64_t joined;		/* when it joined the queue: waitqueue_joins() */
	/* the queue on which the thread waits; NULL: it does not wait */
	struct wait_queue *waiting_on;
	bool late;			/* the time ran out before the thread was woken */
	/* the time for which it asked, if that came and the thread has not run since; else 0 */
	uint64_t due;
	/* the process whose program it runs; NULL: a thread of the kernel */
	struct process *process;
	unsigned int slot;		/* number of the thread, and of its stack, in the process */
	uint64_t kernel_top;		/* stack pointer (RSP) at an entry from ring 3 */
	/* the thread's FPU state while the FPU holds that of another thread */
	struct fpu_state *fpu;
	uint64_t rsp;			/* stack pointer while the thread does not run */
	uint64_t stack;			/* lowest address of the stack; 0: the boot stack */
	enum thread_state state;
	int id;
	/* the VCPU that the thread is bound to; sched.vcpu may be an inherited one (lock.h) */
	int own_vcpu;
	struct call_restart restart;	/* restart of the system call in progress */
	uint64_t awaits;		/* address of the lock that it waits for; 0: none */
	uint32_t awaits_owner;		/* the owner of that lock: its word without LOCK_AWAITED */
	char name[THREAD_NAME];
};

/*
 * Makes the caller the idle thread (id 0). The timer interrupts on `timer_vector`. There are no
 * VCPUs yet. `background`: VCPUs without budget run while the CPU would be idle.
 */
void threads_init(unsigned int timer_vector, enum admission_test admission, bool background);

/*
 * Creates a thread on VCPU `vcpu`, runnable at once. Returns its id, or minus an error (errors.h):
 * EAGAIN: no slot or no such VCPU, ENOMEM.
 */
int thread_create(const char *name, int vcpu, thread_function *fn, void *arg);

/*
 * The two steps of thread_create() for a thread of a program, before dispatch_admit(). Interrupts
 * are off. thread_new() does not use the last `kept` slots; it returns 0 or minus an error.
 * thread_prepare() makes the thread start with fn(arg) on the stack that ends at `top`.
 */
int thread_new(struct thread **made, const char *name, int vcpu, unsigned int kept);
void thread_prepare(struct thread *t, uint64_t top, thread_function *fn, void *arg);

_Noreturn void thread_exit(void);
struct thread *thread_current(void);
void thread_sleep_us(uint64_t us);
void thread_sleep_until(uint64_t at);

/* Gives the current thread another name. */
void thread_rename(const char *name);

/* Returns the cycles that the threads of `p` have used. */
uint64_t thread_used_by(const struct process *p);

/*
 * Copies the thread in slot `i` (0 to THREAD_MAX - 1), with its time charged up to now. Returns
 * false if the slot is empty.
 */
bool thread_snapshot(int i, struct thread *copy);
const char *thread_state_name(enum thread_state state);

/* Returns the cycles that the CPU was idle. */
uint64_t thread_idle_cycles(void);

#endif
