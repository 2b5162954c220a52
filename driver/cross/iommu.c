// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether the monitor can take the IOMMU's units from Linux: VT-d here, AMD-Vi in amdvi.c. Where
 * Linux lets devices use physical addresses (`iommu=pt`, or translation off), they get the
 * monitor's table, else they keep Linux's tables. Nothing is changed here.
 */
#include <linux/acpi.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include "abi/boot.h"
#include "abi/calls.h"
#include "abi/errors.h"
#include "qv.h"
#include "cross.h"
#include "cross/iommu_entries.h"

/* Registers: Intel VT-d specification 3.3, 11.4 */
#define VTD_CAP			0x08
#define VTD_ECAP		0x10
#define VTD_GSTS		0x1c
#define VTD_RTADDR		0x20
#define VTD_IQA			0x90
#define VTD_IRTA		0xb8
#define CAP_FAULTS(cap)		(((cap) >> 24 & 0x3ff) * 16)
#define CAP_NUM_FAULTS(cap)	(((cap) >> 40 & 0xff) + 1)
#define ECAP_IOTLB(ecap)	(((ecap) >> 8 & 0x3ff) * 16)
#define GSTS_TE			(1u << 31)
#define GSTS_QIE		(1u << 26)
#define GSTS_IRE		(1u << 25)
#define GSTS_CFI		(1u << 23)
#define ECAP_SCALABLE		(1ull << 43)
#define ECAP_SECOND_STAGE	(1ull << 46)
#define IQA_WIDE		0x801		/* 256 requests of 32 bytes; 0: of 16 bytes */
#define IRTES(irta)		(2u << ((irta) & 15))	/* entries of a table of interrupts */

/* Where units nest, pages for each of Linux's tables of contexts: a copy, and its PASIDs */
#define NESTED_PAGES	3
#define SPARE_TABLES	4		/* for devices that Linux finds later, for each unit */
#define CHIPSET		0xfec00000ull	/* IOAPICs, HPET, messages, flash: up to 4 GiB */

static bool test_iommu_silent;
module_param(test_iommu_silent, bool, 0600);
MODULE_PARM_DESC(test_iommu_silent, "for tests: no unit of the IOMMU answers when it is taken");

const char *qv_iommu_obstacle;		/* why enable did not take the IOMMU; NULL: it did */

static const u64 *iommu_linux_table(u64 entry)
{
	return phys_to_virt(entry & PAGE_MASK & (BIT_ULL(52) - 1));
}

/* Returns why the monitor's table of interrupts cannot replace Linux's table, or NULL */
static const char *iommu_check_interrupts(const void __iomem *regs)
{
	u32 gsts = readl(regs + VTD_GSTS);
	u64 irta = readq(regs + VTD_IRTA);

	qv_takeover.iommu_remaps &= !!(gsts & GSTS_IRE);
	if (!(gsts & GSTS_IRE))
		return NULL;
	if (gsts & GSTS_CFI)
		return "Linux lets interrupts pass the IOMMU's table, in the compatible format";
	return iommu_check_irtes(iommu_linux_table(irta), IRTES(irta));
}

static u64 iommu_top(const struct qv_mon_boot *b)
{
	u64 top = 1ull << 32;
	u32 i;

	for (i = 0; i < b->num_ram; i++)
		top = max(top, b->ram[i].end);
	return top;
}

/* Returns .stage for a unit. Of tables of its own, the monitor prefers those of the second stage */
static u32 iommu_stage(u32 gsts, u64 rtaddr, u64 ecap)
{
	if (gsts & GSTS_TE ? !(rtaddr & RTADDR_SCALABLE) :
			     !(ecap & ECAP_SCALABLE) || ecap & ECAP_SECOND_STAGE)
		return 0;
	return ecap & ECAP_SECOND_STAGE ? 2 : 1;
}

/*
 * Linux translates behind the next unit, where it has @tables of contexts. Its tables must be
 * trusted for the reason @why, if any
 */
