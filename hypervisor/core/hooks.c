// SPDX-License-Identifier: GPL-2.0-only
#include "abi/test_hooks.h"
#include "hooks.h"

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
