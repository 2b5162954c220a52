/* SPDX-License-Identifier: GPL-2.0-only */
/* The interrupts that the monitor sends, for tests of bells. */
#ifndef UNIT_HEARD_H
#define UNIT_HEARD_H

#include "abi/types.h"

/* Counts a fixed interrupt. Anything else is a command, which its CPU carries out: for fake_ipi. */
void heard_ipi(u32 low, u32 apic_id);

/* Forgets what was sent. */
void heard_nothing(void);

/* Checks how many fixed interrupts were sent since the last check, and the last one. */
void heard_expect(u32 number, u32 vector, u32 cpu);

#endif
