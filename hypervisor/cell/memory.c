// SPDX-License-Identifier: GPL-2.0-only
/* Nested page faults of a cell. It fails, unless it wrote to its APIC page or PCI functions. */
#include "cell.h"
#include "core/apic.h"

/* True if a cell may write this register. AMD's extended ones, after TDCR, are not for cells */
static bool register_ok(const struct xapic_write *w)
{
	bool lvt = w->reg == APIC_CMCI || (w->reg >= APIC_LVTT && w->reg <= APIC_LVTERR);

	return w->reg <= APIC_TDCR && (!lvt || lvt_fine(w->value));
}

static void store_to_apic(struct pcpu *cpu, u64 gpa)
{
	struct xapic_write w;

	/* Only the filter uses a cell's logical id: devices' logical interrupts are for Linux */
	if (!xapic_decode(cpu, gpa, &w) || !register_ok(&w))
		cell_fail(cpu, QV_FAIL_MEMORY, gpa);
	else if (!xapic_carry_out(cpu, &w, APIC_LDR))
		cell_fail(cpu, QV_FAIL_IPI, w.value);
	else
		xapic_done(cpu, &w);
}

void cell_memory(struct pcpu *cpu)
{
	bool write;
	u64 gpa = vendor_memory_access(cpu, &write);

	if (xapic_page(gpa, write)) {
		count_exit(cpu, QV_EXIT_XAPIC);
		store_to_apic(cpu, gpa);
		return;
	}
	count_exit(cpu, QV_EXIT_MEMORY);
	if (!write || !cell_pci_store(cpu, gpa))
		cell_fail(cpu, QV_FAIL_MEMORY, gpa);
}
