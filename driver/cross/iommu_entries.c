// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether the monitor can replace the entries of interrupts that Linux has, and (AMD-Vi) those of
 * devices. Pure: the host tests run this code.
 */
#include "cross/iommu_entries.h"

#define IRTE_PRESENT		1ull		/* the same for both vendors */
#define IRTE_POSTED		(1ull << 15)	/* VT-d: to a virtual machine */
#define IRTE_GUEST		(1ull << 7)	/* AMD-Vi: the same */

/* The entry of a device: AMD I/O Virtualization Technology 3.06, 2.2.2.1 */
#define DTE_VALID		3ull
#define DTE_MODE(low)		((low) >> 9 & 7)
#define DTE_GUEST		(1ull << 55)
#define DTE_OPEN		(3ull << 61)
#define DTE_DOMAIN(word)	((word) & 0xffff)	/* word 1 */
#define DTE_ATS			(1ull << 32)
#define DTE_EXCLUSION		(1ull << 39)
#define DTE_IRTES(word)		(1u << ((word) >> 1 & 15))	/* word 2 */
#define DTE_BY_IRT(word)	(((word) & 1) && ((word) >> 60 & 3) == 2)

/* Registers: 3.4 there */
#define QUEUE_LEN(reg)		((reg) >> 56 & 15)	/* logarithm of the number of requests */
#define CONTROL_ON		(1ull << 0)
#define CONTROL_QUEUE		(1ull << 12)
#define CONTROL_GA		(1ull << 17)		/* entries of interrupts have 16 bytes */
#define CONTROL_SEGMENTS	(7ull << 34)
#define CONTROL_NO_IRT_CACHE	(1ull << 59)
#define FEATURES_ALL		(1ull << 6)		/* one request flushes all */
#define EXCLUSION_ON		1ull

const char *iommu_check_amdvi(u64 control, u64 features, u64 queue, u64 exclusion)
{
	if (!(control & CONTROL_ON) || !(control & CONTROL_QUEUE) || QUEUE_LEN(queue) < 8)
		return "Linux does not drive the IOMMU (leave out amd_iommu=off)";
	if (!(control & CONTROL_GA))
		return "Linux does not remap interrupts, or in the old format "
		       "(leave out intremap=off and amd_iommu_intr=legacy)";
	if (control & CONTROL_NO_IRT_CACHE)
		return "Linux does not announce changes of interrupts "
		       "(leave out amd_iommu=irtcachedis)";
	if (!(features & FEATURES_ALL) || control & CONTROL_SEGMENTS)
		return "a unit of the IOMMU has its table of devices in pieces, "
		       "or no request that flushes all";
	return exclusion & EXCLUSION_ON ? "the IOMMU excludes a range of memory" : NULL;
}

const char *iommu_check_irtes(const u64 *entry, u32 num)
{
	u32 i;

	for (i = 0; i < num; i++, entry += 2)
		if (*entry & IRTE_PRESENT && (i >= QV_MON_IRTES || *entry & IRTE_POSTED))
			return "Linux has more than 2048 interrupts behind a unit of the IOMMU, "
			       "or posts interrupts to virtual machines (end these)";
	return NULL;
}

/* Returns why the table of a device's interrupts, @word of its entry, cannot be replaced */
static const char *check_table(iommu_table *table, u64 word)
{
	const u64 *entry;
	u32 i;

	if (DTE_IRTES(word) > QV_MON_DEVICE_IRTES)
		return "a device has a table of more than 512 interrupts";
	entry = table(word);
	for (i = 0; i < DTE_IRTES(word); i++, entry += 2)
		if (entry[0] & IRTE_PRESENT && entry[0] & IRTE_GUEST)
			return "Linux posts interrupts to virtual machines (end these)";
	return NULL;
}

const char *iommu_check_device(iommu_table *table, const u64 *entry, struct qv_mon_iommus *units,
			       bool *used)
{
	bool on = (entry[0] & DTE_VALID) == DTE_VALID, remaps = DTE_BY_IRT(entry[2]);

	if (on && (entry[0] & DTE_GUEST || entry[1] & DTE_ATS))
		return "a device translates addresses itself, or uses tables of processes "
		       "(try pci=noats, and leave out amd_iommu=pgtbl_v2)";
	if (on && DTE_MODE(entry[0]) && DTE_DOMAIN(entry[1]) >= units->domain)
		return "Linux uses too many tables for devices (try iommu=pt)";
	if (on && entry[1] & DTE_EXCLUSION)
		return "the IOMMU excludes a range of memory";
	if (on && DTE_MODE(entry[0]))
		units->translated = ~0u;
	*used = remaps || (on && entry[0] & DTE_OPEN);
	if (!remaps)
		return NULL;
	units->num_irts++;
	return check_table(table, entry[2]);
}
