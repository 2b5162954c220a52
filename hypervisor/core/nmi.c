// SPDX-License-Identifier: GPL-2.0-only
#include "cpu.h"
#include "exits.h"
#include "vendor.h"

void exit_nmi(struct pcpu *cpu)
{
	u32 cmd = take_commands(cpu);

	if (cmd) {
		run_commands(cpu, cmd);		/* may not come back */
		late_commands(cpu);
	} else if (!stray_nmi(cpu) && cpu->phase == CPU_RUNNING) {
		vendor_inject_nmi(cpu);
	}
}