static void iommu_add_translated(struct qv_mon_boot *b, const char *why, u32 tables)
{
	b->iommus.translated |= 1u << b->iommus.num;
	b->iommus.nested += NESTED_PAGES * (tables + SPARE_TABLES);
	qv_takeover.iommu_trusts = qv_takeover.iommu_trusts ?: why;
}

void qv_iommu_trust(struct qv_mon_boot *b, const char *why)
{
	qv_takeover.iommu_trusts = why;
	b->iommus.nested = 0;
}

/* Returns why the unit cannot be taken, or NULL. *@len: bytes of its registers */
static const char *iommu_check_unit(const void __iomem *regs, struct qv_mon_boot *b, u64 *len)
{
	u64 cap = readq(regs + VTD_CAP), ecap = readq(regs + VTD_ECAP);
	u32 gsts = readl(regs + VTD_GSTS);
	u64 rtaddr = readq(regs + VTD_RTADDR), iqa = readq(regs + VTD_IQA);
	u32 domain = CAP_DOMAINS(cap) - QV_INSTANCES, stage;
	struct iommu_contexts found = { 0 };
	const char *why;

	*len = PAGE_ALIGN(max_t(u64, CAP_FAULTS(cap) + CAP_NUM_FAULTS(cap) * 16,
				ECAP_IOTLB(ecap) + 16));
	why = iommu_check_capabilities(cap, ecap, iommu_top(b));
	if (why)
		return why;
	if (!(gsts & GSTS_QIE) || (iqa & (PAGE_SIZE - 1) && (iqa & (PAGE_SIZE - 1)) != IQA_WIDE))
		return "Linux does not drive the IOMMU, or by a queue of another length "
		       "(try intel_iommu=on)";
	if (gsts & GSTS_TE && rtaddr & (PAGE_SIZE - 1) & ~RTADDR_SCALABLE)
		return "Linux aborts all DMA, or uses the extended mode of the IOMMU "
		       "(try intel_iommu=on,sm_off)";
	stage = iommu_stage(gsts, rtaddr, ecap);
	if (b->iommus.num && stage != b->iommus.stage)
		return "units of the IOMMU are in different modes (try intel_iommu=on,sm_off)";
	b->iommus.stage = stage;
	if (b->iommus.translated && domain < b->iommus.domain)
		return "units of the IOMMU have different numbers of tables (try iommu=pt)";
	b->iommus.domain = min(b->iommus.domain, domain);
	if (gsts & GSTS_TE)
		why = iommu_check_contexts(iommu_linux_table, rtaddr, b->iommus.domain, &found);
	if (found.translated)
		iommu_add_translated(b, iommu_check_nested(ecap, stage, &found), found.tables);
	return why ?: iommu_check_interrupts(regs);
}

static bool iommu_hole(struct qv_mon_boot *b, u64 start, u64 end)
{
	u32 i;

	start &= PAGE_MASK;
	end = PAGE_ALIGN(end);
	for (i = 0; i < b->num_ram; i++)
		if (start < b->ram[i].end && b->ram[i].start < end)
			return false;
	if (b->iommus.num_dma_holes == QV_MON_IO_HOLES)
		return false;
	b->iommus.dma_holes[b->iommus.num_dma_holes].start = start;
	b->iommus.dma_holes[b->iommus.num_dma_holes++].end = end;
	return true;
}

/* No device may reach registers of another: all that host bridges forward to devices is a hole */
static bool iommu_holes(struct qv_mon_boot *b)
{
	struct pci_bus *bus = NULL;
	struct resource *res;
	bool fit = iommu_hole(b, CHIPSET, 1ull << 32);
	int i;

	if (b->ecam_len)
		fit &= iommu_hole(b, b->ecam_pa, b->ecam_pa + b->ecam_len);
	while ((bus = pci_find_next_bus(bus)))
		pci_bus_for_each_resource(bus, res, i)
			if (res && resource_type(res) == IORESOURCE_MEM)
				fit &= iommu_hole(b, res->start, res->end + 1);
	return fit;
}

