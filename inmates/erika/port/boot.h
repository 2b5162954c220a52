/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef ERIKA_BOOT_H
#define ERIKA_BOOT_H

#include <stdbool.h>
#include <stdint.h>
#include <erika/types.h>

/* The frequency of the TSC. */
uint32_t boot_khz(void);

/* Returns whether the APIC timer compares the TSC itself. */
bool boot_deadline(void);

/* Returns N of `mode=N` in the command line, or OSDEFAULTAPPMODE. */
AppModeType boot_mode(void);

#endif
