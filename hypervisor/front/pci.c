// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux's accesses to PCI config space.
 *
 * By ECAM: reads are direct, except for functions of cells (holes: touch.c answers). Linux has
 * ECAM's pages read-only, so its writes exit and come here.
 *
 * By ports: 0xCFC..0xCFF always exit. The monitor accesses the register that 0xCF8 names through
 * ECAM, so that no other CPU changes 0xCF8 between check and access. Without ECAM, 0xCF8 exits too,
 * for the same reason.
 *
 * pci_guard.c decides which writes are allowed. Accesses are serialized. Otherwise two CPUs could
 * make a forbidden change in two parts, each of which is allowed.
 */
#include "front.h"
#include "core/gmem.h"
#include "core/lock.h"
#include "core/pci.h"
#include "core/ports.h"

const struct qv_mon_device *pci_given(u32 bdf)
{
	const struct qv_mon_device *d;

	FOR_EACH_DEVICE(d, taken)
		if (d->bdf == bdf)
			return d;
	return NULL;
}

static void write_sized(struct pcpu *cpu, u64 pa, u32 size, u32 value)
{
	volatile void *p = device_map(cpu, pa);

	if (size == 1)
		asm volatile("movb %b0, (%1)" : : "a"(value), "r"(p) : "memory");
	else if (size == 2)
		asm volatile("movw %w0, (%1)" : : "a"(value), "r"(p) : "memory");
	else
		asm volatile("movl %0, (%1)" : : "a"(value), "r"(p) : "memory");
}

/* @at: bdf << 12 | register. Drops a rejected write */
static void config_write(struct pcpu *cpu, u64 at, u32 size, u32 value)
{
	u32 shift = (at & 3) * 8, mask = ~0u >> (32 - size * 8) << shift;

	if (pci_given(at >> 12) || !pci_guard(cpu, at >> 12, at & 0xffc, value << shift, mask)) {
		log_denied(cpu, QV_LOG_CONFIG, at, value);
	} else if (at < me()->boot.ecam_len) {
		write_sized(cpu, me()->boot.ecam_pa + at, size, value);
	} else {
		config_select(at >> 12, at);
		port_out(CONFIG_DATA + (at & 3), size, value);
	}
}

static u32 config_read(struct pcpu *cpu, u64 at, u32 size)
{
	if (pci_given(at >> 12)) {
		cpu->status->denied++;
		/*
		 * Linux reads all registers when it scans a bus, so only the first register is
		 * logged
		 */
		if (!(at & 0xfff))
			log_event(cpu, QV_LOG_CONFIG, at, 0);
		return ~0u;
	}
	return at < me()->boot.ecam_len ?
	       device_read(cpu, me()->boot.ecam_pa + at) >> (at & 3) * 8 :
	       port_in(CONFIG_DATA + (at & 3), size);
}

/* The register that 0xCF8 names. On AMD, 27..24 hold its bits 11..8: family 10h BKDG, 2.11 */
static void config_data(struct pcpu *cpu, u32 port, u32 size, bool in, u32 *value)
{
	u32 latch = port_in(CONFIG_ADDRESS, 4), was = *value;
	u32 reg = (latch & 0xfc) | (port & 3) | (latch >> 16 & 0xf00);
	u64 at = (u64)(latch >> 8 & 0xffff) << 12 | reg;

	*value = ~0u;
	if (!(latch & CONFIG_ENABLE) ||
	    (me()->boot.ecam_len ? at >= me()->boot.ecam_len : reg >= 0x100))
		return;			/* no function is there */
	if (in)
		*value = config_read(cpu, at, size);
	else
		config_write(cpu, at, size, was);
	if (!in && !me()->boot.ecam_len)
		port_out(CONFIG_ADDRESS, 4, latch);	/* the guard has changed this register */
}

/* Accesses 0xCF8 and the register that it names. False: timed out */
static bool config_port(struct pcpu *cpu, u32 port, u32 size, bool in, u32 *value)
{
	if (!lock_take(cpu, LOCK_CONFIG, LOCK_PATIENCE))
		return false;
	if (port >= CONFIG_DATA)
		config_data(cpu, port, size, in, value);
	else if (in)
		*value = port_in(port, size);
	else
		port_out(port, size, *value);
	lock_drop(LOCK_CONFIG);
	return true;
}

bool pci_config_store(struct pcpu *cpu, u64 gpa)
{
	struct decoded d;

	if (!mmio_decode(cpu, &d) || d.op != DECODE_STORE || (gpa & (d.size - 1)))
		return false;
	if (lock_take(cpu, LOCK_CONFIG, LOCK_PATIENCE)) {
		config_write(cpu, gpa - me()->boot.ecam_pa, d.size, d.value);
		lock_drop(LOCK_CONFIG);
	} else {
		log_denied(cpu, QV_LOG_CONFIG, gpa - me()->boot.ecam_pa, d.value);
	}
	vendor_skip(cpu, d.len);
	return true;
}

static void write_own(struct pcpu *cpu, u32 port, u32 size, u32 value)
{
	const struct qv_mon_guard *guard = ports_guard(port, size, value);

	if (guard) {
		log_denied(cpu, guard->what, port, value);
		return;
	}
	if (port <= PORT_SMI_LAST && port + size > PORT_SMI)
		log_event(cpu, QV_LOG_SMI, value, port);
	port_out(port, size, value);
}

static void pci_access(struct pcpu *cpu, u32 port, u32 size, bool in, u32 *value)
{
	bool meets_config = port < CONFIG_DATA + 4 && port + size > CONFIG_ADDRESS;
	bool config = port == CONFIG_ADDRESS ||
		      (port >= CONFIG_DATA && port + size <= CONFIG_DATA + 4);

	if (config && config_port(cpu, port, size, in, value))
		return;
	if (meets_config || ports_claimed(me(), port, port + size - 1)) {
		log_denied(cpu, QV_LOG_PORT, port, *value);
		*value = ~0u;
	} else if (in) {
		*value = port_in(port, size);
	} else {
		write_own(cpu, port, size, *value);
	}
}

void front_port(struct pcpu *cpu)
{
	struct port_access a;
	u32 value;

	vendor_port_access(cpu, &a);
	value = (u32)cpu->regs[GPR_RAX] & ~0u >> (32 - a.size * 8);
	if (!a.plain) {			/* INS and OUTS at these ports: Linux gets #GP */
		log_denied(cpu, QV_LOG_PORT, a.port, value);
		vendor_inject_fault(cpu, 13);
		return;
	}
	pci_access(cpu, a.port, a.size, a.in, &value);
	if (a.in)
		port_result(cpu, a.size, value);
	vendor_skip(cpu, a.len);
}
