// SPDX-License-Identifier: GPL-2.0-only
/* The registers of one PCI function: which of them its cell may write, and their state at start. */
#include "manage/mapping.h"
#include "pci_function.h"

#define TABLES_MAX	2048		/* largest number of entries of an MSI-X table */
#define COMMAND_IO_MEM	0x003
#define COMMAND_MASTER	0x004
#define COMMAND_NO_INTX	0x400
#define MSI_ENABLE	(1u << 16)
#define MSI_COUNT	(7u << 20)
#define MSI_64		(1u << 23)
#define MSI_MASKS	(1u << 24)
#define MSIX_ENABLE	(1u << 31)
#define MSIX_FUNCTION_MASK (1u << 30)

static void add_rule(struct pci_cell *p, u32 bdf, u32 reg, enum pci_check check, u32 writable,
		     u32 keep)
{
	if (p->made < PCI_RULES)
		p->rules[p->made++] =
			(struct pci_rule){ bdf << 12 | reg, check, writable, keep, 0 };
}

/* Allows one message only. Its registers always hold an allowed message: pci_valid_messages() */
static void msi_rules(struct pcpu *cpu, struct pci_cell *p, u32 bdf, u32 cap)
{
	u32 control = device_read(cpu, config_of(bdf) + cap);
	u32 data = cap + (control & MSI_64 ? 12 : 8);

	add_rule(p, bdf, cap, PCI_ANY, MSI_ENABLE, ~0u);
	add_rule(p, bdf, cap + 4, PCI_MSI_ADDRESS, ~0u, ~0u);
	if (control & MSI_64)
		add_rule(p, bdf, cap + 8, PCI_ZERO, ~0u, ~0u);
	add_rule(p, bdf, data, PCI_MSI_DATA, 0xffff, 0xffff);
	if (control & MSI_MASKS)
		add_rule(p, bdf, data + 4, PCI_ANY, ~0u, ~0u);
}

static void msix_rules(struct pcpu *cpu, struct pci_cell *p, const struct qv_mon_device *d,
		       struct pci_table *t, u32 cap)
{
	u32 control = device_read(cpu, config_of(d->bdf) + cap);
	u32 place = device_read(cpu, config_of(d->bdf) + cap + 4);
	u64 len = ((control >> 16 & (TABLES_MAX - 1)) + 1) * 16ull, at = place & ~7u;
	const struct qv_mon_bar *bar = &d->bars[place & 7];

	if ((place & 7) >= QV_MON_BARS || bar->ports || bar->len < len || at > bar->len - len)
		/* the table is not in a memory BAR of the cell, so the cell gets no MSI-X */
		return;
	t->start = bar->base + at;
	t->end = t->start + len;
	t->pages = t->start & -(u64)QV_PAGE;
	t->pages_len = ((t->end + QV_PAGE - 1) & -(u64)QV_PAGE) - t->pages;
	add_rule(p, d->bdf, cap, PCI_ANY, MSIX_ENABLE | MSIX_FUNCTION_MASK, ~0u);
}

void pci_make_rules(struct pcpu *cpu, struct pci_cell *p, const struct qv_mon_device *d,
		    struct pci_table *t)
{
	bool master = d->flags & QV_MON_DEVICE_MASTER, pin = d->ioapic != QV_MON_NO_PIN;
	u32 cap;

	/* A line that is not given to the cell belongs to Linux, whose devices may share it */
	add_rule(p, d->bdf, CFG_COMMAND, PCI_ANY, COMMAND_IO_MEM | (pin ? COMMAND_NO_INTX : 0) |
		 (master ? COMMAND_MASTER : 0), 0xffff);
	/* cache line size and latency timer */
	add_rule(p, d->bdf, CFG_HEADER, PCI_ANY, 0xffff, 0xffff);
	/* interrupt line: only software uses this register */
	add_rule(p, d->bdf, 0x3c, PCI_ANY, 0xff, ~0u);
	if (!master || managed()->icr.apic_id[0] >= 255)	/* an MSI has an 8-bit id */
		return;
	cap = pci_cap(cpu, d->bdf, CAP_MSI, ~0u);
	if (cap)
		msi_rules(cpu, p, d->bdf, cap);
	cap = pci_cap(cpu, d->bdf, CAP_MSIX, ~0u);
	if (cap)
		msix_rules(cpu, p, d, t, cap);
}

void pci_quiet(struct pcpu *cpu, u32 bdf)
{
	u64 config = config_of(bdf);
	u32 msi = pci_cap(cpu, bdf, CAP_MSI, ~0u), msix = pci_cap(cpu, bdf, CAP_MSIX, ~0u);

	/* zeros in the status half of the dword change nothing */
	device_write(cpu, config + CFG_COMMAND, COMMAND_NO_INTX);
	/* disable the ROM: Linux may have moved it over registers of other functions */
	device_write(cpu, config + CFG_ROM, 0);
	if (msi)
		device_write(cpu, config + msi,
			     device_read(cpu, config + msi) & ~(MSI_ENABLE | MSI_COUNT));
	if (msix)
		device_write(cpu, config + msix, device_read(cpu, config + msix) & ~MSIX_ENABLE);
	/* when this read returns, the device's earlier transactions have arrived */
	device_read(cpu, config);
}

void pci_valid_messages(struct pcpu *cpu, const struct pci_cell *p, u32 address)
{
	u32 i;

	for (i = p->num_rules; i < p->made; i++) {
		const struct pci_rule *r = &p->rules[i];

		if (r->check != PCI_ANY)
			device_write(cpu, me()->boot.ecam_pa + r->at,
				     r->check == PCI_MSI_ADDRESS ? r->remap ?: address :
				     r->check == PCI_MSI_DATA ? 0xff : 0);
	}
}

void pci_valid_table(struct pcpu *cpu, const struct pci_table *t, u32 bdf, u32 address)
{
	u64 at;

	if (!t->pages_len)
		return;
	device_write(cpu, config_of(bdf) + CFG_COMMAND, COMMAND_NO_INTX | COMMAND_IO_MEM);
	for (at = t->start; at < t->end; at += 16) {
		device_write(cpu, at + 12, 1);
		device_write(cpu, at, address);
		device_write(cpu, at + 4, 0);
		device_write(cpu, at + 8, 0xff);
	}
	device_write(cpu, config_of(bdf) + CFG_COMMAND, COMMAND_NO_INTX);
}
