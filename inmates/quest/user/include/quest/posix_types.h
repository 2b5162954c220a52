/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The types and numbers of POSIX that Quest has. POSIX's headers and the kernel include this file;
 * a program includes unistd.h, pthread.h and so on. Comments say where Quest differs.
 */
#ifndef QUEST_POSIX_TYPES_H
#define QUEST_POSIX_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int pid_t;
typedef int pthread_t;
typedef long ssize_t;
typedef long off_t;
typedef long time_t;
typedef long clock_t;
typedef int clockid_t;
typedef unsigned int useconds_t;
typedef long suseconds_t;
typedef unsigned int mode_t;

/*
 * A mutex is free while `word` is 0. Otherwise `word` is its owner's number plus 1, and may include
 * LOCK_AWAITED (types.h).
 */
typedef struct { uint32_t word, kind, depth; } pthread_mutex_t;
typedef struct { uint32_t count; } pthread_cond_t;	/* number of signals so far */
typedef struct { uint32_t value, waiters; } sem_t;

#define SEM_VALUE_MAX	0x7FFFFFFF

/* Parameters of a VCPU: Quest schedules by budgets and periods. */
struct sched_param {
	int sched_priority;	/* not used: periods decide */
	int type;		/* 0: Main, 1: I/O */
	/* I/O VCPU: enum iovcpu_class, recorded without effect; Main VCPU: 0 */
	int io_class;
	int C, T;		/* budget and period; 0 < C <= T. I/O VCPU: U = C/T */
	int m, k;		/* not used */
	/*
	 * sched_setparam(): the cell to which the program then moves, as vcpu_migration() with
	 * `affinity` - 1 does; 0: this cell. Other calls: 0.
	 */
	int affinity;
	int machine_affinity;	/* not used */
	int unit;		/* unit of C and T: enum vcpu_unit */
};

struct timeval {
	time_t tv_sec;		/* counts from the kernel's start: there is no calendar clock */
	suseconds_t tv_usec;
};

struct timespec {
	time_t tv_sec;
	long tv_nsec;		/* 0..999999999 */
};

#define CLOCK_REALTIME		0	/* the same clock as CLOCK_MONOTONIC */
#define CLOCK_MONOTONIC		1	/* counts from the kernel's start */
#define CLOCK_PROCESS_CPUTIME_ID	2	/* CPU time of all threads of this program so far */
#define CLOCK_THREAD_CPUTIME_ID	3	/* CPU time of the calling thread so far */
#define TIMER_ABSTIME		1

#define O_RDONLY	0
#define O_WRONLY	1	/* files of the archive cannot be written: EROFS */
#define O_RDWR		2
/* largest number of bytes that write() puts into a pipe in one piece */
#define PIPE_BUF	512
#define SEEK_SET	0
#define SEEK_CUR	1
#define SEEK_END	2

/* waitpid(): options, and how to read the status. */
#define WNOHANG		1
#define WIFEXITED(s)	(((s) & 0x7F) == 0)
#define WEXITSTATUS(s)	(((s) >> 8) & 0xFF)
#define WIFSIGNALED(s)	(((s) & 0x7F) != 0)
#define WTERMSIG(s)	((s) & 0x7F)
#define WIFSTOPPED(s)	0		/* programs cannot be stopped */

/* Why a program was killed, with the numbers of Unix. There are no signal handlers. */
#define SIGINT		2
#define SIGILL		4	/* an invalid or privileged instruction */
#define SIGTRAP		5	/* breakpoint, single step */
#define SIGABRT		6	/* abort() */
#define SIGFPE		8	/* division by zero; an SSE or x87 exception that was not masked */
#define SIGKILL		9	/* kill(), ^C */
#define SIGSEGV		11	/* memory */
#define SIGPIPE		13	/* the program wrote to a pipe without readers */
#define SIGTERM		15

#endif
