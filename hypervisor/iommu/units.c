// SPDX-License-Identifier: GPL-2.0-only
/* All units: their owner, and the lock. One CPU at a time uses a unit. */
#include "core/cpu.h"
#include "core/gmem.h"
#include "core/lock.h"
#include "core/pci.h"
#include "core/vendor.h"
#include "iommu/iommu.h"
#include "iommu/unit.h"

u32 iommu_units(void)
{
	return me()->boot.iommus.num < QV_MON_IOMMUS ? me()->boot.iommus.num : QV_MON_IOMMUS;
}

static u32 unit_of(u64 gpa)
{
	u32 i;

	for (i = 0; i < iommu_units(); i++)
		if (gpa - me()->boot.iommus.units[i].pa < me()->boot.iommus.units[i].len)
			break;
	return i;
}

bool iommu_page(u64 gpa)
{
	return unit_of(gpa) < iommu_units();
}

/* Decodes a move of 8 bytes between memory and a register, which mmio_decode() does not know */
static bool decode_long(struct pcpu *cpu, struct decoded *d)
{
	u8 b[DECODE_MAX] = { 0 };
	u32 num = vendor_bytes(cpu, b) ?: guest_code(cpu, 0, b, sizeof(b));
	u32 mod = b[2] >> 6, sib = (b[2] & 7) == 4, base = (sib ? b[3] : b[2]) & 7;

	d->op = b[1] == 0x8b ? DECODE_LOAD : DECODE_STORE;
	d->reg = (b[2] >> 3 & 7) | (b[0] & 4) << 1;
	d->len = 3 + sib + (mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0);
	d->size = 8;
	return d->len <= num && (b[0] & 0xf8) == 0x48 && (b[1] & 0xfd) == 0x89 && mod != 3;
}

bool iommu_access(struct pcpu *cpu, u64 gpa, bool write)
{
	struct iommu_unit *u = &me()->iommu.units[unit_of(gpa)];
	const struct iommu_ops *ops = me()->iommu.ops;
	u32 word[2] = { 0 }, reg = gpa - u->pa, i;
	struct decoded d;

	if ((!mmio_decode(cpu, &d) && !decode_long(cpu, &d)) || d.size < 4 || gpa & (d.size - 1) ||
	    d.op != (write ? DECODE_STORE : DECODE_LOAD))
		return false;
	if (!lock_take(cpu, LOCK_IOMMU, LOCK_PATIENCE))
		return true;		/* Linux executes the instruction again */
	word[0] = d.size == 4 ? d.value : cpu->regs[d.reg];
	word[1] = cpu->regs[d.reg] >> 32;
	for (i = 0; i < d.size / 4; i++, reg += 4)
		if (write)	/* no step: before the call of the driver */
			(u->step ? ops->write : unit_set)(cpu, u, reg, word[i]);
		else
			word[i] = (u->step ? unit_read : unit_get)(cpu, u, reg);
	if (!write)
		cpu->regs[d.reg] = word[0] | (d.size == 8 ? (u64)word[1] << 32 : 0);
	lock_drop(LOCK_IOMMU);
	vendor_skip(cpu, d.len);
	return true;
}

/* Lets each unit act, with the lock. Returns false if it is not free, or a unit did not succeed */
static bool each(struct pcpu *cpu, bool (*act)(struct pcpu *cpu, struct iommu_unit *u, u32 bdf),
		 u32 bdf)
{
	bool all = true;
	u32 i;

	if (!lock_take(cpu, LOCK_IOMMU, LOCK_PATIENCE))
		return false;
	for (i = 0; i < iommu_units(); i++)
		all &= act(cpu, &me()->iommu.units[i], bdf);
	lock_drop(LOCK_IOMMU);
	return all;
}

static bool give(struct pcpu *cpu, struct iommu_unit *u, u32 unused)
{
	bool done = !u->step || me()->iommu.ops->give(cpu, u);

	u->step = me()->iommu.owned = 0;
	me()->iommu.lost |= !done;
	return done;
}

bool iommu_give(struct pcpu *cpu)
{
	return each(cpu, give, 0);
}

/* The next step of the first unit that has more. If it fails, Linux has all units again */
static bool take(struct pcpu *cpu, struct iommu_unit *u, u32 unused)
{
	struct iommu_state *io = &me()->iommu;

	if (u->step == io->steps || (u > io->units && u[-1].step < io->steps))
		return true;
	if (!io->ops->take(cpu, u)) {
		for (u = io->units; u < io->units + iommu_units(); u++)
			give(cpu, u, 0);
		return true;
	}
	u->step++;
	io->remaps &= u->remaps;
	io->owned = u->step == io->steps && u + 1 == io->units + iommu_units();
	return true;
}

bool iommu_take(struct pcpu *cpu)
{
	me()->iommu.ops = me()->boot.iommus.amd ? &amdvi_ops : &vtd_ops;
	return each(cpu, take, 0);
}

bool iommu_look(struct pcpu *cpu)
{
	return each(cpu, me()->iommu.ops->look, 0);
}

bool iommu_own(struct pcpu *cpu, u32 bdf)
{
	return each(cpu, me()->iommu.ops->own, bdf);
}

static bool flush(struct pcpu *cpu, struct iommu_unit *u, u32 unused)
{
	if (u->step)
		me()->iommu.ops->sweep(cpu, u);
	return !u->step || me()->iommu.ops->flush(cpu, u);
}

bool iommu_flush(struct pcpu *cpu)
{
	return !me()->iommu.units[0].step || each(cpu, flush, 0);
}
