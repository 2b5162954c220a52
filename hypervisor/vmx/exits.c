// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exits: a row each, with a handler for cells and one for Linux. The last row is for all others:
 * RDPMC of a cell, a task switch, an EPT misconfiguration.
 */
#include "cell/cell.h"
#include "core/dispatch.h"
#include "core/kick.h"
#include "core/x86.h"
#include "front/front.h"
#include "vmx.h"

/* Injects a cell's #AC or #DB again as it came; error codes of #AC are 0. Linux's do not exit */
static void cell_exception(struct pcpu *cpu)
{
	vmcs_write(ENTRY_EVENT, vmcs_read(EXIT_EVENT) & ~EVENT_FROM_IRET);
	vmcs_write(ENTRY_ERROR, 0);
	/* of these events, only the #DB of an INT1 uses the length */
	vmcs_write(ENTRY_LENGTH, vmcs_read(EXIT_LENGTH));
	vmx_end_shadow();
	cell_late_commands(cpu);
}

/*
 * A #DB exits before DR6 and DR7 change, and an injected #DB does not change them: SDM vol. 3, 28.1
 * and 27.6.1.
 */
static void cell_debug(struct pcpu *cpu)
{
	u64 dr6;

	asm volatile("mov %%dr6, %0" : "=r"(dr6));
	dr6 = (dr6 & ~0xfull) | (vmcs_read(EXIT_QUALIFICATION) & 0x600f);
	asm volatile("mov %0, %%dr6" : : "r"(dr6));
	vmcs_write(GUEST_DR7, vmcs_read(GUEST_DR7) & ~DR7_GD);
	cell_exception(cpu);
}

/*
 * The write would change a host-owned bit: NE in any guest's CR0, CD and NW in a cell's CR0, MCE in
 * a cell's CR4. The guest must read the value it wrote. When the instruction runs again, it finds
 * no difference and does the rest itself. The other host-owned bits of CR4 do not exist on a
 * processor without VT-x, user interrupts and FRED.
 */
static void on_cr(struct pcpu *cpu)
{
	u64 q = vmcs_read(EXIT_QUALIFICATION), value = cpu->regs[q >> 8 & 15];

	if (!(q & 15))
		vmcs_write(VMCS_CR0_SHADOW, value);
	else if (value & CR4_OURS)
		vendor_inject_fault(cpu, 13);
	else
		vmcs_write(VMCS_CR4_SHADOW, value & CR4_MCE);
}

static void on_xsetbv(struct pcpu *cpu)
{
	if (xsetbv_safe(cpu->regs[GPR_RCX], cpu->regs[GPR_RDX] << 32 | (u32)cpu->regs[GPR_RAX]))
		vendor_skip(cpu, 3);
	else
		vendor_inject_fault(cpu, 13);
}

static void on_nmi_window(struct pcpu *cpu)
{
	vmx_nmi_window(false);
	cpu->nmi_pending = false;
	vendor_inject_nmi(cpu);
}

const struct exit_row vendor_exits[] = {
	{ REASON_RDMSR, REASON_WRMSR, cell_msr, front_msr, SELF_COUNTED },
	{ REASON_EPT, REASON_EPT, cell_memory, front_memory, SELF_COUNTED },
	{ CODE_NMI, CODE_NMI, cell_nmi, front_nmi, QV_EXIT_NMI },
	{ REASON_CPUID, REASON_CPUID, cell_cpuid, front_cpuid, QV_EXIT_CPUID },
	{ REASON_NMI_WINDOW, REASON_NMI_WINDOW, BOTH(on_nmi_window), QV_EXIT_NMI },
	{ REASON_VMCALL, REASON_VMCALL, cell_call, front_call, QV_EXIT_HYPERCALL },
	{ REASON_PORT, REASON_PORT, cell_port, front_port, QV_EXIT_PORT },
	{ REASON_CR, REASON_CR, BOTH(on_cr), QV_EXIT_CR },
	{ REASON_XSETBV, REASON_XSETBV, BOTH(on_xsetbv), QV_EXIT_CR },
	{ REASON_INIT, REASON_INIT, BOTH(exit_init), QV_EXIT_NMI },
	{ EVENT_CODE(1), EVENT_CODE(1), cell_debug, exit_forbidden, QV_EXIT_EXCEPTION },
	{ EVENT_CODE(17), EVENT_CODE(17), cell_exception, exit_forbidden, QV_EXIT_EXCEPTION },
	{ REASON_INVD, REASON_INVD, BOTH(exit_nothing), QV_EXIT_INSTRUCTION },
	{ REASON_WBINVD, REASON_WBINVD, BOTH(exit_nothing), QV_EXIT_INSTRUCTION },
	{ REASON_GETSEC, REASON_GETSEC, BOTH(exit_forbidden), QV_EXIT_INSTRUCTION },
	/* VMCLEAR, VMLAUNCH, VMPTRLD, VMPTRST, VMREAD, VMRESUME, VMWRITE, VMXOFF, VMXON */
	{ REASON_VMCLEAR, REASON_VMXON, BOTH(exit_forbidden), QV_EXIT_INSTRUCTION },
	{ REASON_XSAVES, REASON_XRSTORS, BOTH(exit_forbidden), QV_EXIT_INSTRUCTION },
	/* INVEPT, INVVPID; RDTSCP and the timer between them do not exit */
	{ REASON_INVEPT, REASON_INVVPID, BOTH(exit_forbidden), QV_EXIT_INSTRUCTION },
	{ REASON_TRIPLE_FAULT, REASON_TRIPLE_FAULT, cell_shutdown, front_shutdown,
	  QV_EXIT_TRIPLE_FAULT },
	{ EVENT_CODE(18), EVENT_CODE(18), cell_machine_check, front_machine_check, QV_EXIT_OTHER },
	{ CODE_ENTRY_FAILED, CODE_ENTRY_FAILED, cell_unknown, front_invalid, QV_EXIT_OTHER },
	{ 0, ~0ull, cell_unknown, exit_forbidden, QV_EXIT_OTHER },
};
