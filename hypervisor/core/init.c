// SPDX-License-Identifier: GPL-2.0-only
/* Sets up an instance once, before its first guest: CPUs, permission maps, the parking page. */
#include "abi/errors.h"
#include "cpu.h"
#include "init.h"
#include "msr.h"
#include "tables/nested.h"
#include "x86.h"

static void init_cpus(struct instance *inst, u64 va)
{
	const struct qv_mon_boot *b = &inst->boot;
	struct qv_mon_status *status = (struct qv_mon_status *)(va + QV_OFF_STATUS);
	u32 i;

	inst->icr.num = status->num_cpus = b->num_cpus;
	inst->icr.x2apic = b->x2apic;
	inst->icr.remapped = b->remapped;
	for (i = 0; i < b->num_cpus; i++) {
		struct pcpu *cpu = pcpu_in(va, i);

		cpu->index = i;
		cpu->status = &my_status()->cpus[i];	/* at the same address in every instance */
		cpu->linux_cpu = status->cpus[i].linux_cpu = b->cpus[i].linux_cpu;
		cpu->apic_id = status->cpus[i].apic_id = b->cpus[i].apic_id;
		inst->icr.apic_id[i] = cpu->apic_id;
		inst->icr.own_cpus |= 1ull << i;
	}
}

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
	init_cpus(inst, va);
	/* A cell exits at every port: those of its parts are opened later */
	memset(inst->port_map, inst->id ? 0xff : 0, sizeof(inst->port_map));
	msr_build(inst);
	if (inst->id ? inst->req.ipi_direct : inst->boot.ipi_direct)
		vendor_msr_stop(inst->msr_map, MSR_X2APIC_ICR, 0);
	return build_park(inst, va) ? QV_ME_TABLES : QV_ME_OK;
}
