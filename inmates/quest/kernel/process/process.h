/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of processes: programs that run, each with an address space, threads, open files and
 * children. Interrupts are off in every call. Everything kept is plain data; a program sees numbers
 * only. Other headers in this folder have what is done with a process: start.h, exit.h, children.h,
 * job.h, threads.h, heap.h, move.h.
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
#define SHELL_PROCESSES	2		/* of those, kept for the shell */
#define SHELL_PAGES	64		/* of memory, kept for the shell: a small program */
#define PROCESS_NAME	THREAD_NAME
#define KERNEL_PID	0	/* the parent of the shell's programs; also SCHED_NO_OWNER */
#define ORPHAN		(-1)		/* the parent of processes whose parent has ended */

enum process_state {
	PROCESS_FREE, PROCESS_STARTING, PROCESS_LIVE, PROCESS_ZOMBIE, PROCESS_DETACHED
};
enum slot_state { SLOT_FREE, SLOT_RUNS, SLOT_ENDED };

/* A thread as its program knows it. Its number is that of its stack. */
struct process_thread {
	enum slot_state state;
	bool joining;			/* a thread waits for it */
	bool detached;			/* no thread will wait for it */
	uint64_t result;		/* for pthread_join() */
};

struct program_image;

/* The result of a call that is to begin again. Programs never see it. */
#define ERESTART	512

struct process {
	enum process_state state;
	int pid, parent;
	/* pid of the first program of its line of the shell, which may have ended */
	int job;
	/* the shell does not wait for it, although it has started it */
	bool background;
	/* its threads go into `image` as soon as they can (move.h) */
	bool leaving;
	struct program_image *image;	/* NULL: none */
	/* its threads leave as soon as they can; `status` is final */
	bool ending;
	int status;			/* for waitpid() */
	bool heap_taken;		/* a thread is in sbrk() or fork() */
	int vcpu;			/* of new threads */
	unsigned int num_threads;
	/* TSC cycles: of ended threads; of children that were waited for */
	uint64_t used, children_used;
	struct space space;
	struct wait_queue changed;	/* a child or a thread has ended */
	struct wait_queue words;	/* threads in wait_word() */
	struct wait_queue locks;	/* threads in lock_word() */
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

/* The kernel's threads wait on this for the programs that they started. */
struct wait_queue *process_kernel_children(void);

/* All threads of `p` end soon. waitpid() will give `status`, unless `p` was ending already. */
void process_end(struct process *p, int status);

/*
 * Call it after a wait. Returns 0 if the system call can continue; -EINTR if the process ends;
 * -ERESTART if the call must return, and will begin again later.
 */
long process_interrupted(const struct process *p);

/* VCPU `vcpu` is gone: new threads of the processes that used it go to best effort. */
void process_leave_vcpu(int vcpu);

/* Returns the CPU time of all its threads so far, in TSC cycles. */
uint64_t process_used(const struct process *p);

#endif
