// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether the monitor can take the units of AMD-Vi from Linux: tables of version 1, entries of
 * interrupts with 16 bytes. Nothing is changed here.
 */
#include <linux/acpi.h>
#include <linux/io.h>
#include <linux/mm.h>
#include "abi/boot.h"
#include "core/instance.h"
#include "qv.h"
#include "cross.h"
#include "cross/iommu_entries.h"

/* Registers: AMD I/O Virtualization Technology 3.06, 3.4 */
#define AMDVI_DEVICES		0x00
#define AMDVI_QUEUE		0x08
#define AMDVI_CONTROL		0x18
#define AMDVI_EXCLUSION		0x20
#define AMDVI_FEATURES		0x30
#define FEATURES_COUNTERS	BIT_ULL(9)

#define SYSCFG			0xc0010010
#define SYSCFG_SNP		BIT_ULL(24)

#define IVHD_MIN		24		/* bytes of a unit in the table */
#define SPARE_IRTS		16			/* for devices that Linux finds later */

static u16 amdvi_ids[QV_MON_IO_IDS];

static const u64 *amdvi_linux_table(u64 entry)
{
	return phys_to_virt(entry & GENMASK_ULL(51, 6));
}

/* Returns why the device's entry cannot be replaced, or NULL */
static const char *amdvi_check_entry(struct qv_mon_boot *b, u32 bdf, const u64 *entry)
{
	bool used = false;
	const char *why = iommu_check_device(amdvi_linux_table, entry, &b->iommus, &used);

	if (why || !used)
		return why;
	if (b->iommus.num_ids == QV_MON_IO_IDS - SPARE_IRTS)
		return "there are too many devices behind the IOMMU";
	amdvi_ids[b->iommus.num_ids++] = bdf;
	return NULL;
}

static const char *amdvi_check_entries(struct qv_mon_boot *b, u64 devices)
{
	const u64 *entry = phys_to_virt(devices & GENMASK_ULL(51, 12));
	const char *why = NULL;
	u32 bdf;

	b->iommus.device_pages = (devices & 0x1ff) + 1;
	for (bdf = 0; !why && bdf < b->iommus.device_pages * (PAGE_SIZE / 32); bdf++, entry += 4)
		why = amdvi_check_entry(b, bdf, entry);
	b->iommus.num_irts += SPARE_IRTS;
	return why;
}

/* Returns why the unit cannot be taken, or NULL */
static const char *amdvi_check_unit(const void __iomem *regs, struct qv_mon_boot *b)
{
	const char *why = iommu_check_amdvi(readq(regs + AMDVI_CONTROL),
					    readq(regs + AMDVI_FEATURES),
					    readq(regs + AMDVI_QUEUE),
					    readq(regs + AMDVI_EXCLUSION));
	static u64 devices;		/* of the first unit */

	if (why)
		return why;
	if (!qv_irqs_remapped())
		return "Linux does not remap interrupts (leave out intremap=off)";
	if (b->iommus.num == 1)
		devices = readq(regs + AMDVI_DEVICES);
	else if (devices != readq(regs + AMDVI_DEVICES))
		return "units of the IOMMU have different tables of devices";
	return b->iommus.num == 1 ? amdvi_check_entries(b, devices) : NULL;
}

static const char *amdvi_add_unit(struct qv_mon_boot *b, const struct acpi_ivrs_hardware_10 *h)
{
	void __iomem *regs;
	const char *why;
	u32 i;

	for (i = 0; i < b->iommus.num; i++)	/* a unit may be listed in several formats */
		if (b->iommus.units[i].pa == h->base_address)
			return NULL;
	if (h->pci_segment_group || b->iommus.num == QV_MON_IOMMUS)
		return "there are more than 8 units of the IOMMU, or more than one PCI segment";
	regs = PAGE_ALIGNED(h->base_address) ? ioremap(h->base_address, PAGE_SIZE) : NULL;
	if (!regs)
		return "the registers of the IOMMU cannot be mapped";
	b->iommus.units[b->iommus.num].pa = h->base_address;
	b->iommus.units[b->iommus.num++].len =
		readq(regs + AMDVI_FEATURES) & FEATURES_COUNTERS ? 512 << 10 : 16 << 10;
	why = amdvi_check_unit(regs, b);
	iounmap(regs);
	return why;
}

const char *qv_amdvi_read(struct qv_mon_boot *b)
{
	struct acpi_table_header *table = NULL;
	const struct acpi_ivrs_header *h;
	const char *why = NULL;
	u32 at;

	b->iommus.amd = 1;
	b->iommus.domain = 0x10000 - QV_INSTANCES;
	if (ACPI_FAILURE(acpi_get_table(ACPI_SIG_IVRS, 0, &table)))
		return "the machine has no IOMMU, or its firmware has switched it off";
	if (boot_cpu_data.x86_vendor == X86_VENDOR_AMD && qv_rdmsr(SYSCFG) & SYSCFG_SNP)
		why = "the machine runs encrypted virtual machines (SEV-SNP)";
	for (at = sizeof(struct acpi_table_ivrs); !why && at + sizeof(*h) <= table->length;
	     at += h->length) {
		h = (const void *)table + at;
		if (h->length < sizeof(*h) || at + h->length > table->length)
			why = "the table IVRS of the firmware is malformed";
		else if ((h->type == ACPI_IVRS_TYPE_HARDWARE1 ||
			  h->type == ACPI_IVRS_TYPE_HARDWARE2 ||
			  h->type == ACPI_IVRS_TYPE_HARDWARE3) && h->length >= IVHD_MIN)
			why = amdvi_add_unit(b, (const void *)h);
		if (h->length < sizeof(*h))
			break;
	}
	acpi_put_table(table);
	if (!why && !b->iommus.num)
		why = "the table IVRS of the firmware lists no unit";
	return why;
}

void qv_amdvi_list(struct instance *inst)
{
	struct qv_mon_iommu_ids *page;

	if (!inst->boot.iommus.amd)
		return;
	page = (void *)pt_table(&inst->pt_pool, inst->iommu.ids);
	memcpy(page->ids, amdvi_ids, sizeof(page->ids));
}
