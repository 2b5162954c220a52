// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux while cells have PCI functions. Their config pages and registers are
 * holes (front.c answers). Config space by ports: only 0xCFC..0xCFF are
 * stopped; 0xCF8 stays the real register, which nobody else writes. It is read
 * once, and what it names is accessed through ECAM: so no other CPU can change
 * it between the check and the access.
 */
#include "cpu.h"
#include "pci.h"
#include "ports.h"
#include "vendor.h"

#define CONFIG_ADDRESS	0xcf8
#define CONFIG_DATA	0xcfc

static u32 port_in(u32 port, u32 size)
{
	u32 value = ~0u;

	if (size == 1)
		asm volatile("inb %w1, %b0" : "+a"(value) : "d"(port));
	else if (size == 2)
		asm volatile("inw %w1, %w0" : "+a"(value) : "d"(port));
	else
		asm volatile("inl %w1, %0" : "+a"(value) : "d"(port));
	return value;
}

static void port_out(u32 port, u32 size, u32 value)
{
	if (size == 1)
		asm volatile("outb %b0, %w1" : : "a"(value), "d"(port));
	else if (size == 2)
		asm volatile("outw %w0, %w1" : : "a"(value), "d"(port));
	else
		asm volatile("outl %0, %w1" : : "a"(value), "d"(port));
}

const struct qv_mon_device *pci_given(u32 bdf)
{
	const struct cell_slot *slot;
	u32 i;

	for (slot = me()->cells; slot < me()->cells + QV_MON_CELLS; slot++)
		for (i = 0; slot->taken && i < slot->num_devices; i++)
			if (slot->devices[i].bdf == bdf)
				return &slot->devices[i];
	return NULL;
}

static void refused(struct pcpu *cpu, u32 what, u64 where, u32 value)
{
	cpu_status(cpu)->denied++;
	log_event(cpu, what, where, value);
}

static void write_sized(struct pcpu *cpu, u64 pa, u32 size, u32 value)
{
	volatile void *p = device_window(cpu, pa);

	if (size == 1)
		asm volatile("movb %b0, (%1)" : : "a"(value), "r"(p) : "memory");
	else if (size == 2)
		asm volatile("movw %w0, (%1)" : : "a"(value), "r"(p) : "memory");
	else
		asm volatile("movl %0, (%1)" : : "a"(value), "r"(p) : "memory");
}

/* The register that 0xCF8 names; bits 27..24 are bits 11..8 of it on AMD: family 10h BKDG, 2.11 */
static void config_data(struct pcpu *cpu, u32 port, u32 size, bool in, u32 *value)
{
	u32 latch = port_in(CONFIG_ADDRESS, 4), bdf = latch >> 8 & 0xffff;
	u32 reg = (latch >> 16 & 0xf00) | (latch & 0xfc) | (port & 3), was = *value;
	u64 at = (u64)bdf << 12 | reg;

	*value = ~0u;
	if (!(latch >> 31) || at >= me()->boot.ecam_len)
		return;			/* nothing is there */
	if (pci_given(bdf)) {
		if (!in || !reg)	/* who lists all devices reads all registers: once is enough */
			refused(cpu, QV_LOG_CONFIG, at, in ? 0 : was);
		else
			cpu_status(cpu)->denied++;
	} else if (in) {
		*value = device_read(cpu, me()->boot.ecam_pa + at) >> (at & 3) * 8;
	} else {
		write_sized(cpu, me()->boot.ecam_pa + at, size, was);
	}
}

static void write_own(struct pcpu *cpu, u32 port, u32 size, u32 value)
{
	const struct qv_mon_guard *guard = ports_guard(port, size, value);

	if (guard) {
		refused(cpu, guard->what, port, value);
		return;
	}
	if (ports_log(port, port + size - 1))
		log_event(cpu, QV_LOG_SMI, value, port);
	port_out(port, size, value);
}

static void access(struct pcpu *cpu, u32 port, u32 size, bool in, u32 *value)
{
	if (port >= CONFIG_DATA && port + size <= CONFIG_DATA + 4) {
		config_data(cpu, port, size, in, value);
	} else if (ports_claimed(me(), port, port + size - 1) ||
		   (port < CONFIG_DATA + 4 && port + size > CONFIG_DATA)) {
		refused(cpu, QV_LOG_PORT, port, *value);
		*value = ~0u;
	} else if (in) {
		*value = port_in(port, size);
	} else {
		write_own(cpu, port, size, *value);
	}
}

FRONT_END_ONLY void front_port(struct pcpu *cpu, u32 port, u32 size, bool in, bool plain, u32 len)
{
	u32 value = (u32)cpu->regs[GPR_RAX] & ~0u >> (32 - size * 8);

	if (!plain) {			/* INS and OUTS: #GP tells Linux */
		refused(cpu, QV_LOG_PORT, port, value);
		vendor_inject_fault(cpu, 13);
		return;
	}
	access(cpu, port, size, in, &value);
	if (in)
		port_result(cpu, size, value);
	vendor_skip(cpu, len);
}
