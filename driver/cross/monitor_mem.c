// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of the front end's monitor instance: taken from Linux and filled before any CPU
 * crosses over. Everything that can fail for want of memory is here; no CPU is touched.
 */
#include <linux/gfp.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <asm/cacheflush.h>
#include <asm/tsc.h>
#include "abi/boot.h"
#include "abi/image.h"
#include "abi/layout.h"
#include "abi/mark.h"
#include "qv.h"
#include "cross.h"
#include "core/instance.h"
#include "cross/iommu_tables.h"
#include "tables/setup.h"

/* number of blocks that are taken at once, to find the one deepest in the lists */
#define MONITOR_MEM_TRIES	24
#define CR4_FRED_	(1ull << 32)

static bool test_impatient;
module_param(test_impatient, bool, 0600);
MODULE_PARM_DESC(test_impatient,
		 "for tests: the monitor waits for no CPU, so all back out from inside");

static uint test_hooks;
module_param(test_hooks, uint, 0600);
MODULE_PARM_DESC(test_hooks,
		 "for tests: 1: guests may ask for faults of the monitor's own; "
		 "2: a CPU's first VMRUN is refused; 4: VT-x: a CPU refuses a VMWRITE; "
		 "8: Linux may sleep and eject");

struct qv_mon_boot *qv_monitor_mem_boot(void)
{
	struct instance *inst = page_address(qv_takeover.monitor_mem) + QV_OFF_INSTANCE;

	return &inst->boot;
}

static int monitor_mem_add_ram(struct resource *res, void *arg)
{
	struct qv_mon_boot *b = arg;

	if (b->num_ram < QV_MON_RAM_RANGES) {
		b->ram[b->num_ram].start = res->start;
		b->ram[b->num_ram].end = res->end + 1;
		b->num_ram++;
	}
	return 0;
}

static void monitor_mem_fill_boot(struct qv_mon_boot *b)
{
	u32 i;

	b->block_pa = page_to_phys(qv_takeover.monitor_mem);
	b->block_len = QV_BLOCK_FRONT_END;
	b->num_cpus = qv_takeover.num_cpus;
	b->tsc_khz = tsc_khz;
	b->enter_ms = test_impatient ? 0 : QV_DEADLINE_MS;
	b->x2apic = qv_takeover.x2apic;
	b->remapped = qv_irqs_remapped();
	b->levels = qv_cr4() & 1 << 12 ? 5 : 4;
	b->test_hooks = test_hooks;
	b->ipi_direct = qv_takeover.ipi_asked;
	b->phys_bits = qv_cpuid(0x80000008).eax & 0xff;
	b->image_len = qv_virt->image_end - qv_virt->image;
	b->text_len = qv_takeover.text_len;
	b->block_va = (u64)page_address(qv_takeover.monitor_mem);
	qv_virt->fill(b);
	for (i = 0; i < b->num_cpus; i++)
		b->cpus[i].linux_cpu = qv_takeover.cpu_of[i];
	qv_firmware_read(b);
	walk_iomem_res_desc(IORES_DESC_NONE, IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY, 0, -1, b,
			    monitor_mem_add_ram);
	if (qv_takeover.iommu_asked)
		qv_iommu_read(b);
	else
		qv_iommu_drop(b, "QV was enabled with --no-iommu");
}

/* Writes the mark by which qv_previous_find() finds the log after a warm reset */
static void monitor_mem_write_mark(void)
{
	struct qv_mon_mark *mark = page_address(qv_takeover.monitor_mem) + QV_OFF_MARK;

	*mark = (struct qv_mon_mark){
		.magic = QV_MARK_MAGIC,
		.block_pa = page_to_phys(qv_takeover.monitor_mem), .session = ktime_get_real_ns(),
		.tsc = qv_rdtsc(), .boot_ns = ktime_get_boottime_ns(), .tsc_khz = tsc_khz,
	};
	mark->sum = qv_mark_sum(mark);
}

void qv_monitor_mem_free(void)
{
	if (!qv_going_down)		/* after a normal disable the next boot must find no log */
		memset(page_address(qv_takeover.monitor_mem) + QV_OFF_MARK, 0,
		       sizeof(struct qv_mon_mark));
	__free_pages(qv_takeover.monitor_mem, get_order(QV_BLOCK_FRONT_END));
	qv_takeover.monitor_mem = NULL;
	qv_takeover.num_cpus = 0;
}

