/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs move to another cell and continue there: vcpu_migration() of the Quest-V papers. The
 * program's threads, VCPUs, memory and open files of the archive move as plain data. A program that
 * cannot move stays, and runs on. Interrupts are off in every call on a process.
 */
#ifndef QUEST_MIGRATION_H
#define QUEST_MIGRATION_H

#include <stdbool.h>
#include <stdint.h>
#include <inmate/boot.h>

struct process;

/* Opens the links of the command line (link.h), and starts their threads. Prints what fails. */
void migration_start(const struct boot_info *boot);

/*
 * Returns the number of the link by which programs move to cell `name`; the number of the `n`-th
 * outgoing link. -1: no such link.
 */
int migration_find(const char *name);
int migration_nth(int n);

/* Returns the name of the cell at the other end of link `link`; NULL: it is no outgoing link. */
const char *migration_cell(int link);

/*
 * Wishes that `p` moves by link `link` until TSC `until` (UINT64_MAX: no limit). `strict`: only at
 * a moment when it loses no budget. Returns 0; EINVAL: no such link; EBUSY: an earlier wish is
 * being carried out. The result is in p->wish.
 */
int migration_wish(struct process *p, int link, uint64_t until, bool strict);

/* Returns whether the wish of `p` is still to be carried out. Its time may be over. */
bool migration_pending(struct process *p);

#endif
