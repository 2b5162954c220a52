// SPDX-License-Identifier: GPL-2.0-only
/*
 * An AMD-Vi unit, taken from a running Linux. The unit itself sends no interrupts then, and its
 * logs for virtual machines are off.
 */
#include "core/cpu.h"
#include "core/gmem.h"
#include "iommu/amdvi.h"
#include "iommu/iommu.h"

static const u16 kept[] = {
	AMDVI_DEVICES, AMDVI_DEVICES + 4, AMDVI_QUEUE, AMDVI_QUEUE + 4, AMDVI_EVENTS,
	AMDVI_EVENTS + 4, AMDVI_CONTROL, AMDVI_CONTROL + 4, AMDVI_EV_TAIL, AMDVI_STATUS,
	AMDVI_EV_HEAD, AMDVI_MESSAGES, AMDVI_MESSAGES + 4, AMDVI_MESSAGES + 8, AMDVI_MESSAGES + 12,
	AMDVI_MESSAGES + 16, AMDVI_MESSAGES + 20,
};
enum { NUM_KEPT = sizeof(kept) / sizeof(kept[0]), LATER = NUM_KEPT - 7 };
_Static_assert(NUM_KEPT <= IOMMU_KEPT, "registers that are kept");

static void wait(struct iommu_unit *u, u64 status)
{
	unit_put(u, AMDVI_REQUEST(AMDVI_WAIT) | AMDVI_WAIT_STORE | status, u->waits);
}

/* Switches the queue and the log of events, by a value of AMDVI_CONTROL */
static bool control(struct pcpu *cpu, struct iommu_unit *u, u64 value)
{
	unit_set64(cpu, u, AMDVI_CONTROL, value);
	return unit_until(cpu, u, AMDVI_STATUS, AMDVI_RUN,
			  (value & AMDVI_EV_ON ? 1u << 3 : 0) | (value & AMDVI_Q_ON ? 1u << 4 : 0));
}

static u64 own_control(struct iommu_unit *u)
{
	return (unit_kept64(u, AMDVI_CONTROL) & ~AMDVI_OFF_FOR_US) | AMDVI_EV_ON;
}

static bool flush(struct pcpu *cpu, struct iommu_unit *u)
{
	unit_put(u, AMDVI_REQUEST(AMDVI_ALL), 0);
	return unit_wait(cpu, u);
}

/* Uses another table of devices. The unit drops all that it knows of the old one */
static bool use_devices(struct pcpu *cpu, struct iommu_unit *u, u64 value)
{
	u32 i;

	unit_set64(cpu, u, AMDVI_DEVICES, value);
	for (i = 0; i < me()->boot.iommus.num_ids && unit_room(cpu, u); i++)
		unit_put(u, AMDVI_REQUEST(AMDVI_DEVICE) | amdvi_ids()->ids[i], 0);
	return flush(cpu, u);
}

/* Replaces the queue and the log of events. They stop meanwhile */
static bool use_queue(struct pcpu *cpu, struct iommu_unit *u, const u64 *value)
{
	u32 i;

	if (!control(cpu, u, own_control(u) & ~(AMDVI_Q_ON | AMDVI_EV_ON)))
		return false;
	for (i = 0; i < 2; i++) {	/* the queue, then the log: the same registers */
		unit_set64(cpu, u, AMDVI_QUEUE + 8 * i, value[3 * i]);
		unit_set64(cpu, u, AMDVI_HEAD + 16 * i, value[3 * i + 1]);
		unit_set64(cpu, u, AMDVI_TAIL + 16 * i, value[3 * i + 2]);
	}
	return true;
}

/* Both are empty afterwards, and the log has not overflowed */
static bool own_queue(struct pcpu *cpu, struct iommu_unit *u)
{
	const u64 queue[6] = { u->queue | AMDVI_ONE_PAGE, 0, 0, u->irt | AMDVI_ONE_PAGE, 0, 0 };

	u->tail = 0;
	if (!use_queue(cpu, u, queue))
		return false;
	unit_set(cpu, u, AMDVI_STATUS, AMDVI_OVERFLOW);
	return control(cpu, u, own_control(u));
}

static bool give(struct pcpu *cpu, struct iommu_unit *u)
{
	const u64 queue[6] = {
		unit_kept64(u, AMDVI_QUEUE), u->linux_tail, u->linux_tail,
		unit_kept64(u, AMDVI_EVENTS), *unit_kept(u, AMDVI_EV_HEAD),
		*unit_kept(u, AMDVI_EV_TAIL),
	};
	u32 i;

	if (!use_devices(cpu, u, unit_kept64(u, AMDVI_DEVICES)) || !use_queue(cpu, u, queue))
		return false;
	for (i = 0; i < 24; i += 8)
		unit_set64(cpu, u, AMDVI_MESSAGES + i, unit_kept64(u, AMDVI_MESSAGES + i));
	return control(cpu, u, unit_kept64(u, AMDVI_CONTROL));
}

