/* SPDX-License-Identifier: GPL-2.0-only */
/* Privileged instructions of the monitor, carried out by a signal handler. */
#ifndef FAKE_TRAPS_H
#define FAKE_TRAPS_H

#include "abi/types.h"

void fake_traps(void);			/* installs the signal handler */
void fake_invlpg(u64 va);
extern u64 fake_dr[8];			/* the debug registers */
/* fake_entry.c: CPU 0 enters the monitor by monitor_entry(); the others are set up to match. */
void fake_enter(void);

#endif
