// SPDX-License-Identifier: GPL-2.0-only
/* A VT-d unit, taken from a running Linux. */
#include "core/cpu.h"
#include "core/gmem.h"
#include "iommu/iommu.h"
#include "iommu/vtd.h"

/* Registers whose values of Linux are kept, and written back at the end */
static const u16 kept[] = {
	VTD_GSTS, VTD_FSTS, VTD_RTADDR, VTD_RTADDR + 4, VTD_IQA, VTD_IQA + 4, VTD_IRTA,
	VTD_IRTA + 4, VTD_FECTL, VTD_FECTL + 4, VTD_FECTL + 8, VTD_FECTL + 12,
};
enum { NUM_KEPT = sizeof(kept) / sizeof(kept[0]), LATER = NUM_KEPT - 4 };
_Static_assert(NUM_KEPT <= IOMMU_KEPT, "registers that are kept");

/* Gives one command: @bit is set (@on) or cleared. Commands that last are kept as they are */
static bool command(struct pcpu *cpu, struct iommu_unit *u, u32 bit, bool on)
{
	u32 lasting = unit_get(cpu, u, VTD_GSTS) & VTD_LASTING & ~bit;

	unit_set(cpu, u, VTD_GCMD, lasting | (on ? bit : 0));
	return unit_until(cpu, u, VTD_GSTS, bit, on ? bit : 0);
}

static void wait(struct iommu_unit *u, u64 status)
{
	unit_put(u, VTD_WAIT | VTD_WAIT_STORE | VTD_WAIT_FENCE | (u64)u->waits << 32, status);
}

static bool look(struct pcpu *cpu, struct iommu_unit *u, u32 unused)
{
	u64 cap = (u64)unit_get(cpu, u, VTD_CAP + 4) << 32 | unit_get(cpu, u, VTD_CAP);
	u32 i, at = VTD_FAULTS_AT(cap), last;
	bool interrupt;
	u64 info;

	contexts_follow(cpu, u);
	for (i = 0; i < VTD_FAULTS_NUM(cap) && at + 16 <= u->len; i++, at += 16) {
		last = unit_get(cpu, u, at + 12);
		if (!(last & VTD_FAULT))
			continue;
		/*
		 * bits 79..64 are the bus, device and function; the low half is the page, or from
		 * bit 48 on the entry
		 */
		info = (u64)unit_get(cpu, u, at + 4) << 32 | unit_get(cpu, u, at);
		interrupt = VTD_OF_IRQ(last);
		unit_fault(cpu, interrupt, unit_get(cpu, u, at + 8), interrupt ? info >> 48 : info);
		unit_set(cpu, u, at + 12, VTD_FAULT);
	}
	unit_set(cpu, u, VTD_FSTS, VTD_FSTS_ALL);
	return true;
}

static bool flush(struct pcpu *cpu, struct iommu_unit *u)
{
	if (u->remaps)
		unit_put(u, VTD_INTERRUPTS, 0);
	/* contexts first: a translation may not be cached again under an old context (6.5.3.3) */
	vtd_flush_contexts(cpu, u);
	unit_put(u, VTD_IOTLB | VTD_GLOBAL | VTD_DRAIN, 0);
	return unit_wait(cpu, u);
}

/* Replaces the queue. The unit's head is 0 afterwards (VT-d 3.3, 11.4.9.1) */
static bool use_queue(struct pcpu *cpu, struct iommu_unit *u, u64 queue)
{
	if (!command(cpu, u, VTD_QIE, false))
		return false;
	unit_set(cpu, u, VTD_IQT, 0);
	unit_set64(cpu, u, VTD_IQA, queue);
	return command(cpu, u, VTD_QIE, true);
}

static bool use_root(struct pcpu *cpu, struct iommu_unit *u, u64 root)
{
	unit_set64(cpu, u, VTD_RTADDR, root);
	return command(cpu, u, VTD_SRTP, true) && flush(cpu, u);
}

/* Replaces the table of interrupts. Call use_root() next: it waits for the flush */
static bool use_irt(struct pcpu *cpu, struct iommu_unit *u, u64 irta)
{
	if (!u->remaps)
		return true;
	unit_set64(cpu, u, VTD_IRTA, irta);
	return command(cpu, u, VTD_SIRTP, true);
}

