/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The links of this cell: the mailboxes that words migrate=CHANNEL of the command line name. By a
 * link programs move from the cell at its end 0 to the cell at its end 1. Each link has a thread.
 * All of them are on the VCPU `migration` (10/200 ms, or as a word vcpu=migration,... says).
 *
 * With migrate=CHANNEL,MEMORY the program arena (mm/arena.h) of the source is the channel MEMORY of
 * type `memory`, which the source may write and the destination may read. Then the destination
 * copies the pages of a program from there, and the messages of the link name the pages only. If
 * the files of both cells name different channels, no program moves.
 */
#ifndef QUEST_MIGRATION_LINK_H
#define QUEST_MIGRATION_LINK_H

#include <stdbool.h>
#include "stream.h"

#define LINKS_MAX	8
/* an end that writes nothing for so long is given up, unless it may have the program */
#define MIG_SILENCE_US	10000000
#define MIG_POLL_US	500
#define MIG_KILL_US	100000	/* time between two looks whether the program was killed */

struct mig_link {
	struct mig_stream stream;
	struct mig_header header;	/* of the program that is on its way */
	bool outgoing;			/* programs leave this cell by it */
	/* incoming: the arena of the source; `arena_bytes` 0: none */
	const unsigned char *arena;
	uint64_t arena_bytes;
	uint64_t arena_session;		/* as in its life page; 0: no arena */
	bool names_pages;		/* outgoing: pages in the arena are named, not sent */
	/* incoming: TSC until which the thread looks for a message each MIG_POLL_US */
	uint64_t polls_until;
	struct admission_entry set[SCHED_VCPUS];	/* for mig_wait() */
	/* outgoing: how the last answer of the destination bounds its clock (source.c) */
	int64_t least_ahead, most_ahead;
};

/* Returns link `i`; NULL: there are fewer. */
struct mig_link *mig_link_at(int i);

/* Returns the name of the cell at the other end. */
static inline const char *mig_link_cell(const struct mig_link *l)
{
	return l->stream.end->page.end[l->stream.end->peer].name;
}

/* The work of the threads, which do not return. `number` is that of the link. */
_Noreturn void mig_source_work(struct mig_link *l, int number);
_Noreturn void mig_destination_work(struct mig_link *l);

#endif
