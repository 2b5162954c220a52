// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupt remapping. A unit reads the monitor's table of entries, never that of Linux. Linux
 * announces each entry that it changes by a request in its queue. The entry is copied once, then
 * checked and written to the same index. An entry that is refused is absent in the monitor's table,
 * so the unit blocks its interrupts.
 */
#include "abi/log.h"
#include "core/gmem.h"
#include "core/log.h"
#include "iommu/iommu.h"
#include "iommu/irte.h"
#include "iommu/vtd.h"

static u64 *entry_of(const struct iommu_unit *u, u32 index)
{
	return pt_table(&me()->pt_pool, u->irt) + 2 * index;
}

void irt_set(struct pcpu *cpu, u64 *at, u32 index, bool ok, u64 low, u64 high)
{
	if (!ok) {
		cpu->status->denied++;
		if (!at || (at[0] & (IRTE_PRESENT | IRTE_REFUSED)) != IRTE_REFUSED)
			log_event(cpu, QV_LOG_IRTE, index, low);
	}
	/* Both halves at once: a move to another CPU may change both, and no interrupt is lost */
	if (at)
		table_exchange(at, at[0], at[1], ok ? low : IRTE_REFUSED, ok ? high : 0);
}

static void set_entry(struct pcpu *cpu, const struct iommu_unit *u, u32 index, u64 low, u64 high)
{
	bool inside = index < QV_MON_IRTES;	/* entries behind them are for cells */
	bool ok = inside ? irte_ok(&me()->icr, u->linux_irta & VTD_WIDE, low, high) :
			   !(low & IRTE_PRESENT);

	/* Linux's entries have no IRTE_REFUSED, which would hide a refusal */
	irt_set(cpu, inside ? entry_of(u, index) : NULL, index, ok, low & ~IRTE_REFUSED, high);
}

bool irt_copy(struct pcpu *cpu, const struct iommu_unit *u, u32 first, u32 num)
{
	u64 table = u->linux_irta & PT_ADDR, entry[2];
	u32 end = first + num;

	if (!u->remaps)
		return true;
	if (end > VTD_IRTES(u->linux_irta))
		end = VTD_IRTES(u->linux_irta);
	/* Of the entries beyond the monitor's table, the first one stands for all in the log */
	if (end > QV_MON_IRTES && end > first)
		end = (first > QV_MON_IRTES ? first : QV_MON_IRTES) + 1;
	for (; first < end; first++) {
		if (!guest_copy_phys(cpu, entry, table + first * IRTE_LEN, IRTE_LEN))
			return false;
		set_entry(cpu, u, first, entry[0], entry[1]);
	}
	return true;
}

void irt_sweep(struct pcpu *cpu, const struct iommu_unit *u)
{
	const u64 *at = entry_of(u, 0);
	u32 i;

	for (i = 0; u->remaps && i < QV_MON_IRTES; i++, at += 2)
		if (at[0] & IRTE_PRESENT)
			set_entry(cpu, u, i, at[0], at[1]);
}

void irt_messages(const struct iommu_unit *u, u32 first, u32 bdf, u32 apic_id, bool on)
{
	u64 *at = entry_of(u, first), high = on ? IRTE_SOURCE(bdf) : 0;
	u64 low = IRTE_PRESENT | (u64)apic_id << (u->linux_irta & VTD_WIDE ? 32 : 40);
	u32 vector;

	for (vector = 32; vector < REMAP_ENTRIES; vector++)
		table_write(at + 2 * vector, on ? low | IRTE_VECTOR(vector) : 0, high);
}
