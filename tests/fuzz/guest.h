/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks that the fuzzers of exits share, for both vendors: effects that no exit may have. */
#ifndef GUEST_H
#define GUEST_H

#include "abi/types.h"

/* Replaces fake_ipi: only fixed vectors and NMIs may be sent, and only to the guest's own CPUs. */
void guest_check_ipi(u32 low, u32 apic_id);
/* Turns the machine into a cell with two of its four CPUs. */
void guest_become_cell(void);
/*
 * Call this after an exit of a cell. @was: my_status()->state before the exit; fake_wrmsr_last was
 * 0.
 */
void guest_check_cell(u32 was);

#endif
