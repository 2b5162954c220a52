// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cell and its PCI functions. Its nested tables show it their config space,
 * read-only, where it is; all other functions there are one page of ones. So
 * reads cause no exit; writes come here, as do 0xCF8 and 0xCFC. What the rules
 * of a function (made by the manager, pci_manage.c) do not take is dropped,
 * counted and logged.
 */
#include "cpu.h"
#include "decode.h"
#include "pci.h"
#include "vendor.h"

volatile void *device_window(struct pcpu *cpu, u64 pa)
{
	return window_map(cpu, pa, PT_W | PT_PCD | PT_PWT);
}

/* Config space through ECAM wants eax on some AMD processors: family 10h BKDG, 2.11.1 */
u32 device_read(struct pcpu *cpu, u64 pa)
{
	u32 value;

	asm volatile("movl (%1), %0" : "=a"(value) : "r"(device_window(cpu, pa & ~3ull)) : "memory");
	return value;
}

void device_write(struct pcpu *cpu, u64 pa, u32 value)
{
	asm volatile("movl %0, (%1)" : : "a"(value), "r"(device_window(cpu, pa)) : "memory");
}

/* The first rule whose place is @at under @mask; every function has one. NULL: none, so not the cell's */
static __attribute__((noinline)) const struct pci_rule *rule_at(u32 at, u32 mask)
{
	const struct pci_rule *r = me()->pci.rules;

	for (; r < me()->pci.rules + me()->pci.num_rules; r++)
		if (!((r->at ^ at) & mask))
			return r;
	return NULL;
}

/* Dropped. @where: bdf << 12 | register, or an address */
static __attribute__((noinline)) void drop(struct pcpu *cpu, u64 where, u32 value)
{
	cpu_status(cpu)->denied++;
	log_event(cpu, QV_LOG_CONFIG, where, value);
}

/* @at: bdf << 12 | register */
static void config_write(struct pcpu *cpu, u32 at, u32 size, u32 value)
{
	const struct pci_rule *r = rule_at(at, ~3u);
	u64 pa = me()->boot.ecam_pa + (at & ~3u);
	u32 out, shift = (at & 3) * 8, mask = ~0u >> (32 - size * 8) << shift;

	value <<= shift;
	if (r && pci_filter(&me()->icr, r, device_read(cpu, pa), value, mask, &out)) {
		device_write(cpu, pa, out);
		if (!((out ^ value) & mask & r->keep))
			return;			/* all of it was taken */
	}
	drop(cpu, at, value);
}

/* The table in whose pages @gpa lies */
static const struct pci_table *table_of(u64 gpa)
{
	const struct pci_table *t = me()->pci.tables;

	for (; t < me()->pci.tables + QV_MON_DEVICES; t++)
		if (gpa - t->pages < t->pages_len)
			return t;
	return NULL;
}

/* In the table's pages, 32 bits at a time: an entry holds messages for own CPUs; what is beside it is free */
static void table_write(struct pcpu *cpu, const struct pci_table *t, u64 gpa, u32 size, u32 value)
{
	static const u8 checks[4] = { PCI_MSI_ADDRESS, PCI_ZERO, PCI_MSI_DATA, PCI_ANY };
	u32 check = gpa >= t->start && gpa < t->end ? checks[gpa >> 2 & 3] : PCI_ANY;

	if (size == 4 && pci_value_ok(&me()->icr, check, value))
		device_write(cpu, gpa, value);
	else
		drop(cpu, gpa, value);
}

bool pci_write(struct pcpu *cpu, u64 gpa)
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

#define CONFIG_ADDRESS	0xcf8
#define CONFIG_DATA	0xcfc

bool pci_port(struct pcpu *cpu, u32 port, u32 size, bool in)
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
			at = ~0u;		/* nobody's */
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
