// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cell and its PCI functions. Its nested tables map the config space of these functions read-only
 * at its physical address. All other functions there show one page of ones. So reads cause no exit.
 * Writes exit, and so do accesses to the ports 0xCF8 and 0xCFC. The manager made rules for each
 * function (manage/parts/pci_function.c). A write that they do not allow is dropped, counted and
 * logged.
 */
#include "cell.h"
#include "core/gmem.h"
#include "core/pci.h"
#include "core/ports.h"

/*
 * Returns the first rule for @at, compared under @mask, or NULL for a function outside the cell.
 * Every function of the cell has rules.
 */
static __attribute__((noinline)) const struct pci_rule *rule_at(u32 at, u32 mask)
{
	const struct pci_rule *r = me()->cell.pci.rules;

	for (; r < me()->cell.pci.rules + me()->cell.pci.num_rules; r++)
		if (!((r->at ^ at) & mask))
			return r;
	return NULL;
}

/* @at: bdf << 12 | register */
static void config_write(struct pcpu *cpu, u32 at, u32 size, u32 value)
{
	const struct pci_rule *r = rule_at(at, ~3u);
	u64 pa = me()->boot.ecam_pa + (at & ~3u);
	u32 shift = (at & 3) * 8, mask = ~0u >> (32 - size * 8) << shift;
	s64 out = -1;

	value <<= shift;
	if (r)
		out = pci_filter(&me()->icr, r, device_read(cpu, pa), value, mask);
	if (out >= 0)
		device_write(cpu, pa, out);
	/* true if all bits of the write are allowed */
	if (out < 0 || ((out ^ value) & mask & r->keep))
		log_denied(cpu, QV_LOG_CONFIG, at, value);
}

/* Returns the MSI-X table in whose pages @gpa is */
static const struct pci_table *table_of(u64 gpa)
{
	const struct pci_table *t = me()->cell.pci.tables;

	for (; t < me()->cell.pci.tables + QV_MAX_DEVICES; t++)
		if (gpa - t->pages < t->pages_len)
			return t;
	return NULL;
}

/*
 * Carries out a 32-bit write. Entries may name own CPUs only; the rest of the pages takes any value
 */
static void table_write(struct pcpu *cpu, const struct pci_table *t, u64 gpa, u32 size, u32 value)
{
	u32 check = gpa >= t->start && gpa < t->end ? gpa >> 2 & 3 : PCI_ANY;
	s64 out = pci_value(&me()->icr, check, t->remap, value);

	if (size == 4 && out >= 0)
		device_write(cpu, gpa, out);
	else
		log_denied(cpu, QV_LOG_CONFIG, gpa, value);
}

bool cell_pci_store(struct pcpu *cpu, u64 gpa)
{
	u64 at = gpa - me()->boot.ecam_pa;
	const struct pci_table *t = table_of(gpa);
	struct decoded d;

	if ((!t && at >= me()->boot.ecam_len) || !mmio_decode(cpu, &d) || d.op != DECODE_STORE ||
	    (gpa & (d.size - 1)))
		return false;
	if (t)
		table_write(cpu, t, gpa, d.size, d.value);
	else
		config_write(cpu, at, d.size, d.value);
	vendor_skip(cpu, d.len);
	return true;
}

/* Ports 0xCF8..0xCFF. Returns false if this cell may not access the port */
static bool config_port(struct pcpu *cpu, u32 port, u32 size, bool in)
{
	u32 latch = cpu->pci_latch, value = cpu->regs[GPR_RAX];
	u32 at = (latch & 0xffff00) << 4 | (latch & 0xfc) | (port & 3);

	if (!me()->req.num_devices)
		return false;
	if (port == CONFIG_ADDRESS && size == 4) {
		if (!in)
			cpu->pci_latch = value;
		value = latch;
	} else if (port < CONFIG_DATA || port + size > CONFIG_DATA + 4) {
		return false;
	} else {
		if (!(latch >> 31))
			at = ~0u;		/* no function of the cell has this register */
		if (!in)
			config_write(cpu, at, size, value);
		else
			value = rule_at(at, ~0xfffu) ?
				device_read(cpu, me()->boot.ecam_pa + at) >> (port & 3) * 8 : ~0u;
	}
	if (in)
		port_result(cpu, size, value);
	return true;
}

void cell_port(struct pcpu *cpu)
{
	struct port_access a;

	vendor_port_access(cpu, &a);
	if (a.plain && config_port(cpu, a.port, a.size, a.in))
		vendor_skip(cpu, a.len);
	else
		cell_fail(cpu, QV_FAIL_PORT, a.port);
}
