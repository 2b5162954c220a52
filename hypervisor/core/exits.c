// SPDX-License-Identifier: GPL-2.0-only
#include "abi/test_hooks.h"
#include "dispatch.h"
#include "log.h"
#include "vendor.h"

void exit_forbidden(struct pcpu *cpu)
{
	struct guest_mode mode;

	vendor_mode(cpu, &mode);
	/* log kernel code only: user code must not be able to fill the log */
	if (!mode.cpl)
		log_event(cpu, QV_LOG_INSTRUCTION, vendor_exit_code(cpu), vendor_rip(cpu));
	vendor_inject_fault(cpu, 6);
}

/*
 * Skips INVD, and WBINVD in a cell. Caches are coherent, so dirty lines may stay. A guest must not
 * be able to empty the caches of other CPUs in a loop.
 */
void exit_nothing(struct pcpu *cpu)
{
	vendor_skip(cpu, 2);
}

void exit_init(struct pcpu *cpu)
{
	log_event(cpu, QV_LOG_INIT, 0, 0);
}

bool test_fault(const struct pcpu *cpu)
{
	u64 kind = cpu->regs[GPR_RDI], address = cpu->regs[GPR_RSI];

	if (!(me()->boot.test_hooks & QV_TEST_FAULTS))
		return false;
	if (kind == QV_FAULT_READ)
		*(volatile u8 *)address;
	if (kind == QV_FAULT_STACK)
		asm volatile("mov %0, %%rsp; push %%rax" : : "r"(address) : "memory");
	asm volatile("ud2");
	return true;
}
