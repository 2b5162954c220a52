// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct IPIs of Linux or a cell, a choice of trust: its interrupt commands cause no exit and reach
 * every CPU. The monitor does not rely on what this gives up. An INIT is dropped and logged, a SIPI
 * starts no CPU, and an NMI without a command goes to the guest. A Linux that turns hostile later
 * cannot make the choice: it is made when QV is enabled, and a cell with direct IPIs is
 * refused while there are cells without them.
 */
#include "core/msr.h"
#include "core/x86.h"
#include "manage.h"

bool ipi_voids(bool of_linux, bool of_cell, bool lock)
{
	bool direct = of_linux || of_cell || me()->front.ipi_direct, filtered = false;
	u32 id;

	for (id = 1; id < QV_INSTANCES; id++)
		if (me()->manager.cells[id].state) {
			filtered |= !slot_request(id)->ipi_direct;
			direct |= slot_request(id)->ipi_direct != 0;
			lock |= slot_request(id)->lock != QV_LOCK_NEVER;
		}
	return (direct && lock) || (of_cell && filtered && !me()->boot.ipi_direct);
}

u64 call_ipi(struct pcpu *cpu, u64 direct, u64 unused)
{
	if (direct && (!me()->boot.ipi_direct || ipi_voids(true, false, false)))
		return QV_ME_IPI;
	me()->front.ipi_direct = !!direct;
	if (me()->boot.x2apic)
		vendor_msr_stop(me()->msr_map, MSR_X2APIC_ICR, direct ? 0 : 2);
	else
		linux_memory(APIC_PAGE, QV_PAGE, direct ? LINUX_ALL : LINUX_READ);
	log_event(cpu, QV_LOG_IPI, !direct, 0);
	return flush_front_end(cpu) ? QV_ME_OK : QV_ME_CPU_STUCK;
}