static const char *iommu_check_devices(void)
{
	struct pci_dev *pdev = NULL;
	const char *why = NULL;

	for_each_pci_dev(pdev) {
#ifdef CONFIG_PCI_ATS
		if (pdev->ats_enabled)
			why = "a device translates addresses itself (try pci=noats)";
#endif
		if (pci_domain_nr(pdev->bus))
			why = "there is more than one PCI segment";
	}
	return why;
}

static const char *iommu_add_unit(struct qv_mon_boot *b, const struct acpi_dmar_hardware_unit *u)
{
	void __iomem *regs;
	const char *why;
	u64 len = 0;

	if (u->segment || b->iommus.num == QV_MON_IOMMUS)
		return "there are more than 8 units of the IOMMU, or more than one PCI segment";
	regs = PAGE_ALIGNED(u->address) ? ioremap(u->address, PAGE_SIZE) : NULL;
	if (!regs)
		return "the registers of the IOMMU cannot be mapped";
	why = iommu_check_unit(regs, b, &len);
	iounmap(regs);
	b->iommus.units[b->iommus.num].pa = u->address;
	b->iommus.units[b->iommus.num++].len = len;
	return why;
}

static const char *iommu_read(struct qv_mon_boot *b)
{
	struct acpi_table_header *table = NULL;
	const struct acpi_dmar_header *h;
	const char *why = NULL;
	u32 at;

	b->iommus.domain = ~0u;
	if (ACPI_FAILURE(acpi_get_table(ACPI_SIG_DMAR, 0, &table)))
		return qv_amdvi_read(b);
	for (at = sizeof(struct acpi_table_dmar); !why && at + sizeof(*h) <= table->length;
	     at += h->length) {
		h = (const void *)table + at;
		if (h->length < sizeof(*h) || at + h->length > table->length)
			why = "the table DMAR of the firmware is malformed";
		else if (h->type == ACPI_DMAR_TYPE_HARDWARE_UNIT &&
			 h->length >= sizeof(struct acpi_dmar_hardware_unit))
			why = iommu_add_unit(b, (const void *)h);
		if (h->length < sizeof(*h))
			break;
	}
	acpi_put_table(table);
	if (!why && !b->iommus.num)
		why = "the table DMAR of the firmware lists no unit";
	return why;
}

void qv_iommu_drop(struct qv_mon_boot *b, const char *why)
{
	qv_iommu_obstacle = why;
	memset(&b->iommus, 0, sizeof(b->iommus));
}

void qv_iommu_read(struct qv_mon_boot *b)
{
	const char *why;

	qv_takeover.iommu_remaps = true;
	qv_takeover.iommu_trusts = NULL;
	qv_iommu_obstacle = NULL;
	why = iommu_read(b);
	if (!why)
		why = iommu_check_devices();
	if (!why && !iommu_holes(b))
		why = "the memory that host bridges forward overlaps RAM, or has too many pieces";
	qv_takeover.iommu_amd = b->iommus.amd;
	if (b->iommus.amd && b->iommus.translated)
		qv_takeover.iommu_trusts = IOMMU_TRANSLATES;
	if (qv_takeover.iommu_trusts)
		qv_iommu_trust(b, qv_takeover.iommu_trusts);
	if (!why && b->iommus.translated && !qv_takeover.iommu_remaps)
		why = "Linux translates the addresses of devices, but does not remap interrupts "
		      "(leave out intremap=off and nox2apic, or try iommu=pt)";
	if (why)
		qv_iommu_drop(b, why);
}

u32 qv_iommu_level(void)
{
	if (!qv_takeover.iommu)
		return QV_LEVEL_NONE;
	if (qv_takeover.iommu_trusts)
		return QV_LEVEL_DEVICES;
	return qv_takeover.iommu_remaps ? QV_LEVEL_FULL : QV_LEVEL_MEMORY;
}

