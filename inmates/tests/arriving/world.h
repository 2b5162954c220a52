/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A world in which the real thread of a link receives programs on the host. The other end of the
 * mailbox is the test: it writes a program, as a stream of bytes in messages, or anything else.
 * Memory is real, processes are plain data, and threads do not run.
 */
#ifndef ARRIVING_WORLD_H
#define ARRIVING_WORLD_H

#include <stdbool.h>
#include <stdint.h>
#include "../../quest/migration/link.h"

#define ITEM		8192u		/* bytes of a message */
#define RAM_PAGES	400u
#define ARENA_PAGES_HERE	512u	/* of the cell that receives; the source has as many */
#define US		1000u		/* cycles */

/* Begins a world. `own_arena`: the cell that receives has one, too. */
void world_begin(bool own_arena);

/* A program with one thread, one VCPU and so many pages of these rights, each `gap` pages apart. */
void world_program(unsigned int pages, enum mig_rights rights, unsigned int gap, bool in_arena);

/*
 * The link works until `world_source` returns false, which is called whenever the link waits, and
 * until then `us` later.
 */
extern bool (*world_source)(void);
extern uint64_t world_wait_us;
void world_run(void);

/*
 * For world_source: sends `bytes` of the stream, or fewer, in a message of that kind, if it is the
 * source's turn. Returns whether it was. world_answer is the last answer that was taken.
 */
bool world_send(enum mig_kind kind, unsigned int bytes);
/* The source's cell ends, and begins again. */
void world_restart(void);

/* Overwrites a byte of the stream, in a part that was not sent, by a random one. */
void world_spoil(void);
extern struct mig_message world_answer;
extern unsigned int world_answers;

/* A source that sends the program in messages of at most this size, until it is answered. */
bool world_send_all(void);
extern unsigned int world_part;

/* Returns the program that comes, or has come; NULL: there is no such program. */
struct process *world_process(void);
extern unsigned int world_runs;		/* number of programs that run */
/* the fewest pages of RAM that were free since world_begin() */
extern unsigned int world_least;

extern unsigned int world_learned;	/* how often the link learned the cost of a program */

extern struct mig_link world_link;
uint64_t rdtsc(void);

#endif
