// SPDX-License-Identifier: GPL-2.0-only
/*
 * AMD-Vi: the table of devices that all units share, and a table of interrupts for each device
 * whose interrupts Linux remaps, or that a cell has. Linux announces what it changes in its own
 * tables.
 *
 * A device of Linux uses the monitor's table of addresses; where Linux translates (level
 * `devices`), the table of Linux that its entry names. A device without an entry reaches nothing.
 */
#include "core/gmem.h"
#include "iommu/amdvi.h"
#include "iommu/iommu.h"
#include "iommu/irte.h"

#define NO_SLOT		(~0u)

static u64 *device(u32 bdf)
{
	return pt_table(&me()->pt_pool, me()->iommu.root) + bdf * (DTE_LEN / 8);
}

static bool is_cells(u64 high)
{
	return DTE_DOMAIN(high) > me()->boot.iommus.domain;
}

/* Turns Linux's entry into one of the monitor. No device of Linux gets the number of a cell */
static void adapt(const struct iommu_unit *u, u64 *entry)
{
	u32 first = me()->boot.iommus.domain, mode = DTE_MODE(entry[0]);
	bool valid = (entry[0] & DTE_VALID) == DTE_VALID;
	u64 own = me()->iommu.table.root | DTE_VALID | DTE_LEVELS4;

	if (valid && (mode == 7 || (!mode && !(entry[0] & DTE_OPEN)))) {
		entry[0] = own;			/* blocked */
	} else if (valid && mode && u->translated) {
		if (DTE_DOMAIN(entry[1]) < first) {
			entry[0] &= DTE_LOW;
			entry[1] = DTE_DOMAIN(entry[1]);
			return;
		}
		entry[0] = own;
	} else {
		entry[0] = own | DTE_OPEN;
	}
	entry[1] = first;
}

/*
 * Gives the device a table of interrupts, unless it has one. Returns the table's number, or NO_SLOT
 * if all are in use. With the lock held
 */
static u32 slot_of(u32 bdf)
{
	struct iommu_state *io = &me()->iommu;
	u64 *at = &device(bdf)[2];

	if (!(*at & DTE_BY_IRT) && io->used_irts < me()->boot.iommus.num_irts)
		__atomic_store_n(at, (io->irts + io->used_irts++ * 2 * QV_PAGE) | DTE_REMAP |
				 DTE_IRT_LEN | DTE_BY_IRT, __ATOMIC_RELEASE);
	return *at & DTE_BY_IRT ? (DTE_IRT(*at) - io->irts) / (2 * QV_PAGE) : NO_SLOT;
}

static void set_entry(struct pcpu *cpu, const struct iommu_unit *u, u32 slot, u32 i, u64 low,
		      u64 high)
{
	u64 *at = pt_table(&me()->pt_pool, me()->iommu.irts + slot * 2 * QV_PAGE) + 2 * i;

	if (low & IRTE_PRESENT && amdvi_ids()->irt_ends[slot] <= i)
		amdvi_ids()->irt_ends[slot] = i + 1;
	irt_set(cpu, at, i, irte_ok_amdvi(&me()->icr, !!u->linux_irta, low, high), low, high);
}

static bool irt_copy(struct pcpu *cpu, const struct iommu_unit *u, u32 slot, u64 word, u32 i,
		     u32 num)
{
	u32 end = DTE_IRTES(word) < i + num ? DTE_IRTES(word) : i + num, j;
	u64 entries[32];

	for (; i < end; i += 16) {
		if (!guest_copy_phys(cpu, entries, DTE_IRT(word) + i * IRTE_LEN, sizeof(entries)))
			return false;
		for (j = 0; j < 16; j++)
			set_entry(cpu, u, slot, i + j, entries[2 * j], entries[2 * j + 1]);
	}
	return true;
}

void amdvi_irt_sweep(struct pcpu *cpu, const struct iommu_unit *u)
{
	const u64 *at;
	u32 slot, i;

	for (slot = 0; slot < me()->iommu.used_irts &&
			slot < me()->boot.iommus.num_irts; slot++) {
		at = pt_table(&me()->pt_pool, me()->iommu.irts + slot * 2 * QV_PAGE);
		for (i = 0; i < amdvi_ids()->irt_ends[slot]; i++)
			if (at[2 * i] & IRTE_PRESENT)
				set_entry(cpu, u, slot, i, at[2 * i], at[2 * i + 1]);
	}
}

bool amdvi_follow(struct pcpu *cpu, const struct iommu_unit *u, u32 bdf, u32 first, u32 num)
{
	u64 entry[4], *at, low, high;
	u32 slot;

	if (bdf >= me()->iommu.devices ||
	    !guest_copy_phys(cpu, entry, u->linux_root + bdf * DTE_LEN, DTE_LEN))
		return false;
	at = device(bdf);
	if (entry[2] & DTE_REMAP && (entry[2] & DTE_CONTROL) == DTE_BY_IRT && !is_cells(at[1])) {
		slot = slot_of(bdf);
		if (slot == NO_SLOT || !irt_copy(cpu, u, slot, entry[2], first, num))
			return false;
	}
	adapt(u, entry);
	low = __atomic_load_n(&at[0], __ATOMIC_ACQUIRE);
	high = __atomic_load_n(&at[1], __ATOMIC_ACQUIRE);
	/* In one step, unless the part dma takes the function for a cell meanwhile */
	if (!is_cells(high))
		table_exchange(at, low, high, entry[0], entry[1]);
	table_write_back(at, DTE_LEN);
	return true;
}

bool amdvi_own(struct pcpu *cpu, struct iommu_unit *u, u32 bdf)
{
	return bdf < me()->iommu.devices && slot_of(bdf) != NO_SLOT;
}

/* The entry's number is the message's data: the vector, and bit 8 for the lowest priority */
void amdvi_messages(const struct iommu_unit *u, u32 first, u32 bdf, u32 apic_id, bool on)
{
	u64 *at = pt_table(&me()->pt_pool, DTE_IRT(device(bdf)[2]));
	u64 low = IRTE_PRESENT | (u64)(apic_id & 0xffffff) << 8, high = (u64)(apic_id >> 24) << 56;
	u32 i;

	amdvi_ids()->irt_ends[slot_of(bdf)] = 0;	/* no sweep looks at these */
	for (i = 0; i < QV_MON_DEVICE_IRTES; i++, at += 2) {
		bool open = on && (i & 0xff) >= 32;

		table_write(at, open ? low : 0, open ? high | (i & 0xff) : 0);
	}
}

void amdvi_set(struct pcpu *cpu, struct iommu_unit *u, u32 bdf, u64 root, u32 domain)
{
	u64 entry = root ? root | DTE_OPEN : me()->iommu.table.root;

	table_write(device(bdf), entry | DTE_VALID | DTE_LEVELS4, domain);
	if (!root)
		amdvi_messages(u, 0, bdf, 0, false);
	if (domain == me()->boot.iommus.domain)
		amdvi_follow(cpu, u, bdf, 0, QV_MON_DEVICE_IRTES);
}
