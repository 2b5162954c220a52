/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The parts of the port to x86-64 on the inmates' library. */
#ifndef ERIKA_X86_H
#define ERIKA_X86_H

#include <stdbool.h>
#include <stdint.h>

/* Unmaps the page below each stack. Returns false if the image is too large for that. */
bool guard_stacks(void);

/* Disables caching of the 2 MiB around a device's page. */
void guard_map_uncached(uint64_t page);

/* Returns the name of the task whose guard page contains `address`; NULL: none. */
const char *guard_owner(uint64_t address);

/* Installs the handler of exceptions: prints what failed, and shuts the kernel down. */
void fault_catch(void);

/* Prints a sentence and stops this CPU. */
_Noreturn void fault_stop(const char *why);

/* Sets the TSC's frequency, and whether the APIC timer compares the TSC itself. */
void hwclock_set(uint32_t tsc_khz, bool tsc_deadline);

/* Prepares the APIC timer. In a cell, requests its interrupts for the heartbeat. */
void hwclock_start(uint8_t vector);

/* The timer's interrupt has come. Requests the next one. Returns whether the heartbeat is due. */
bool hwclock_fired(void);

#endif
