/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's page tables, between mm.c and paging.c. */
#ifndef QUEST_PAGING_H
#define QUEST_PAGING_H

#include <stdbool.h>

/* An empty top table. False: no page for it. */
bool paging_init(void);

/* Leave the boot page tables. */
void paging_activate(void);

#endif
