// SPDX-License-Identifier: GPL-2.0-only
/*
 * IOAPICs while Linux is a guest. Their pages are holes for Linux, so each access exits and comes
 * here. Accesses are rare: set-up and affinity. Linux's index register is a copy, so that the
 * monitor can use the real one meanwhile. An entry that would reach a CPU taken from Linux, or that
 * belongs to a cell's device, is masked or left as it is. This is counted and logged. Cells see no
 * IOAPIC: the monitor writes the entry of their device here at start, and masks it at stop. Intel
 * 82093AA, chapter 3; entries in remapped format: VT-d 3.3, 5.1.5.
 */
#include "front.h"
#include "core/gmem.h"
#include "core/lock.h"
#include "core/pci.h"

#define IOAPIC_INDEX	0x00
#define IOAPIC_DATA	0x10
#define IOAPIC_EOI	0x40
#define REG_VERSION	1
#define REG_ENTRY	0x10
#define LOW_LEVEL	(1u << 15)
#define LOW_MASKED	(1u << 16)
#define LOW_ACTIVE_LOW	(1u << 13)
/* Index and data make one access. For the manager, which cannot try again later */
static bool lock_or_log(const struct pcpu *cpu)
{
	u32 holder;

	if (lock_take(cpu, LOCK_IOAPIC, LOCK_PATIENCE))
		return true;
	holder = load(&me()->locks[LOCK_IOAPIC]);
	log_event(cpu, QV_LOG_STUCK, holder ? pcpu_of(holder - 1)->apic_id : 0, 0);
	return false;
}

static u32 read_reg(struct pcpu *cpu, u32 n, u32 reg)
{
	device_write(cpu, me()->boot.ioapics[n] + IOAPIC_INDEX, reg);
	return device_read(cpu, me()->boot.ioapics[n] + IOAPIC_DATA);
}

static void write_reg(struct pcpu *cpu, u32 n, u32 reg, u32 value)
{
	device_write(cpu, me()->boot.ioapics[n] + IOAPIC_INDEX, reg);
	device_write(cpu, me()->boot.ioapics[n] + IOAPIC_DATA, value);
}

static u32 index_of(u64 gpa)
{
	u32 i;

	for (i = 0; i < me()->boot.num_ioapics && i < QV_MON_IOAPICS; i++)
		if ((gpa & ~0xfffull) == me()->boot.ioapics[i])
			return i;
	return QV_MON_NO_PIN;
}

bool ioapic_page(u64 gpa)
{
	return index_of(gpa) != QV_MON_NO_PIN;
}

static bool cell_has(u32 n, u32 pin)
{
	const struct qv_mon_device *d;

	FOR_EACH_DEVICE(d, taken)
		if (d->ioapic == n && d->pin == pin)
			return true;
	return false;
}

static void entry_write(struct pcpu *cpu, u32 n, u32 reg, u32 value)
{
	u32 pin = (reg - REG_ENTRY) / 2, half = reg & 1;
	u32 low = half ? read_reg(cpu, n, reg & ~1u) : value;
	u32 high = half ? value : read_reg(cpu, n, reg | 1);

	if (cell_has(n, pin)) {
		log_denied(cpu, QV_LOG_IOAPIC, pin, (u64)high << 32 | low);
		return;
	}
	if (!ioapic_entry_ok(&me()->icr, low, high)) {
		log_denied(cpu, QV_LOG_IOAPIC, pin, (u64)high << 32 | low);
		write_reg(cpu, n, reg & ~1u, low | LOW_MASKED);
		if (!half)
			return;
	}
	write_reg(cpu, n, reg, value);
}

bool ioapic_access(struct pcpu *cpu, u64 gpa, bool write)
{
	u32 n = index_of(gpa), *index = &me()->front.ioapic_index[n], at = gpa & 0xfff, value = 0;
	struct decoded d;

	if (!mmio_decode(cpu, &d) || d.op != (write ? DECODE_STORE : DECODE_LOAD) || d.size != 4)
		return false;
	if (!lock_take(cpu, LOCK_IOAPIC, LOCK_PATIENCE))
		return true;		/* Linux executes the instruction again */
	if (at == IOAPIC_INDEX && write)
		*index = (u8)d.value;	/* it has 8 bits, so no entry has two names */
	else if (at == IOAPIC_INDEX)
		value = *index;
	else if (at == IOAPIC_DATA && !write)
		value = read_reg(cpu, n, *index);
	else if (at == IOAPIC_DATA && *index >= REG_ENTRY)
		entry_write(cpu, n, *index, d.value);
	else if (at == IOAPIC_DATA)
		write_reg(cpu, n, *index, d.value);
	else if (at == IOAPIC_EOI && write)
		device_write(cpu, gpa, d.value);
	lock_drop(LOCK_IOAPIC);
	if (!write)
		cpu->regs[d.reg] = value;
	vendor_skip(cpu, d.len);
	return true;
}

void ioapic_sweep(struct pcpu *cpu)
{
	u32 n, pin;

	for (n = 0; n < me()->boot.num_ioapics && n < QV_MON_IOAPICS; n++) {
		u32 last;

		if (!lock_or_log(cpu))
			return;
		last = read_reg(cpu, n, REG_VERSION) >> 16 & 0xff;
		for (pin = 0; pin <= last; pin++) {
			u32 low = read_reg(cpu, n, REG_ENTRY + 2 * pin);
			u32 high = read_reg(cpu, n, REG_ENTRY + 2 * pin + 1);

			if (cell_has(n, pin) || ioapic_entry_ok(&me()->icr, low, high))
				continue;
			log_denied(cpu, QV_LOG_IOAPIC, pin, (u64)high << 32 | low);
			write_reg(cpu, n, REG_ENTRY + 2 * pin, low | LOW_MASKED);
		}
		lock_drop(LOCK_IOAPIC);
	}
}

void ioapic_route(struct pcpu *cpu, const struct qv_mon_device *d, bool on, u32 apic_id)
{
	u32 reg = REG_ENTRY + 2 * d->pin;

	if (d->ioapic == QV_MON_NO_PIN || !lock_or_log(cpu))
		return;
	write_reg(cpu, d->ioapic, reg, LOW_MASKED);
	if (on) {
		write_reg(cpu, d->ioapic, reg + 1, apic_id << 24);
		write_reg(cpu, d->ioapic, reg, d->vector | LOW_LEVEL |
			  (d->flags & QV_MON_DEVICE_HIGH ? 0 : LOW_ACTIVE_LOW));
	}
	lock_drop(LOCK_IOAPIC);
}
