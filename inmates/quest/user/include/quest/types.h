/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Data that programs and the kernel exchange. It is plain data. The kernel copies it once, then
 * checks the copy.
 */
#ifndef QUEST_TYPES_H
#define QUEST_TYPES_H

#include "classes.h"
#include "posix_types.h"

typedef int vcpu_id_t;

#define LOCK_AWAITED	0x80000000u	/* bit of a lock's word: threads may wait for the lock */

/* Stacks of threads: the stack of thread n is the upper half of the n-th 2 * QUEST_STACK_BYTES. */
#define QUEST_STACKS	0x400000200000ul
#define QUEST_STACK_BYTES	0x10000ul
#define QUEST_THREADS	16

/* The unit of C and T in sched_param. */
enum vcpu_unit { VCPU_MS = 0, VCPU_US = 1 };

struct quest_tms {
	/* CPU time of this program's threads, in us, the kernel's work for them included */
	uint64_t tms_utime;
	uint64_t tms_cutime;	/* CPU time of children that waitpid() has returned, in us */
};

struct meminfo {
	uint64_t total_kib;	/* memory of the cell, for programs and the kernel's data */
	uint64_t free_kib;
	uint64_t own_kib;	/* memory in this program's pages */
};

/* Where a channel is in a program that has attached it */
struct quest_channel {
	uint64_t at, length;	/* address and bytes of the channel */
	uint64_t end;		/* the end of this cell */
};

/* A channel that a program opens at run time. The other end must have the same words. */
struct quest_key {
	uint32_t key;		/* from 1 on */
	uint32_t writes;	/* 1: this end writes, or begins a mailbox; 0: the other */
	uint32_t type;		/* QV_CHAN_RING and others of qv/channel.h */
	uint32_t full;		/* ring: QV_CHAN_FULL_ERROR and others; other types: 0 */
	uint32_t flags;		/* QV_CHAN_BELL, QV_CHAN_ONE_SHOT */
	uint32_t shared;	/* memory: 1: both ends write; other types: 0 */
	uint64_t item, slots;	/* bytes of an item; slots of a ring, 0 and 1 are the same */
	char peer[32];		/* name of the other end: a cell, or "linux" */
};

/* The longest datagram: a frame of Ethernet without the headers of IP and UDP */
#define QUEST_DATAGRAM	1472

/* An address of IPv4, in the order of the network, and a port */
struct quest_address {
	uint32_t ip;
	uint32_t port;
};

/*
 * Data to send, or room for received data. `address`: of datagrams, to where, or from where it
 * came; port 0: to the other end that connect() named
 */
struct quest_datagram {
	uint64_t data, length;		/* address and number of bytes */
	uint64_t flags;			/* MSG_DONTWAIT, MSG_PEEK */
	struct quest_address address;
};

/* The options of a socket: times in us, 0: no limit; else 0 or 1. The last three are only read. */
enum quest_option {
	QUEST_RECEIVE_US, QUEST_SEND_US, QUEST_REUSE, QUEST_KEEP_ALIVE, QUEST_NO_DELAY,
	QUEST_ERROR, QUEST_TYPE, QUEST_LISTENS
};

/* How long the caller's VCPU takes to serve a demand of CPU time: ipc_wait() (ipc.h) */
struct quest_ipc_wait {
	uint64_t demand_ns;
	uint64_t sleeps;	/* 1: the thread sleeps until a bell wakes it; 0: it polls */
	/* the longest time by each rule (ipc/bounds.h), rounded up; UINT64_MAX: no bound */
	uint64_t paper_ns, now_ns, any_ns;
	uint64_t wake_ns;	/* the part from a bell until the thread is runnable */
};

/* vcpu_migration(): destinations and flags */
#define RECOVERY_BEHIND	0x100	/* of recovery_vote(): the others are further */

#define DEST_ANY	(-1)
#define MIG_STRICT	1	/* no VCPU of the program loses a part of its budget */
#define MIG_RELAX	2	/* the move may take as long as it takes */

#define QUEST_CELL_NAME	32

/* The result of the last vcpu_migration() */
struct quest_migration {
	int pending;			/* 1: the program has not moved yet; else 0 */
	int error;			/* 0, or why it stayed: minus an error */
	unsigned int moves;		/* how often the program has moved so far */
	char cell[QUEST_CELL_NAME];	/* the cell where it is now */
};

/* The status that waitpid() and the shell get for a program that has moved by link `link` */
#define QUEST_MOVED(link)	(0x10000 | (link) << 20)
#define WIFMOVED(status)	((status) & 0x10000 && 1)
#define WMOVEDBY(status)	((status) >> 20)

#define UTSNAME_LENGTH	32

struct quest_utsname {
	/* "Quest"; the cell's name, or "alone" */
	char sysname[UTSNAME_LENGTH], nodename[UTSNAME_LENGTH];
	char release[UTSNAME_LENGTH], machine[UTSNAME_LENGTH];
};

#endif
