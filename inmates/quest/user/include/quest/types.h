/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What goes between a program and the kernel. Plain data; the kernel copies it once, then checks the copy. */
#ifndef QUEST_TYPES_H
#define QUEST_TYPES_H

#include <stddef.h>
#include <stdint.h>
#include "classes.h"

typedef int pid_t;
typedef int pthread_t;
typedef struct { uint32_t word; } pthread_mutex_t;	/* 0: free; else its owner's number plus 1, and LOCK_AWAITED */
typedef struct { uint32_t count; } pthread_cond_t;	/* of signals so far */
typedef struct { uint32_t value, waiters; } sem_t;
typedef int vcpu_id_t;
typedef long ssize_t;
typedef long off_t;

#define LOCK_AWAITED	0x80000000u	/* in a lock's word: threads may wait for it */
#define SEM_VALUE_MAX	0x7FFFFFFF

/* Where the stacks of threads lie: number n's is the upper half of the n-th 2 * QUEST_STACK_BYTES. */
#define QUEST_STACKS	0x400000200000ul
#define QUEST_STACK_BYTES	0x10000ul
#define QUEST_THREADS	16

/* What sched_param counts C and T in. */
enum vcpu_unit { VCPU_MS = 0, VCPU_US = 1 };

struct sched_param {
	int sched_priority;	/* not used: periods decide */
	int type;		/* 0: Main, 1: I/O */
	int io_class;		/* enum iovcpu_class, for an I/O VCPU: remembered; a Main VCPU: 0 */
	int C, T;		/* budget and period; 0 < C <= T. I/O VCPU: U = C/T */
	int m, k;		/* not used */
	int affinity;		/* CPU of the cell: 0 */
	int machine_affinity;	/* not used */
	int unit;		/* enum vcpu_unit, of C and T */
};

struct timeval {
	long tv_sec, tv_usec;	/* since the kernel's start: there is no calendar clock */
};

typedef long time_t;
typedef int clockid_t;

struct timespec {
	time_t tv_sec;
	long tv_nsec;		/* 0..999999999 */
};

#define CLOCK_REALTIME		0	/* the same as CLOCK_MONOTONIC */
#define CLOCK_MONOTONIC		1	/* since the kernel's start */
#define CLOCK_PROCESS_CPUTIME_ID	2	/* CPU time of all threads of this program so far */
#define CLOCK_THREAD_CPUTIME_ID	3	/* of the calling thread */
#define TIMER_ABSTIME		1

struct tms {
	uint64_t tms_utime;	/* CPU time of this program's threads, us, the kernel's work for them included */
	uint64_t tms_cutime;	/* of its children that were waited for, us */
};

struct meminfo {
	uint64_t total_kib;	/* of the cell, for programs and the kernel's data */
	uint64_t free_kib;
	uint64_t own_kib;	/* this program's pages */
};

#define UTSNAME_LENGTH	32

struct utsname {
	char sysname[UTSNAME_LENGTH], nodename[UTSNAME_LENGTH];	/* "Quest"; the cell's name, or "alone" */
	char release[UTSNAME_LENGTH], machine[UTSNAME_LENGTH];
};

#define O_RDONLY	0
#define PIPE_BUF	512	/* bytes that a pipe takes in one piece */
#define SEEK_SET	0
#define SEEK_CUR	1
#define SEEK_END	2

/* waitpid(): options, and what its status says. */
#define WNOHANG		1
#define WIFEXITED(s)	(((s) & 0x7F) == 0)
#define WEXITSTATUS(s)	(((s) >> 8) & 0xFF)
#define WIFSIGNALED(s)	(((s) & 0x7F) != 0)
#define WTERMSIG(s)	((s) & 0x7F)

/* Why a program was killed: numbers that Unix programmers know. There are no signal handlers. */
#define SIGILL		4	/* an instruction that is none, or not for programs */
#define SIGTRAP		5	/* breakpoint, single step */
#define SIGFPE		8	/* division by zero, SSE or x87 exception that was not masked */
#define SIGKILL		9	/* kill(), ^C */
#define SIGSEGV		11	/* memory */
#define SIGPIPE		13	/* written to a pipe that nobody can read from */
#define SIGTERM		15

#endif
