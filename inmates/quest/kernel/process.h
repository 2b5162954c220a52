/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that run: an address space, threads, open files, children.
 * Interrupts are off in every call. What is kept is plain data; the program
 * itself sees nothing of the kernel but numbers.
 */
#ifndef QUEST_PROCESS_H
#define QUEST_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <inmate/trap.h>
#include "../mm/space.h"
#include "files.h"
#include "program.h"
#include "shared.h"
#include "thread.h"
#include "vcpuname.h"

#define PROCESS_MAX	32
#define SHELL_PROCESSES	2		/* of those, kept for what the shell starts */
#define SHELL_PAGES	64		/* of memory, kept as well: a small program */
#define PROCESS_NAME	THREAD_NAME
#define KERNEL_PID	0		/* and SCHED_NOBODY: the parent of what the shell starts */
#define ORPHAN		(-1)		/* the parent of those whose parent is no more */

enum process_state { PROCESS_FREE, PROCESS_STARTING, PROCESS_LIVE, PROCESS_ZOMBIE, PROCESS_DETACHED };
enum slot_state { SLOT_FREE, SLOT_RUNS, SLOT_ENDED };

/* A thread as its program knows it; its number is its stack's. */
struct process_thread {
	enum slot_state state;
	bool joining;			/* somebody waits for it */
	bool detached;			/* nobody will */
	uint64_t result;		/* what it left for pthread_join() */
};

struct program_image;

/* What a call answers in the kernel that is to begin again: no number of a program's. */
#define ERESTART	512

struct process {
	enum process_state state;
	int pid, parent;
	int job;			/* pid of the first program of the shell's line from which it descends; may be no more */
	bool background;		/* the shell does not wait for it; where it has started it */
	bool leaving;			/* its threads become `image` as soon as they can (move.h) */
	struct program_image *image;	/* NULL: none */
	bool ending;			/* its threads leave as soon as they can; `status` stands */
	int status;			/* as waitpid() gives it */
	bool heap_taken;		/* a thread is in sbrk() or fork() */
	int vcpu;			/* of new threads */
	unsigned int num_threads;
	uint64_t used, children_used;	/* TSC cycles: of threads that have ended, of children waited for */
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
 * Start a program on VCPU `vcpu` as a child of the kernel, in job `job` (0: a new one). Returns its pid, or minus an error
 * (user/include/quest/errors.h); `*why` then says more.
 */
int process_run(const struct program_args *args, int vcpu, bool background, int job, const char **why);

/* A child of the current one that goes on where this one is, with answer 0, on VCPU `vcpu`. Pid or error. */
int process_fork(const struct trap_frame *frame, int vcpu);

/* Replace the program that the current process runs; on success `frame` is its start. 0 or error. */
int process_exec(const struct program_args *args, struct trap_frame *frame);

/* Another thread of the current process. Its number, or an error. */
int process_add_thread(uint64_t rip, uint64_t arg0, uint64_t arg1);

/* Wait until thread `n` of the current process has ended, once. 0 or error. */
int process_join(unsigned int n, uint64_t *result);

/* Thread `n` of the current process will not be joined. 0 or error. */
int process_detach(unsigned int n);

/*
 * Wait for a child of `parent` (-1: any). Its pid and status, 0: none has ended and `nowait`, or an
 * error. The child is no more then.
 */
int process_wait(int parent, int pid, bool nowait, int *status);

/* All threads of `p` end soon; `status` is what waitpid() will give, unless it was ending already. */
void process_end(struct process *p, int status);

/* The same at one instant for all of a job, whoever of them is left. False: none is. */
bool process_end_job(int job, int status);

/* After a wait: 0, or why the call is to be given up: -EINTR for good, -ERESTART for now. */
long process_interrupted(const struct process *p);

/* Does the shell wait for its job? */
bool process_gets_keys(const struct process *p);

/* The current thread ends; with the last one its process does. */
_Noreturn void process_end_thread(uint64_t result);

/* Last thing before ring 3, with `frame`: does not return when the process is ending or leaving. */
void process_leave(struct trap_frame *frame);

/* NULL: none such. By pid; the one in slot i; of the current thread. */
struct process *process_find(int pid);
struct process *process_at(int i);
struct process *process_current(void);

/* One thread at a time moves the heap or copies it. False: `p`, the current one, is ending. */
bool process_take_heap(struct process *p);
void process_give_heap(struct process *p);

/* VCPU `vcpu` is no more: whose new threads would go there, go to best effort. */
void process_leave_vcpu(int vcpu);

/* CPU time of all its threads so far, TSC cycles. */
uint64_t process_used(const struct process *p);

/* A background process of the kernel's that has ended, put into `copy` and freed. False: none. */
bool process_reap_background(struct process *copy);

#endif
