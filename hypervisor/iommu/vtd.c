// SPDX-License-Identifier: GPL-2.0-only
/*
 * A VT-d unit in legacy mode, taken from a running Linux. Every wait has a deadline.
 */
#include "abi/log.h"
#include "core/cpu.h"
#include "core/gmem.h"
#include "core/log.h"
#include "core/pci.h"
#include "iommu/iommu.h"
#include "iommu/vtd.h"

#define DEADLINE_MS	100

/* Registers whose values of Linux are kept, and written back at the end */
static const u16 kept[] = {
	VTD_RTADDR, VTD_RTADDR + 4, VTD_FECTL, 0x3c, 0x40, VTD_FEUADDR, VTD_IQA, VTD_IQA + 4,
	VTD_IRTA, VTD_IRTA + 4,
};
_Static_assert(sizeof(kept) / sizeof(kept[0]) == IOMMU_KEPT, "registers that are kept");
enum { KEPT_FECTL = 2, KEPT_IQA = 6 };

u32 *vtd_kept(struct iommu_unit *u, u32 reg)
{
	u32 i;

	for (i = 0; i < IOMMU_KEPT; i++)
		if (kept[i] == reg)
			return &u->kept[i];
	return NULL;
}

static u64 kept64(struct iommu_unit *u, u32 reg)
{
	return (u64)*vtd_kept(u, reg + 4) << 32 | *vtd_kept(u, reg);
}

static u32 get(struct pcpu *cpu, const struct iommu_unit *u, u32 reg)
{
	return device_read(cpu, u->pa + reg);
}

static void set(struct pcpu *cpu, const struct iommu_unit *u, u32 reg, u32 value)
{
	device_write(cpu, u->pa + reg, value);
}

static void set64(struct pcpu *cpu, const struct iommu_unit *u, u32 reg, u64 value)
{
	set(cpu, u, reg + 4, value >> 32);
	set(cpu, u, reg, value);
}

static bool late(u64 start)
{
	return rdtsc() - start > (u64)me()->boot.tsc_khz * DEADLINE_MS;
}

/* Waits until the bits @mask of the register are @value */
static bool until(struct pcpu *cpu, const struct iommu_unit *u, u32 reg, u32 mask, u32 value)
{
	u64 start = rdtsc();
	bool last;

	do {
		last = late(start);	/* first: this CPU may have been held up itself */
		if ((get(cpu, u, reg) & mask) == value)
			return true;
		pause();
	} while (!last);
	return false;
}

/* Gives one command: @bit is set (@on) or cleared. Commands that last are kept as they are */
static bool command(struct pcpu *cpu, const struct iommu_unit *u, u32 bit, bool on)
{
	u32 lasting = get(cpu, u, VTD_GSTS) & VTD_LASTING & ~bit;

	set(cpu, u, VTD_GCMD, lasting | (on ? bit : 0));
	return until(cpu, u, VTD_GSTS, bit, on ? bit : 0);
}

void vtd_put(struct iommu_unit *u, u64 low, u64 high)
{
	u64 *at = pt_table(&me()->pt_pool, u->queue) + 2 * u->tail;

	at[0] = low;
	at[1] = high;
	u->tail = (u->tail + 1) % (VTD_QUEUE_LEN / VTD_REQUEST);
	u->pending++;
}

bool vtd_wait(struct pcpu *cpu, struct iommu_unit *u)
{
	u64 status = me()->pt_pool.pa + ((u64)(size_t)&u->status - me()->pt_pool.va);
	u64 start = rdtsc();
	bool last;

	u->waits++;
	vtd_put(u, VTD_WAIT | VTD_WAIT_STORE | VTD_WAIT_FENCE | (u64)u->waits << 32, status);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	set(cpu, u, VTD_IQT, u->tail * VTD_REQUEST);
	do {
		last = late(start);
		if (load(&u->status) == u->waits) {
			u->pending = 0;
			return true;
		}
		pause();
	} while (!last);
	return false;
}

void vtd_faults(struct pcpu *cpu, struct iommu_unit *u)
{
	u64 cap = (u64)get(cpu, u, VTD_CAP + 4) << 32 | get(cpu, u, VTD_CAP);
	u32 i, at = VTD_FAULTS_AT(cap), last;
	bool interrupt;
	u64 info;

	for (i = 0; i < VTD_FAULTS_NUM(cap) && at + 16 <= u->len; i++, at += 16) {
		last = get(cpu, u, at + 12);
		if (!(last & VTD_FAULT))
			continue;
		/*
		 * bits 79..64 are the bus, device and function; the low half is the page, or from
		 * bit 48 on the entry
		 */
		info = (u64)get(cpu, u, at + 4) << 32 | get(cpu, u, at);
		interrupt = VTD_REASON(last) >= 0x20;
		log_event(cpu, interrupt ? QV_LOG_MESSAGE : QV_LOG_DMA,
			  get(cpu, u, at + 8) & 0xffff, interrupt ? info >> 48 : info);
		cpu->status->denied++;
		set(cpu, u, at + 12, VTD_FAULT);
	}
	set(cpu, u, VTD_FSTS, VTD_FSTS_ALL);
}