/* From now on Linux's requests come to the monitor. The unit still uses Linux's tables */
static bool take_queue(struct pcpu *cpu, struct iommu_unit *u)
{
	const u64 needs = AMDVI_ON | AMDVI_Q_ON | AMDVI_GA;

	unit_keep(cpu, u);
	u->linux_root = unit_kept64(u, AMDVI_DEVICES) & PT_ADDR;
	u->ring = unit_kept64(u, AMDVI_QUEUE) & PT_ADDR;
	u->ring_len = AMDVI_LEN(unit_kept64(u, AMDVI_QUEUE));
	u->remaps = true;
	u->linux_irta = unit_kept64(u, AMDVI_CONTROL) & AMDVI_WIDE;
	u->linux_tail = unit_get(cpu, u, AMDVI_TAIL);
	/* Linux's writes of the tail come later: they exit, and wait for the lock */
	if (~unit_kept64(u, AMDVI_CONTROL) & needs || u->ring_len < QV_PAGE ||
	    u->linux_tail >= u->ring_len ||
	    (unit_kept64(u, AMDVI_DEVICES) & 0x1ff) + 1 != me()->boot.iommus.device_pages ||
	    !unit_until(cpu, u, AMDVI_HEAD, ~0u, u->linux_tail))
		return false;
	u->step = 1;
	return own_queue(cpu, u);
}

static bool take(struct pcpu *cpu, struct iommu_unit *u)
{
	const u32 num = QV_MON_DEVICE_IRTES / AMDVI_PIECES, piece = u->step - 2;

	if (!u->step)
		return take_queue(cpu, u);
	if (u->step < me()->iommu.steps - 1)
		return amdvi_follow(cpu, u, amdvi_ids()->ids[piece / AMDVI_PIECES],
				    piece % AMDVI_PIECES * num, num);
	return use_devices(cpu, u, me()->iommu.root | (me()->boot.iommus.device_pages - 1));
}

static bool look(struct pcpu *cpu, struct iommu_unit *u, u32 unused)
{
	u32 head = unit_get(cpu, u, AMDVI_EV_HEAD), tail = unit_get(cpu, u, AMDVI_EV_TAIL);
	bool overflow = unit_get(cpu, u, AMDVI_STATUS) & AMDVI_OVERFLOW, interrupt;
	const u64 *event;

	for (; head != tail; head = (head + UNIT_REQUEST(u)) & (QV_PAGE - 1)) {
		event = pt_table(&me()->pt_pool, u->irt) + (head & (QV_PAGE - 1)) / 8;
		/* QEMU says so of each event, and gives the address 0 */
		interrupt = event[0] & AMDVI_OF_IRQ && event[1];
		if (AMDVI_KIND(event[0]) == AMDVI_FAULT || AMDVI_KIND(event[0]) == AMDVI_BAD_ENTRY)
			unit_fault(cpu, interrupt, event[0],
				   interrupt ? event[1] & 0x7ff : event[1]);
	}
	unit_set(cpu, u, AMDVI_EV_HEAD, tail);
	if (overflow)
		own_queue(cpu, u);
	return true;
}

static bool request(struct pcpu *cpu, struct iommu_unit *u, u64 low, u64 high)
{
	u32 bdf = low & 0xffff;

	switch (AMDVI_KIND(low)) {
	case AMDVI_WAIT:
		return !(low & AMDVI_WAIT_IRQ) &&
		       unit_done(cpu, u, low & AMDVI_WAIT_STORE ? 8 : 0,
				 low & (PT_ADDR | 0xff8), high);
	case AMDVI_DEVICE:
	case AMDVI_INTERRUPTS:
		if (!amdvi_follow(cpu, u, bdf, 0, QV_MON_DEVICE_IRTES))
			return false;
		unit_put(u, AMDVI_REQUEST(AMDVI_DEVICE) | bdf, 0);
		unit_put(u, AMDVI_REQUEST(AMDVI_INTERRUPTS) | bdf, 0);
		return true;
	case AMDVI_PAGES:
		if (!(high & AMDVI_GUEST))
			unit_put(u, AMDVI_REQUEST(AMDVI_PAGES) | (low & AMDVI_PAGES_LOW),
				 high & AMDVI_PAGES_HIGH);
		return !(high & AMDVI_GUEST);
	case AMDVI_ALL:
		return flush(cpu, u);
	}
	return false;
}

const struct iommu_ops amdvi_ops = {
	.head = AMDVI_HEAD, .tail = AMDVI_TAIL, .status = AMDVI_STATUS,
	.kept = kept, .num_kept = NUM_KEPT, .later = LATER,
	.take = take, .give = give, .sweep = amdvi_irt_sweep, .flush = flush, .look = look,
	.write = unit_write, .wait = wait, .request = request,
	.own = amdvi_own, .messages = amdvi_messages, .set = amdvi_set,
};
