// SPDX-License-Identifier: GPL-2.0-only
/* Sets up an instance once, before its first guest: permission maps, the parking page. */
#include "abi/errors.h"
#include "cpu.h"
#include "init.h"
#include "msr.h"
#include "tables/nested.h"
#include "x86.h"

/* A parked CPU executes `1: hlt; jmp 1b` in real mode at 0, interrupts off. An NMI makes it exit */
static int build_park(struct instance *inst, u64 va)
{
	static const u8 code[] = { 0xf4, 0xeb, 0xfd };
	u64 pa = inst->boot.block_pa + ((u64)inst->park_code - va);

	memcpy(inst->park_code, code, sizeof(code));
	inst->park = inst->nested;
	inst->park.max_leaf = 1;
	inst->park.root = pt_take(inst->park.pt_pool);
	if (!inst->park.root)
		return -1;
	return paging_map(&inst->park, 0, pa, QV_PAGE,
			  nested_bits(&inst->park, NESTED_RX | NESTED_WB));
}

u64 guest_init(struct instance *inst, u64 va)
{
	/* A cell exits at every port: those of its parts are opened later */
	memset(inst->port_map, inst->id ? 0xff : 0, sizeof(inst->port_map));
	msr_build(inst);
	if (inst->id ? inst->req.ipi_direct : inst->boot.ipi_direct)
		vendor_msr_stop(inst->msr_map, MSR_X2APIC_ICR, 0);
	return build_park(inst, va) ? QV_ME_TABLES : QV_ME_OK;
}
