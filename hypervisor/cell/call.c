// SPDX-License-Identifier: GPL-2.0-only
/* VMMCALL and VMCALL of a cell: qv/cell.h. */
#include "abi/test_hooks.h"
#include "cell.h"
#include "core/dispatch.h"

/* Returns false if there is no such call, or if this cell may not make it */
static bool carry_out(struct pcpu *cpu, u32 nr)
{
	if (nr == QV_CALL_FAULT)
		return test_fault(cpu);
	if (nr >= QV_CALL_BELL)
		return me()->req.num_channels && cell_channel_call(cpu, nr);
	if (!nr || me()->req.lock == QV_LOCK_NEVER)
		return false;
	my_status()->locked = nr == QV_CALL_LOCK;
	return true;
}

void cell_call(struct pcpu *cpu)
{
	struct guest_mode mode;

	vendor_mode(cpu, &mode);
	if (!mode.cpl && me()->req.standby && (u32)cpu->regs[GPR_RAX] == QV_CALL_FAIL)
		cell_fail(cpu, QV_FAIL_PANIC, 0);
	else if (!mode.cpl && carry_out(cpu, cpu->regs[GPR_RAX]))
		vendor_skip(cpu, 3);
	else
		vendor_inject_fault(cpu, 6);	/* the cell gets #UD, as without a monitor */
}