/* Gives Linux its queue again, with head and tail where Linux left them */
static bool linux_queue(struct pcpu *cpu, struct iommu_unit *u)
{
	u32 at;

	if (!use_queue(cpu, u, unit_kept64(u, VTD_IQA)))
		return false;
	/* Linux has no request under way, so all places are free */
	for (at = 0; at < u->linux_tail; at += 8)
		*(volatile u64 *)gmem_map(cpu, u->ring + at, PT_W) =
			at % UNIT_REQUEST(u) ? 0 : VTD_WAIT | VTD_WAIT_FENCE;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	unit_set(cpu, u, VTD_IQT, u->linux_tail);
	return unit_until(cpu, u, VTD_IQH, ~0u, u->linux_tail);
}

static bool give(struct pcpu *cpu, struct iommu_unit *u)
{
	u32 i;

	if (!(*unit_kept(u, VTD_GSTS) & VTD_TE) && !command(cpu, u, VTD_TE, false))
		return false;
	if (!use_irt(cpu, u, u->linux_irta) ||
	    !use_root(cpu, u, unit_kept64(u, VTD_RTADDR)) || !linux_queue(cpu, u))
		return false;
	for (i = NUM_KEPT; i-- > LATER;)			/* the mask last */
		unit_set(cpu, u, kept[i], u->kept[i]);
	return true;
}

/* From now on Linux's requests come to the monitor. The unit still uses Linux's tables */
static bool take_queue(struct pcpu *cpu, struct iommu_unit *u)
{
	u32 gsts;

	unit_keep(cpu, u);
	gsts = *unit_kept(u, VTD_GSTS);
	*unit_kept(u, VTD_FSTS) = 0;
	u->linux_root = unit_kept64(u, VTD_RTADDR) & PT_ADDR;
	u->wide = VTD_IS_LONG(unit_kept64(u, VTD_IQA));
	u->ring_len = QV_PAGE << u->wide;
	u->ring = unit_kept64(u, VTD_IQA) & PT_ADDR;
	u->remaps = !!(gsts & VTD_IRE);
	u->linux_irta = unit_kept64(u, VTD_IRTA);
	/*
	 * 256 requests; a root table of the driver's mode; no interrupts that pass the table, in
	 * the compatible format
	 */
	if (!(gsts & VTD_QIE) || (unit_kept64(u, VTD_IQA) & 0xfff) != u->wide * VTD_LONG ||
	    (gsts & VTD_TE && (unit_kept64(u, VTD_RTADDR) & 0xfff) != VTD_MODE) ||
	    (u->translated && !(gsts & VTD_TE)) || (u->remaps && gsts & VTD_CFI))
		return false;
	/* Linux's writes of the tail come later: they exit, and wait for the lock */
	u->linux_tail = unit_get(cpu, u, VTD_IQT) & (u->ring_len - 1);
	if (!unit_until(cpu, u, VTD_IQH, ~0u, u->linux_tail))
		return false;
	u->step = 1;
	unit_set(cpu, u, VTD_FECTL, VTD_MASKED);
	return use_queue(cpu, u, u->queue | u->wide << 11);
}

static bool take(struct pcpu *cpu, struct iommu_unit *u)
{
	const u32 irtes = QV_MON_IRTES / VTD_PIECES, bdfs = (1u << 16) / VTD_PIECES;
	u32 piece = u->step - 2, format = (u->linux_irta & VTD_WIDE) |
					  (__builtin_ctz(me()->iommu.irtes) - 1);

	if (!u->step)
		return take_queue(cpu, u);
	if (piece < VTD_PIECES)
		return irt_copy(cpu, u, piece * irtes, irtes) &&
		       contexts_begin(cpu, u, piece * bdfs);
	return use_irt(cpu, u, u->irt | format) && use_root(cpu, u, u->root | VTD_MODE) &&
	       command(cpu, u, VTD_TE, true);
}

const struct iommu_ops vtd_ops = {
	.head = VTD_IQH, .tail = VTD_IQT, .status = VTD_FSTS,
	.kept = kept, .num_kept = NUM_KEPT, .later = LATER,
	.take = take, .give = give, .sweep = irt_sweep, .flush = flush, .look = look,
	.write = vtd_write, .wait = wait, .request = vtd_request,
	.own = contexts_own, .messages = irt_messages, .set = contexts_set,
};
