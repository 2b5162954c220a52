// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct IPIs of Linux or a cell, a choice of trust: its interrupt commands cause no exit and reach
 * every CPU. The monitor does not rely on what this gives up. An INIT is dropped and logged, a SIPI
 * starts no CPU, and an NMI without a command goes to the guest.
 */
#include "abi/errors.h"
#include "abi/log.h"
#include "core/msr.h"
#include "core/x86.h"
#include "front/linux_memory.h"
#include "manage.h"

bool ipi_voids_lock(bool direct, bool lock)
{
	u32 id;

	for (id = 1; id < QV_INSTANCES; id++)
		if (me()->manager.cells[id].state) {
			direct |= slot_request(id)->ipi_direct != 0;
			lock |= slot_request(id)->lock != QV_LOCK_NEVER;
		}
	return (direct || me()->front.ipi_direct) && lock;
}

u64 call_ipi(struct pcpu *cpu, u64 direct, u64 unused)
{
	if (direct && ipi_voids_lock(true, false))
		return QV_ME_IPI;
	me()->front.ipi_direct = !!direct;
	if (me()->boot.x2apic)
		vendor_msr_stop(me()->msr_map, MSR_X2APIC_ICR, direct ? 0 : 2);
	else
		linux_memory(APIC_PAGE, QV_PAGE, direct ? LINUX_ALL : LINUX_READ);
	log_event(cpu, QV_LOG_IPI, !direct, 0);
	return flush_front_end(cpu) ? QV_ME_OK : QV_ME_CPU_STUCK;
}
