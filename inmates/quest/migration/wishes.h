/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs that wish to move (struct migration_wish). Interrupts are off in every call. */
#ifndef QUEST_MIGRATION_WISHES_H
#define QUEST_MIGRATION_WISHES_H

#include <stdbool.h>
#include <stdint.h>

struct process;

/* Records a wish of `p`, as migration_wish() does. Returns 0 or -EBUSY. */
int wishes_add(struct process *p, int link, uint64_t until, bool strict);

/*
 * Waits for a program that wishes to move by link `link`. Whenever interrupts are on, it may end,
 * or have another wish.
 * NULL: wishes_ask() was called, since the cell at the other end is to be asked for its load.
 * Neither programs nor questions that come again at once keep others from their turn.
 */
struct process *wishes_next(int link);
void wishes_ask(int link);

/* Returns process `pid` if it still has its wish `number`; else NULL. */
struct process *wishes_find(int pid, uint32_t number);

/* The wish of `p` fails if its time is over, and it has not left yet: the link may be busy. */
void wishes_expire(struct process *p);

/* The wish of `p` has failed with `error`. */
void wishes_fail(struct process *p, int error);

#endif
