// SPDX-License-Identifier: GPL-2.0-only
/* What an instance needs once: interrupt table, permission bitmaps, the parking page. */
#include "svm.h"

#define DOUBLE_FAULT	8

static void build_idt(struct instance *inst)
{
	u64 *gate = (u64 *)inst->idt;
	u32 i;

	for (i = 0; i < 256; i++) {
		u64 at = i < 32 ? (u64)vector_stubs + i * 4 : (u64)vector_rest;

		gate[2 * i] = (at & 0xffff) | 0x10ull << 16 | 0x8eull << 40 | (at & 0xffff0000) << 32;
		gate[2 * i + 1] = at >> 32;
	}
	gate[2 * DOUBLE_FAULT] |= 1ull << 32;	/* IST 1: its own stack, the other one may be the cause */
}

static void build_iopm(u8 *iopm, const struct qv_mon_create *q, bool front_end)
{
	u32 i, b, port;

	memset(iopm, front_end ? 0 : 0xff, 0x3000);
	if (front_end)
		return;
	for (i = 0; i < q->num_ports; i++)
		for (port = q->ports[i].first; port <= q->ports[i].last; port++)
			iopm[port / 8] &= ~(1u << port % 8);
	for (i = 0; i < q->num_devices; i++)
		for (b = 0; b < QV_MON_BARS; b++) {
			const struct qv_mon_bar *bar = &q->devices[i].bars[b];

			for (port = bar->base; bar->ports && port < bar->base + bar->len; port++)
				iopm[port / 8] &= ~(1u << port % 8);
		}
}

void vendor_front_ports(u32 first, u32 last, bool stop)
{
	u8 *iopm = svm_area()->iopm;
	u32 port;

	for (port = first; port <= last; port++)
		iopm[port / 8] = stop ? iopm[port / 8] | 1u << port % 8 : iopm[port / 8] & ~(1u << port % 8);
}

/* Where a CPU waits: `1: hlt; jmp 1b` in real mode at 0, interrupts off; an NMI brings it back */
static int build_park(struct instance *inst, u64 va)
{
	static const u8 code[] = { 0xf4, 0xeb, 0xfd };
	u64 pa = inst->boot.block_pa + ((u64)inst->park_code - va);

	memcpy(inst->park_code, code, sizeof(code));
	inst->park = inst->nested;
	inst->park.max_leaf = 1;
	inst->park.root = pool_take(inst->park.pool);
	if (!inst->park.root)
		return -1;
	return paging_map(&inst->park, 0, pa, QV_PAGE, PT_P | PT_U);
}

u64 vendor_init_instance(struct instance *inst, u64 va)
{
	struct svm_area *area = (struct svm_area *)inst->vendor;

	build_idt(inst);
	build_iopm(area->iopm, &inst->req, inst->id == 0);
	msr_build(area->msrpm, inst->id == 0);
	return build_park(inst, va) ? QV_ME_TABLES : QV_ME_OK;
}