const char *qv_iommu_why(void)
{
	if (!qv_takeover.enabled || qv_iommu_level() == QV_LEVEL_FULL)
		return "";
	if (qv_takeover.iommu)
		return qv_takeover.iommu_trusts ?:
		       "Linux does not remap interrupts (leave out intremap=off and nox2apic)";
	return qv_iommu_obstacle;
}

#define TAKE_MS	50	/* calls in a row; a unit has some 520 steps of 10 us */

/*
 * Takes the units in many short calls, so that no CPU is held for long. A call that finds a CPU at
 * a unit changes nothing: qv_manage_by() tries again, up to QV_DEADLINE_MS
 */
static u64 iommu_try_take(void *unused)
{
	u64 error, end = ktime_get_ns() + TAKE_MS * NSEC_PER_MSEC;

	do {
		error = qv_hypercall(QV_HC_IOMMU, QV_IOMMU_TAKE);
		cond_resched();
	} while (error == QV_ME_BUSY && ktime_get_ns() < end);
	return error;
}

void qv_iommu_take(void)
{
	u64 error;

	if (!qv_iommu_obstacle) {
		error = test_iommu_silent ? QV_ME_IOMMU :
					    qv_manage_by(iommu_try_take, NULL);
		if (error) {
			qv_iommu_obstacle = error == QV_ME_BUSY ?
					    "a CPU uses a unit of the IOMMU all the time" :
					    "a unit of the IOMMU does not answer the monitor";
			error = qv_manage(QV_HC_IOMMU, QV_IOMMU_GIVE);
			/* QV_ME_STATE: the monitor has given all back itself */
			qv_takeover.iommu_lost = error && error != QV_ME_STATE;
		}
	}
	qv_takeover.iommu = !qv_iommu_obstacle;
	if (qv_iommu_level() == QV_LEVEL_FULL)
		qv_log("driver",
		       "level: DMA full: devices of Linux reach memory and CPUs of Linux only");
	else if (qv_takeover.iommu && qv_takeover.iommu_trusts)
		qv_log("driver",
		       "level: DMA devices: devices of cells reach their cells only; "
		       "devices of Linux reach what its tables say, and CPUs of Linux only");
	else if (qv_takeover.iommu)
		qv_log("driver",
		       "level: DMA memory: devices of Linux reach memory of Linux only; "
		       "their interrupts reach all CPUs, since Linux does not remap them");
	else
		qv_log("driver", "level: DMA none: %s", qv_iommu_obstacle);
}

int qv_iommu_refuse_lost(struct qv_reply *r)
{
	return qv_refuse(r, QV_E_MONITOR, "restart the machine",
			 "a unit of the IOMMU did not answer when it was given back to Linux, "
			 "so nothing restricts DMA, and the monitor cannot leave");
}

int qv_iommu_give(struct qv_reply *r)
{
	u64 error = qv_takeover.iommu ? qv_manage(QV_HC_IOMMU, QV_IOMMU_GIVE) : 0;

	/* The monitor owns no unit now, but a unit may still read tables in its memory */
	if (error == QV_ME_IOMMU)
		qv_takeover.iommu_lost = true;
	else if (error)
		return qv_refuse_monitor(r, error, "give the IOMMU back to Linux");
	if (qv_takeover.iommu) {
		qv_takeover.iommu = false;
		/* for the case that the CPUs of Linux do not leave the monitor now */
		qv_iommu_obstacle = error ? "a unit of the IOMMU did not answer at disable" :
					    "disable gave the IOMMU back to Linux";
		qv_log("driver", "level: DMA none: %s", qv_iommu_obstacle);
	}
	return qv_takeover.iommu_lost ? qv_iommu_refuse_lost(r) : 0;
}

void qv_iommu_look(void)
{
	if (qv_takeover.iommu)
		qv_manage(QV_HC_IOMMU, QV_IOMMU_LOOK);
}
