// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux's queue of requests. The unit never reads it: each request is copied once, checked, and
 * written again into the queue of the monitor. A unit would store to any address that a request
 * names.
 */
#include "core/cpu.h"
#include "core/gmem.h"
#include "tables/nested.h"
#include "iommu/iommu.h"
#include "iommu/vtd.h"

/* VTD_INTERRUPTS: all entries or some (bit 4), how many (31..27), the first (47..32) */
#define INTERRUPTS	(0xfull | 1u << 4 | 0x1full << 27 | 0xffffull << 32)
#define MOST		200		/* requests between two waits: the queue has 256 */

/*
 * Stores @value where the unit would. The page may be taken from Linux meanwhile: this CPU answers
 * the flush after that only when it has left this exit.
 */
static bool store(struct pcpu *cpu, u64 pa, u32 value)
{
	u64 page = pa & ~(QV_PAGE - 1ull);

	if (pa & 3 || !front_reaches(&me()->nested, pa) ||
	    !ram_has(&me()->boot, page, QV_PAGE, true) || !front_owns(&me()->nested, page, QV_PAGE))
		return false;
	__atomic_store_n((u32 *)gmem_map(cpu, pa, PT_W), value, __ATOMIC_RELEASE);
	return true;
}

static bool wait_request(struct pcpu *cpu, struct iommu_unit *u, u64 low, u64 high)
{
	if (low & VTD_WAIT_IRQ || (u->pending && !vtd_wait(cpu, u)))
		return false;
	return !(low & VTD_WAIT_STORE) || store(cpu, high, low >> 32);
}

static bool room(struct pcpu *cpu, struct iommu_unit *u)
{
	return u->pending < MOST || vtd_wait(cpu, u);
}

/* Entries of Linux's table of interrupts have changed. The unit drops them after the copy */
static bool interrupts(struct pcpu *cpu, struct iommu_unit *u, u64 low)
{
	u32 num = low & VTD_SOME ? VTD_NUM(low) : QV_MON_IRTES;
	u32 first = low & VTD_SOME ? VTD_FIRST(low) & ~(num - 1) : 0;

	if (!irt_copy(cpu, u, first, num) || !room(cpu, u))
		return false;
	vtd_put(u, low & INTERRUPTS, 0);
	return true;
}

/* Linux's entries have been followed, so no unit may keep an old context */
static bool contexts(struct pcpu *cpu, struct iommu_unit *u)
{
	if (!room(cpu, u))
		return false;
	vtd_put(u, VTD_CONTEXTS | VTD_GLOBAL, 0);
	return true;
}

/* A unit stops at a malformed request, so each is made again. It may flush more than Linux asks */
static bool iotlb(struct pcpu *cpu, struct iommu_unit *u, u64 low, u64 high)
{
	u32 granularity = VTD_GRANULARITY(low), order = VTD_ORDER(high);

	if (!granularity || !room(cpu, u))
		return false;
	if (granularity == VTD_BY_PAGE && order >= u->flushes)
		granularity = VTD_BY_DOMAIN;
	vtd_put(u, VTD_IOTLB | granularity << 4 | (low & (VTD_DRAIN | VTD_DOMAIN)),
		granularity != VTD_BY_PAGE ? 0 :
		(high & PT_ADDR & ~(((u64)QV_PAGE << order) - 1)) | order);
	return true;
}

static bool carry_out(struct pcpu *cpu, struct iommu_unit *u, u64 low, u64 high)
{
	switch (low & 0xf) {
	case VTD_INTERRUPTS:
		return interrupts(cpu, u, low);
	case VTD_WAIT:
		return wait_request(cpu, u, low, high);
	case VTD_CONTEXTS:
		return !u->translated || contexts(cpu, u);
	case VTD_IOTLB:			/* else: about tables that the unit does not use */
		return !u->translated || iotlb(cpu, u, low, high);
	case VTD_DEVICE_TLB:
		return true;		/* no device has translations of its own */
	}
	return false;
}

u32 vtd_queue(struct pcpu *cpu, struct iommu_unit *u, u32 tail)
{
	u32 refused = 0;
	u64 request[2];

	if (tail % VTD_REQUEST || tail >= VTD_QUEUE_LEN)
		return 1;
	contexts_follow(cpu, u);
	while (u->linux_tail != tail) {
		refused += !guest_copy_phys(cpu, request, u->ring + u->linux_tail, VTD_REQUEST) ||
			   !carry_out(cpu, u, request[0], request[1]);
		u->linux_tail = (u->linux_tail + VTD_REQUEST) & (VTD_QUEUE_LEN - 1);
	}
	return refused + (u->pending && !vtd_wait(cpu, u));
}
