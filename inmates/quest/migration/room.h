/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether this cell has room for a program that comes. The threads of links could have what is kept
 * for the shell, too, so they ask here first. Interrupts are off in every call.
 */
#ifndef QUEST_MIGRATION_ROOM_H
#define QUEST_MIGRATION_ROOM_H

#include "wire.h"

/* Returns whether there is room for the program of a checked header: pages, threads, a process. */
bool mig_has_room(const struct mig_header *h);

/*
 * Returns whether there is a page with these rights (space.h), with its tables, wherever it is in
 * the program.
 */
bool mig_has_page(uint64_t rights);

#endif
