// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct IPIs of Linux, a choice of trust (`qvctl enable --ipi direct`): its interrupt commands
 * pass no filter of the monitor and cause no exit. Two things need care:
 *
 * - INIT and SIPI. The monitor emulates them, and no real INIT may reach a CPU of Linux. Linux
 *   sends them only to bring a CPU online. So the filter is in force from the first step of that
 *   (qv_ipi_cpu_comes) to its last (qv_ipi_cpu_came).
 * - Broadcasts. Linux uses them while every present CPU has been online, and then they would reach
 *   the CPUs of cells: interrupts without a meaning there, and NMIs at a crash. So a CPU of a cell
 *   is not present for Linux (/sys/devices/system/cpu/present). Linux looks at this after a CPU
 *   went offline or online, and names the CPUs in its IPIs from then on: apic_smt_update() in
 *   arch/x86/kernel/apic/ipi.c.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "qv.h"
#include "cross.h"
#include "parts/cpus.h"

static int ipi_state;			/* state of CPU hotplug: a CPU has come online */

static bool ipi_wanted(void)
{
	return READ_ONCE(qv_takeover.ipi_direct) && qv_takeover_whole();
}

static void ipi_open(void)
{
	u64 error = ipi_wanted() ? qv_manage(QV_HC_IPI, 1) : 0;

	if (error)
		qv_log("driver", "IPIs of Linux stay filtered: the monitor refused (%#llx)", error);
}

int qv_ipi_cpu_comes(u32 cpu)
{
	u64 error = ipi_wanted() ? qv_manage(QV_HC_IPI, 0) : 0;

	if (!error)
		return 0;
	qv_log("driver", "CPU %u stays offline: the monitor cannot filter its INIT (%#llx)", cpu,
	       error);
	return -EIO;
}

void qv_ipi_cpu_went(u32 cpu)
{
	ipi_open();		/* after a failed start of the CPU the filter is still in force */
	if (ipi_wanted() && qv_cpu_in_cell(cpu))
		set_cpu_present(cpu, false);
}

static int ipi_cpu_came(unsigned int cpu)
{
	ipi_open();
	return 0;
}

int qv_ipi_register(void)
{
	ipi_state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "qv:ipi", ipi_cpu_came, NULL);
	return ipi_state < 0 ? ipi_state : 0;
}

void qv_ipi_unregister(void)
{
	cpuhp_remove_state_nocalls(ipi_state);
}