bool vtd_flush(struct pcpu *cpu, struct iommu_unit *u)
{
	irt_sweep(cpu, u);
	if (u->remaps)
		vtd_put(u, VTD_INTERRUPTS, 0);
	/* contexts first: a translation may not be cached again under an old context (6.5.3.3) */
	vtd_put(u, VTD_CONTEXTS | VTD_GLOBAL, 0);
	vtd_put(u, VTD_IOTLB | VTD_GLOBAL | VTD_DRAIN, 0);
	return vtd_wait(cpu, u);
}

/* Replaces the queue. The unit's head is 0 afterwards (VT-d 3.3, 11.4.9.1) */
static bool use_queue(struct pcpu *cpu, const struct iommu_unit *u, u64 queue)
{
	if (!command(cpu, u, VTD_QIE, false))
		return false;
	set(cpu, u, VTD_IQT, 0);
	set64(cpu, u, VTD_IQA, queue);
	return command(cpu, u, VTD_QIE, true);
}

static bool use_root(struct pcpu *cpu, struct iommu_unit *u, u64 root)
{
	set64(cpu, u, VTD_RTADDR, root);
	return command(cpu, u, VTD_SRTP, true) && vtd_flush(cpu, u);
}

/* Replaces the table of interrupts. Call use_root() next: it waits for the flush */
static bool use_irt(struct pcpu *cpu, struct iommu_unit *u, u64 irta)
{
	if (!u->remaps)
		return true;
	set64(cpu, u, VTD_IRTA, irta);
	return command(cpu, u, VTD_SIRTP, true);
}

static u64 own_irta(const struct iommu_unit *u)
{
	return u->irt | (u->linux_irta & VTD_WIDE) | (__builtin_ctz(me()->iommu.irtes) - 1);
}

/* Gives Linux its queue again, with head and tail where Linux left them */
static bool linux_queue(struct pcpu *cpu, struct iommu_unit *u)
{
	u32 at;

	if (!use_queue(cpu, u, kept64(u, VTD_IQA)))
		return false;
	for (at = 0; at < u->linux_tail; at += VTD_REQUEST) {
		/* Linux has no request under way, so all places are free */
		volatile u64 *to = gmem_map(cpu, u->ring + at, PT_W);

		to[0] = VTD_WAIT | VTD_WAIT_FENCE;
		to[1] = 0;
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	set(cpu, u, VTD_IQT, u->linux_tail);
	return until(cpu, u, VTD_IQH, ~0u, u->linux_tail);
}

bool vtd_take(struct pcpu *cpu, struct iommu_unit *u)
{
	u32 i;

	u->gsts = get(cpu, u, VTD_GSTS);
	for (i = 0; i < IOMMU_KEPT; i++)
		u->kept[i] = get(cpu, u, kept[i]);
	u->linux_root = kept64(u, VTD_RTADDR) & PT_ADDR;
	u->ring = kept64(u, VTD_IQA) & PT_ADDR;
	u->remaps = !!(u->gsts & VTD_IRE);
	u->linux_irta = kept64(u, VTD_IRTA);
	/*
	 * One page of requests of 16 bytes; a root table of legacy mode; no interrupts that pass
	 * the table, in the compatible format
	 */
	if (!(u->gsts & VTD_QIE) || kept64(u, VTD_IQA) & 0xfff ||
	    (u->gsts & VTD_TE && kept64(u, VTD_RTADDR) & 0xfff) ||
	    (u->translated && !(u->gsts & VTD_TE)) || (u->remaps && u->gsts & VTD_CFI) ||
	    !irt_copy(cpu, u, 0, QV_MON_IRTES))
		return false;
	/* Linux's writes of the tail come later: they exit, and wait for the lock */
	u->linux_tail = get(cpu, u, VTD_IQT) & (VTD_QUEUE_LEN - 1);
	if (!until(cpu, u, VTD_IQH, ~0u, u->linux_tail) || !contexts_begin(cpu, u))
		return false;
	u->flushes = VTD_FLUSHES(get(cpu, u, VTD_CAP + 4));
	u->tail = u->waits = u->pending = u->status = 0;
	set(cpu, u, VTD_FECTL, VTD_MASKED);
	if (use_queue(cpu, u, u->queue) && use_irt(cpu, u, own_irta(u)) &&
	    use_root(cpu, u, u->root) && command(cpu, u, VTD_TE, true))
		return true;
	me()->iommu.lost |= !vtd_give(cpu, u);
	return false;
}

bool vtd_give(struct pcpu *cpu, struct iommu_unit *u)
{
	u32 i;

	if (!(u->gsts & VTD_TE) && !command(cpu, u, VTD_TE, false))
		return false;
	if (!use_irt(cpu, u, u->linux_irta) ||
	    !use_root(cpu, u, kept64(u, VTD_RTADDR)) || !linux_queue(cpu, u))
		return false;
	for (i = KEPT_IQA; i-- > KEPT_FECTL;)		/* the mask last */
		set(cpu, u, kept[i], u->kept[i]);
	return true;
}
