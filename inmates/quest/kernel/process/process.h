/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of processes: programs that run, each with an address space, threads, open files and
 * children. Interrupts are off in every call. All stored state is plain data, and programs see
 * numbers only. Other headers in this folder have the operations on processes: start.h, exit.h,
 * children.h, job.h, threads.h, heap.h, move.h.
 */
#ifndef QUEST_PROCESS_H
#define QUEST_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include "../../mm/space.h"
#include "../files.h"
#include "../shared.h"
#include "../thread.h"
#include "../vcpu/vcpuname.h"
#include "../wait.h"

#define PROCESS_MAX	32
/* number of slots of PROCESS_MAX that are kept for the shell */
#define SHELL_PROCESSES	2
/* number of pages that are kept for the shell, enough for a small program */
#define SHELL_PAGES	64
#define PROCESS_NAME	THREAD_NAME
#define KERNEL_PID	0	/* parent pid of the shell's programs; also SCHED_NO_OWNER */
#define ORPHAN		(-1)		/* parent pid of processes whose parent has ended */

enum process_state {
	PROCESS_FREE, PROCESS_STARTING, PROCESS_LIVE, PROCESS_ZOMBIE, PROCESS_DETACHED,
	PROCESS_MOVING,			/* on its way to another cell, or from it: has no threads */
};
enum slot_state { SLOT_FREE, SLOT_RUNS, SLOT_ENDED };

/* A thread as its program knows it. The thread and its stack have the same number. */
struct process_thread {
	enum slot_state state;
	bool joining;			/* another thread waits until this one ends */
	bool detached;			/* no thread will wait for it */
	uint64_t result;		/* the value that pthread_join() returns */
};

struct program_image;

/* A program's wish to move to another cell, and the result of the last one (migration/). */
struct migration_wish {
	int link;			/* number of the link plus 1; 0: no wish */
	uint32_t number;		/* another one for each wish of the program */
	bool strict;			/* MIG_STRICT */
	/* no moment was long enough for a strict move, for as long as one should have come */
	bool hopeless;
	uint64_t watched;		/* cycles of looks for such a moment, so far */
	uint64_t until;			/* TSC at which the wish ends; UINT64_MAX: it does not */
	int error;			/* of the last wish: minus an error, or 0 */
	uint32_t moves;			/* how often the program has moved */
};

/* The result of a system call that must begin again. Programs never see it. */
#define ERESTART	512

/* The calls of recovery_beat(). TSC values; 0: none yet. */
struct heartbeat {
	uint64_t first, last;
};

struct process {
	enum process_state state;
	int pid, parent;
	/*
	 * pid of the first program of the shell line that started it; that program may have ended
	 */
	int job;
	/* the shell has started the process and does not wait for it */
	bool background;
	/* it is a component: its number in recovery/ plus 1, and recovery/ waits for it; 0: no */
	int component;
	/* its threads move into `image` as soon as possible (move.h) */
	bool leaving;
	struct program_image *image;	/* NULL: none */
	/* its threads end as soon as possible; `status` is final */
	bool ending;
	int status;			/* for waitpid() */
	uint64_t ended;			/* TSC of the first reason to end; 0: none known */
	bool heap_taken;		/* a thread is in sbrk() or fork() */
	int vcpu;			/* VCPU of new threads */
	unsigned int num_threads;
	/*
	 * TSC cycles used by threads that have ended, and by children that waitpid() has returned
	 */
	uint64_t used, children_used;
	uint64_t epoch;			/* TSC value at which its clocks show 0 */
	struct migration_wish wish;
	struct heartbeat beat;
	struct space space;
	struct wait_queue changed;	/* threads that wait until a child or a thread has ended */
	struct wait_queue words;	/* threads that wait in wait_word() */
	struct wait_queue locks;	/* threads that wait in lock_word() */
	struct process_thread threads[STACKS_MAX];
	struct open_file files[FILES_MAX];
	struct attachment attached[SHARED_OF_ONE];
	struct vcpuname vcpu_names[VCPUNAMES];
	char name[PROCESS_NAME];
};

/*
 * Takes a free slot with a new pid; its state is PROCESS_STARTING. `parent` NULL: the kernel, for
 * which some slots are kept. Returns NULL if there is no free slot.
 */
struct process *process_new(const struct process *parent, int vcpu, const char *name);

/*
 * Return the process with that pid; the process in slot i; the process of the current thread. NULL:
 * no such process.
 */
struct process *process_find(int pid);
struct process *process_at(int i);
struct process *process_current(void);

/* Wakes the parent of `p`, which may wait for it. */
void process_wake_parent(const struct process *p);

/*
 * From now on calls `ended`, with interrupts off, when a program has ended for which the shell does
 * not wait: process_reap_background() returns it.
 */
void process_on_background_end(void (*ended)(void));

/* Returns the queue on which the kernel's threads wait for the programs that they started. */
struct wait_queue *process_kernel_children(void);

/*
 * Makes all threads of `p` end soon. waitpid() will report `status`, unless `p` was ending already.
 */
void process_end(struct process *p, int status);

/*
 * Call it after a wait in a system call. Returns 0 if the call can continue; -EINTR if the process
 * is ending; -ERESTART if the call must return now and will begin again later.
 */
long process_interrupted(const struct process *p);

/*
 * Call it when VCPU `vcpu` was destroyed. New threads of the processes that used it will run at
 * best effort.
 */
void process_leave_vcpu(int vcpu);

/* Returns the CPU time of all threads of `p` so far, in TSC cycles. */
uint64_t process_used(const struct process *p);

#endif
