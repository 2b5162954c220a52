// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exits: a row each, with a handler for cells and one for Linux. The last row is for all others:
 * RDPMC and FERR_FREEZE of a cell are intercepted and have no row of their own.
 */
#include "cell/cell.h"
#include "core/dispatch.h"
#include "core/kick.h"
#include "front/front.h"
#include "svm.h"

/* #DB or #AC of a cell; Linux's do not exit */
static void cell_exception(struct pcpu *cpu)
{
	vendor_inject_fault(cpu, vmcb_of(cpu)->exit_code - EXIT_EXCEPTION);
	cell_late_commands(cpu);
}

/*
 * This IRET is about to end the guest's NMI handler: inject a pending NMI as soon as the guest can
 * take it. NMIs stay masked until svm_exit() finds that the IRET was carried out.
 */
static void on_iret(struct pcpu *cpu)
{
	struct vmcb *v = vmcb_of(cpu);

	v->intercept3 &= ~I3_IRET;
	v->iret_rip = v->rip;
	v->iret_rsp = v->rsp;
	if (cpu->nmi_pending) {
		v->v_intr = V_IRQ | V_IRQ_PRIO | V_IGN_TPR;
		v->intercept3 |= I3_VINTR;
		v->shadow |= 1;		/* not before the IRET */
	}
}

static void on_vintr(struct pcpu *cpu)
{
	struct vmcb *v = vmcb_of(cpu);

	v->v_intr = 0;
	v->intercept3 &= ~I3_VINTR;
	cpu->nmi_pending = false;
	vendor_inject_nmi(cpu);
}

const struct exit_row vendor_exits[] = {
	{ EXIT_MSR, EXIT_MSR, cell_msr, front_msr, SELF_COUNTED },
	{ EXIT_NPF, EXIT_NPF, cell_memory, front_memory, SELF_COUNTED },
	{ EXIT_NMI, EXIT_NMI, cell_nmi, front_nmi, QV_EXIT_NMI },
	{ EXIT_INIT, EXIT_INIT, BOTH(exit_init), QV_EXIT_NMI },
	{ EXIT_DB, EXIT_DB, cell_exception, exit_forbidden, QV_EXIT_EXCEPTION },
	{ EXIT_AC, EXIT_AC, cell_exception, exit_forbidden, QV_EXIT_EXCEPTION },
	{ EXIT_MC, EXIT_MC, cell_machine_check, front_machine_check, QV_EXIT_OTHER },
	{ EXIT_IRET, EXIT_IRET, BOTH(on_iret), QV_EXIT_NMI },
	{ EXIT_VINTR, EXIT_VINTR, BOTH(on_vintr), QV_EXIT_NMI },
	{ EXIT_CPUID, EXIT_CPUID, cell_cpuid, front_cpuid, QV_EXIT_CPUID },
	{ EXIT_VMMCALL, EXIT_VMMCALL, cell_call, front_call, QV_EXIT_HYPERCALL },
	{ EXIT_IOIO, EXIT_IOIO, cell_port, front_port, QV_EXIT_PORT },
	{ EXIT_INVD, EXIT_INVD, BOTH(exit_nothing), QV_EXIT_INSTRUCTION },
	{ EXIT_WBINVD, EXIT_WBINVD, BOTH(exit_nothing), QV_EXIT_INSTRUCTION },
	{ EXIT_INVLPGA, EXIT_INVLPGA, BOTH(exit_forbidden), QV_EXIT_INSTRUCTION },
	/* VMRUN, VMLOAD, VMSAVE, STGI, CLGI, SKINIT; VMMCALL has a row above */
	{ EXIT_VMRUN, EXIT_SKINIT, BOTH(exit_forbidden), QV_EXIT_INSTRUCTION },
	{ EXIT_SHUTDOWN, EXIT_SHUTDOWN, cell_shutdown, front_shutdown, QV_EXIT_TRIPLE_FAULT },
	{ EXIT_INVALID, EXIT_INVALID, cell_unknown, front_invalid, QV_EXIT_OTHER },
	{ 0, ~0ull, cell_unknown, exit_forbidden, QV_EXIT_OTHER },
};