/*
 * Takes the pages that lie deepest in the allocator's lists. The Linux of the next boot uses these
 * late, so the log in them is more likely to survive a warm reset. Returns NULL if there are none.
 */
static struct page *monitor_mem_alloc(u32 order)
{
	const gfp_t first = GFP_KERNEL | __GFP_RETRY_MAYFAIL;
	struct page *tried[MONITOR_MEM_TRIES], *found = NULL;
	u32 n = 0;

	while (n < MONITOR_MEM_TRIES) {
		tried[n] = alloc_pages((n ? GFP_NOWAIT : first) | __GFP_NOWARN, order);
		if (!tried[n])
			break;
		n++;
	}
	if (n)
		found = tried[--n];
	while (n)
		__free_pages(tried[--n], order);
	if (found)
		memset(page_address(found), 0, PAGE_SIZE << order);
	return found;
}

int qv_monitor_mem_make(struct qv_reply *r)
{
	const struct qv_image_header *h = qv_virt_image();
	struct instance *inst;
	bool failed;
	u32 cpu;

	if (qv_cr4() & CR4_FRED_)
		return qv_refuse(r, QV_E_UNSUPPORTED, "boot with fred=off",
				 "Linux uses FRED event delivery, "
				 "which this version of QV does not know");
	if (!h || memcmp(h->magic, "QVMON01", 8) || h->vendor != qv_virt->vendor ||
	    qv_virt->image_end - qv_virt->image > QV_IMAGE_MAX)
		return qv_refuse(r, QV_E_UNSUPPORTED, "build and install the module again",
				 "the monitor for %s is missing in this module, or damaged",
				 qv_virt->name);
	if (h->build != QV_BUILD)
		return qv_refuse(r, QV_E_UNSUPPORTED, "install qv-dkms again, or run make install",
				 "the monitor for %s in this module "
				 "is of another build (%08x) than its driver (%08x)",
				 qv_virt->name, h->build, QV_BUILD);
	qv_takeover.text_len = h->text_end - QV_VA_IMAGE;
	qv_takeover.x2apic = !!(qv_rdmsr(QV_MSR_APIC_BASE) & 1 << 10);
	qv_takeover.num_cpus = 0;
	for_each_online_cpu(cpu)
		qv_takeover.cpu_of[qv_takeover.num_cpus++] = cpu;
	qv_takeover.monitor_mem = monitor_mem_alloc(get_order(QV_BLOCK_FRONT_END));
	if (!qv_takeover.monitor_mem)
		return qv_refuse(r, QV_E_NO_MEMORY, "free memory, or enable earlier after boot",
				 "Linux has no 4 MiB of contiguous memory for the monitor");
	qv_nmi_reset();
	inst = page_address(qv_takeover.monitor_mem) + QV_OFF_INSTANCE;
	monitor_mem_fill_boot(&inst->boot);
	memcpy(page_address(qv_takeover.monitor_mem) + QV_OFF_IMAGE, qv_virt->image,
	       qv_virt->image_end - qv_virt->image);
	inst->pt_pool.va = (u64)page_address(qv_takeover.monitor_mem);
	failed = setup_tables(inst) || identity_tables(inst);
	if (!failed && inst->boot.iommus.nested && !iommu_fits(inst))
		qv_iommu_trust(&inst->boot, "the monitor has no room to nest the tables of so many "
			       "devices (try iommu=pt)");
	if (!failed && inst->boot.iommus.num && !iommu_fits(inst))
		qv_iommu_drop(&inst->boot, "the tables for so much memory do not fit");
	if (failed || iommu_tables(inst))
		return qv_refuse(r, QV_E_NO_MEMORY, "", "the monitor's page tables do not fit");
	qv_amdvi_list(inst);
	setup_rebase(inst);
	/* A unit may read its tables past the caches */
	if (inst->boot.iommus.num)
		clflush_cache_range(page_address(qv_takeover.monitor_mem), QV_BLOCK_FRONT_END);
	monitor_mem_write_mark();
	return 0;
}
