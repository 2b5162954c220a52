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
		if (write)	/* not owned: before the call of the driver */
			(me()->iommu.owned ? ops->write : unit_set)(cpu, u, reg, word[i]);
		else
			word[i] = (me()->iommu.owned ? ops->read : unit_get)(cpu, u, reg);
	if (!write)
		cpu->regs[d.reg] = word[0] | (d.size == 8 ? (u64)word[1] << 32 : 0);
	lock_drop(LOCK_IOMMU);
	vendor_skip(cpu, d.len);
	return true;
}

static bool give_first(struct pcpu *cpu, u32 num)
{
	bool all = true;
	u32 i;

	for (i = 0; i < num; i++)
		all &= me()->iommu.ops->give(cpu, &me()->iommu.units[i]);
	me()->iommu.lost |= !all;
	return all;
}

bool iommu_take(struct pcpu *cpu)
{
	u32 i = 0;

	if (me()->iommu.owned || !iommu_units() || !lock_take(cpu, LOCK_IOMMU, LOCK_PATIENCE))
		return false;
	me()->iommu.ops = me()->boot.iommus.amd ? &amdvi_ops : &vtd_ops;
	me()->iommu.remaps = true;
	for (; i < iommu_units() && me()->iommu.ops->take(cpu, &me()->iommu.units[i]); i++)
		me()->iommu.remaps &= me()->iommu.units[i].remaps;
	me()->iommu.owned = i == iommu_units();
	if (!me()->iommu.owned)
		give_first(cpu, i);
	lock_drop(LOCK_IOMMU);
	return me()->iommu.owned;
}

bool iommu_give(struct pcpu *cpu)
{
	bool all;

	if (!me()->iommu.owned || !lock_take(cpu, LOCK_IOMMU, LOCK_PATIENCE))
		return false;
	all = give_first(cpu, iommu_units());
	me()->iommu.owned = false;
	lock_drop(LOCK_IOMMU);
	return all;
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

bool iommu_look(struct pcpu *cpu)
{
	return each(cpu, me()->iommu.ops->look, 0);
}

bool iommu_own(struct pcpu *cpu, u32 bdf)
{
	return each(cpu, me()->iommu.ops->own, bdf);
}

bool iommu_flush(struct pcpu *cpu)
{
	return !me()->iommu.owned || each(cpu, me()->iommu.ops->flush, 0);
}
