// SPDX-License-Identifier: GPL-2.0-only
#include "core/cpu.h"
#include "fake.h"
#include "guest.h"
#include "unit.h"

#define CELL_CPUS	2u
/* ICR values: a vector, fixed or NMI, asserted; physical destination, no shorthand */
#define IPI_ALLOWED	0x47ffu

void guest_check_ipi(u32 low, u32 apic_id)
{
	u32 i;

	CHECK(!(low & ~IPI_ALLOWED) && ((low >> 8 & 7) == 0 || (low >> 8 & 7) == 4));
	for (i = 0; i < me()->icr.num; i++)
		if ((me()->icr.own_cpus >> i & 1) && pcpu_of(i)->apic_id == apic_id)
			break;
	CHECK(i < me()->icr.num);
	if (load(&pcpu_of(i)->cmd))	/* without a command the NMI is the guest's own */
		fake_answer(low, apic_id);
}

void guest_become_cell(void)
{
	fake_become_cell();
	me()->icr.num = me()->boot.num_cpus = CELL_CPUS;
	me()->icr.own_cpus = (1u << CELL_CPUS) - 1;
}

#define MCG_STATUS	0x17au

/* APIC registers that apic_drain() writes when a cell sends INIT to one of its CPUs */
static bool drained(u32 msr)
{
	return msr == 0x808 || msr == 0x80b || msr == 0x80f || msr == 0x838;
}

/*
 * For a cell, the monitor writes ICR and LVT only, which are checked elsewhere. It may also clear
 * MCG_STATUS to end a machine check.
 */
void guest_check_cell(u32 was)
{
	CHECK(!fake_wrmsr_last || (fake_wrmsr_last >= 0x82f && fake_wrmsr_last <= 0x837) ||
	      drained(fake_wrmsr_last) || (fake_wrmsr_last == MCG_STATUS && !fake_wrmsr_value));
	CHECK(my_status()->state == was || my_status()->state == QV_MON_FAILED);
}
