/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's page tables, between mm.c and paging.c. */
#ifndef QUEST_PAGING_H
#define QUEST_PAGING_H

#include <stdbool.h>

/* An empty top table; turns PTE_NO_EXECUTE on if there is one. False: no page for the table. */
bool paging_init(bool no_execute);

/* Leave the boot page tables. */
void paging_activate(void);

#endif
