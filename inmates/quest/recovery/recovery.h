/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds faults of components, and recovers from them. All of it runs in the thread `recovery` on
 * the VCPU `recovery`, so that it costs the cell at most that VCPU's budget, even if a program dies
 * in a loop.
 */
#ifndef QUEST_RECOVERY_H
#define QUEST_RECOVERY_H

#include <stdbool.h>
#include <inmate/boot.h>

/*
 * Starts it, if the command line has a word recovery=FILE, or a driver is a component (driver.h).
 * Prints why it cannot.
 */
void recovery_boot(const struct boot_info *boot);

/*
 * Starts the components that `file` of the archive declares. Returns NULL, or why it cannot. If the
 * file has errors, it prints them, and another call may name another file.
 */
const char *recovery_start(const char *file);

/* Asks for a restart of a component as it was declared. Returns whether there is such a one. */
bool recovery_ask(const char *name);

/* Prints components, detectors and the last outages. */
void recovery_print(void);

/* The longest time from a fault, or from its limit, until it is found, in TSC cycles. */
uint64_t recovery_bound(void);

/* The VCPU of the thread; -1: it has not started. */
int recovery_vcpu(void);

#endif
