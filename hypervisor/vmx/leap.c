// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moves a CPU from one address space to another. VT-x cannot hold off NMIs while page tables, stack
 * and interrupt table change one by one. But an entry with an illegal guest state loads the whole
 * host state at once (SDM vol. 3, 27.8). So the host state is set to the new state, and the entry
 * fails.
 */
#include "vmx.h"

/* Call with the host fields written. The code at the host RIP gets @rdi in rdi */
void vmx_leap(u64 rdi)
{
	/* Switch off all features for which the processor could refuse the entry earlier */
	vmcs_write(VMCS_PROC, me()->boot.vmx.proc & ~PROC_SECONDARY);
	vmcs_write(ENTRY_EVENT, 0);
	vmcs_write(GUEST_RFLAGS, 0);		/* an illegal RFLAGS: bit 1 must be 1 */
	vmx_cross(rdi);
}

void vendor_move(u64 cr3, u64 stack, void (*to)(struct pcpu *), struct pcpu *cpu)
{
	vmcs_write(HOST_CR3, cr3);
	vmcs_write(HOST_RSP, stack - 8);	/* the stack is aligned as after a call */
	vmcs_write(HOST_RIP, (u64)to);
	vmcs_write(HOST_TR_BASE, (u64)cpu + CPU_OFF_TSS);
	vmx_leap((u64)cpu);
}
