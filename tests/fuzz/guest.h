/* SPDX-License-Identifier: GPL-2.0-only */
/* For the fuzzers of exits, one per vendor: what no exit may bring about, on any of them. */
#ifndef GUEST_H
#define GUEST_H

#include "abi/types.h"

/* As fake_ipi: only fixed vectors and NMIs, and only to the guest's own CPUs */
void guest_check_ipi(u32 low, u32 apic_id);
/* A cell with two of the machine's four CPUs */
void guest_become_cell(void);
/* After an exit of a cell; @was: my_status()->state before it, fake_wrmsr_last 0 */
void guest_check_cell(u32 was);

#endif
