// SPDX-License-Identifier: GPL-2.0-only
/* The steps that every exit has in common, between two VMRUN. */
#include "core/dispatch.h"
#include "svm.h"

/*
 * An event that was being delivered when the exit came is injected again. QEMU reports an interrupt
 * or an NMI as an exception, and then refuses to inject it as an exception. No real exception has
 * such a vector (2, or 32 and more), so on silicon the correction has no effect.
 */
static u64 event_again(u64 info)
{
	u32 vector = info & 0xff, type = info & EVENT_TYPE;

	/* INT n, INT3 and INTO need no injection: their instruction runs again */
	if (!(info & EVENT_VALID) || type == EVENT_SOFT ||
	    (type == EVENT_EXCEPTION && (vector == 3 || vector == 4)))
		return 0;
	if (type == EVENT_EXCEPTION && vector >= 32)
		info &= ~EVENT_TYPE;
	if (type == EVENT_EXCEPTION && vector == 2)
		info = (info & ~EVENT_TYPE) | EVENT_NMI;
	return info;
}

/*
 * Ends the masking of NMIs if the IRET of the last IRET exit was carried out. An NMI that was
 * injected before that would overwrite the frame that the IRET pops, since both use the same stack:
 * Linux would execute that IRET again and again.
 */
static void unmask_nmis(struct pcpu *cpu)
{
	const struct vmcb *v = vmcb_of(cpu);

	if (!(v->intercept3 & I3_IRET) && (v->rip != v->iret_rip || v->rsp != v->iret_rsp))
		cpu->nmi_masked = false;
}

void svm_exit(struct pcpu *cpu)
{
	struct vmcb *v = vmcb_of(cpu);
	u64 code = v->exit_code;

	unmask_nmis(cpu);
	cpu->regs[GPR_RAX] = v->rax;
	cpu->regs[GPR_RSP] = v->rsp;
	v->tlb_control = 0;
	v->event_inj = event_again(v->exit_int_info);
	if (code == EXIT_NMI || code == EXIT_INIT)
		svm_take_nmi();		/* takes the pending NMI, or #SX, which is dropped */
	exit_dispatch(cpu, code);
	if (cpu->flush) {
		cpu->flush = false;
		v->tlb_control = TLB_FLUSH_ALL;
	}
	v->rax = cpu->regs[GPR_RAX];
	v->rsp = cpu->regs[GPR_RSP];
	v->clean = 0;
}
