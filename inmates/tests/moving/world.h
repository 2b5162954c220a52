/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A world in which the real files that move, start and end programs run on the host. Each thread of
 * Quest is a thread of the host, one of which runs at a time. Wherever the kernel lets others run,
 * the world chooses the next one at random, by a seed.
 */
#ifndef MOVING_WORLD_H
#define MOVING_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../quest/kernel/process/process.h"
#include "../../quest/kernel/vcpu/uservcpu.h"

/* Begins a world without programs. `act` is what threads of programs do in the kernel each time. */
void world_begin(uint64_t seed, void (*act)(void));

/* From now on the time of a sleep or a wait is over only when no thread is ready. */
void world_sleep_in_order(void);

/*
 * Creates a program with so many threads on VCPU `vcpu`; -1: on a new VCPU of its own. `parent`:
 * NULL: the kernel. NULL: there is no room.
 */
struct process *world_program(const struct process *parent, unsigned int num_threads, int vcpu);

/* Starts a thread of the kernel. */
void world_thread(thread_function *fn);

/* Runs until all threads have ended, or wait without a limit of time. */
void world_run(void);

/* Lets others run. */
void world_yield(void);

/* Returns a number from 0 to `n` - 1 of the world's seed. */
uint64_t world_below(uint64_t n);

/*
 * Checks that each program has ended, or has all of its threads, and that nothing else is left.
 * Forgets the programs of the kernel that have ended.
 */
void world_check(void);

/* largest number of threads that were created without a pause between them */
extern unsigned int world_burst;
/* largest number of bytes that were copied or cleared without a pause */
extern size_t world_written;
/* numbers of pages that are free, and of those among them that programs on their way will need */
extern unsigned int world_unkept, world_kept_more;
/* pid of the program for which migration_wish() was called */
extern int world_wished;

#endif
