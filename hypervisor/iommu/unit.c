// SPDX-License-Identifier: GPL-2.0-only
/*
 * A unit of either kind: its registers, the monitor's queue of requests, and that of Linux. Every
 * wait has a deadline. The unit never reads Linux's queue: each request is copied once, checked,
 * and made again, since a unit would store to any address that a request names.
 */
#include "abi/log.h"
#include "core/cpu.h"
#include "core/gmem.h"
#include "core/log.h"
#include "core/pci.h"
#include "tables/nested.h"
#include "iommu/iommu.h"
#include "iommu/unit.h"

#define DEADLINE_MS	100
#define MOST		100		/* requests between two waits: the queue has 128, or more */

u32 unit_get(struct pcpu *cpu, struct iommu_unit *u, u32 reg)
{
	return device_read(cpu, u->pa + reg);
}

void unit_set(struct pcpu *cpu, struct iommu_unit *u, u32 reg, u32 value)
{
	device_write(cpu, u->pa + reg, value);
}

void unit_set64(struct pcpu *cpu, const struct iommu_unit *u, u32 reg, u64 value)
{
	*(volatile u64 *)device_map(cpu, u->pa + reg) = value;
}

static bool late(u64 start)
{
	return rdtsc() - start > (u64)me()->boot.tsc_khz * DEADLINE_MS;
}

bool unit_until(struct pcpu *cpu, struct iommu_unit *u, u32 reg, u32 mask, u32 value)
{
	u64 start = rdtsc();
	bool last;

	do {
		last = late(start);	/* first: this CPU may have been held up itself */
		if ((unit_get(cpu, u, reg) & mask) == value)
			return true;
		pause();
	} while (!last);
	return false;
}

u32 *unit_kept(struct iommu_unit *u, u32 reg)
{
	u32 i;

	for (i = 0; i < me()->iommu.ops->num_kept; i++)
		if (me()->iommu.ops->kept[i] == reg)
			return &u->kept[i];
	return NULL;
}

u64 unit_kept64(struct iommu_unit *u, u32 reg)
{
	return (u64)*unit_kept(u, reg + 4) << 32 | *unit_kept(u, reg);
}

void unit_keep(struct pcpu *cpu, struct iommu_unit *u)
{
	u32 i;

	for (i = 0; i < me()->iommu.ops->num_kept; i++)
		u->kept[i] = unit_get(cpu, u, me()->iommu.ops->kept[i]);
	u->tail = u->waits = u->pending = u->status = 0;
}

void unit_put(struct iommu_unit *u, u64 low, u64 high)
{
	u64 *at = pt_table(&me()->pt_pool, u->queue) + u->tail * UNIT_REQUEST(u) / 8;

	/*
	 * The unit may not have read the oldest request. This one is lost, and the unit never
	 * reaches the next wait request
	 */
	if (u->pending == QV_PAGE / UNIT_REQUEST(u) - 1)
		return;
	at[0] = low;
	at[1] = high;
	u->tail = (u->tail + 1) % (QV_PAGE / UNIT_REQUEST(u));
	u->pending++;
}

bool unit_wait(struct pcpu *cpu, struct iommu_unit *u)
{
	u64 status = me()->pt_pool.pa + ((u64)(size_t)&u->status - me()->pt_pool.va);
	u64 start = rdtsc();
	bool last;

	u->waits++;
	me()->iommu.ops->wait(u, status);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	unit_set(cpu, u, me()->iommu.ops->tail, u->tail * UNIT_REQUEST(u));
	do {
		last = late(start);
		if (__atomic_load_n(&u->status, __ATOMIC_ACQUIRE) == u->waits) {
			u->pending = 0;
			return true;
		}
		pause();
	} while (!last);
	return false;
}

bool unit_room(struct pcpu *cpu, struct iommu_unit *u)
{
	return u->pending < MOST || unit_wait(cpu, u);
}

bool unit_done(struct pcpu *cpu, struct iommu_unit *u, u32 len, u64 pa, u64 value)
{
	u64 page = pa & ~(QV_PAGE - 1ull);
	void *at;

	/* nothing is pending after a wait that succeeds */
	if ((u->pending && !unit_wait(cpu, u)) || !len)
		return !u->pending;
	if (pa & (len - 1) || !front_reaches(&me()->nested, pa) ||
	    !ram_has(&me()->boot, page, QV_PAGE, true) || !front_owns(&me()->nested, page, QV_PAGE))
		return false;
	at = gmem_map(cpu, pa, PT_W);
	if (len == 4)
		__atomic_store_n((u32 *)at, value, __ATOMIC_RELEASE);
	else
		__atomic_store_n((u64 *)at, value, __ATOMIC_RELEASE);
	return true;
}

void unit_fault(struct pcpu *cpu, bool interrupt, u32 bdf, u64 info)
{
	log_event(cpu, interrupt ? QV_LOG_MESSAGE : QV_LOG_DMA, bdf & 0xffff, info);
	cpu->status->denied++;
}

u32 unit_queue(struct pcpu *cpu, struct iommu_unit *u, u32 tail)
{
	u32 refused = 0;
	u64 request[2];

	if (tail % UNIT_REQUEST(u) || tail >= u->ring_len)
		return 1;
	while (u->linux_tail != tail) {
		refused += !guest_copy_phys(cpu, request, u->ring + u->linux_tail, 16) ||
			   !unit_room(cpu, u) ||
			   !me()->iommu.ops->request(cpu, u, request[0], request[1]);
		u->linux_tail = (u->linux_tail + UNIT_REQUEST(u)) & (u->ring_len - 1);
	}
	return refused + (u->pending && !unit_wait(cpu, u));
}

u32 unit_read(struct pcpu *cpu, struct iommu_unit *u, u32 reg)
{
	const u32 *value = unit_kept(u, reg);

	if (reg == me()->iommu.ops->head || reg == me()->iommu.ops->tail)
		return u->linux_tail;
	return value ? *value : unit_get(cpu, u, reg);
}

void unit_write(struct pcpu *cpu, struct iommu_unit *u, u32 reg, u32 value)
{
	const struct iommu_ops *ops = me()->iommu.ops;
	u32 *kept = unit_kept(u, reg), refused = value;

	if (kept && kept >= u->kept + ops->later) {
		*kept = value;
		return;
	}
	if (reg == ops->tail)
		refused = unit_queue(cpu, u, value);
	if (reg != ops->status && (reg != ops->tail || refused))
		log_denied(cpu, QV_LOG_IOMMU, reg, refused);
}
