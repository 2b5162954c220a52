// SPDX-License-Identifier: GPL-2.0-only
/* Nested page faults of Linux. */
#include "front.h"
#include "core/apic.h"
#include "core/pci.h"
#include "iommu/iommu.h"
#include "tables/nested.h"

/* Returns false for an unknown instruction */
static bool store_to_apic(struct pcpu *cpu, u64 gpa)
{
	struct xapic_write w;

	if (!xapic_decode(cpu, gpa, &w))
		return false;
	xapic_carry_out(cpu, &w, APIC_ID);	/* an IPI outside Linux's CPUs is dropped */
	xapic_done(cpu, &w);
	return true;
}

void front_memory(struct pcpu *cpu)
{
	bool write, known = true;
	u64 gpa = vendor_memory_access(cpu, &write);

	count_exit(cpu, xapic_page(gpa, write) ? QV_EXIT_XAPIC : QV_EXIT_MEMORY);
	if (xapic_page(gpa, write))
		known = store_to_apic(cpu, gpa);
	else if (ioapic_page(gpa))
		known = ioapic_access(cpu, gpa, write);
	else if (iommu_page(gpa))
		known = iommu_access(cpu, gpa, write);
	else if (write && ecam_has(&me()->boot, gpa))
		known = pci_config_store(cpu, gpa);
	else
		front_touch(cpu, gpa, write);
	if (!known)
		/* #GP, since the decoder does not know the instruction */
		vendor_inject_fault(cpu, 13);
}
