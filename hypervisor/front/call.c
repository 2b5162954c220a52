// SPDX-License-Identifier: GPL-2.0-only
/* VMMCALL and VMCALL of Linux: the driver's hypercalls. */
#include "abi/calls.h"
#include "abi/errors.h"
#include "front.h"
#include "core/dispatch.h"
#include "manage/calls.h"

void front_call(struct pcpu *cpu)
{
	u64 nr = cpu->regs[GPR_RAX], result;
	struct guest_mode mode;

	vendor_mode(cpu, &mode);
	if (mode.cpl) {
		/* Linux's user mode gets #UD, as without a monitor */
		vendor_inject_fault(cpu, 6);
		return;
	}
	if (nr == QV_HC_FAULT)
		test_fault(cpu);
	result = hypercall(cpu, nr, cpu->regs[GPR_RDI]);
	vendor_skip(cpu, 3);
	cpu->regs[GPR_RAX] = result;
	if (nr == QV_HC_LEAVE && result == QV_ME_OK) {
		log_event(cpu, QV_LOG_LEFT, 0, 0);
		vendor_leave(cpu);
	}
	if (result != QV_ME_BUSY && result != QV_ME_RATE && result > QV_ME_BASE)
		log_event(cpu, QV_LOG_REFUSED, nr, result);
	/* apart from the time of exits, since Linux asked for the call */
	exit_account(cpu, &cpu->status->call_max);
}
