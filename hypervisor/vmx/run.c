// SPDX-License-Identifier: GPL-2.0-only
/* The steps that every exit has in common, between two VM entries. */
#include "core/dispatch.h"
#include "vmx.h"

/*
 * An event that was being delivered when the exit came is delivered again. If an IRET of the
 * guest's NMI handler caused a nested fault, #AC or #DB, the IRET has not been carried out: SDM
 * vol. 3, 28.2.3.
 */
static void event_again(u32 reason)
{
	u32 info = vmcs_read(IDT_EVENT), type = info & EVENT_TYPE;
	u32 blocking = vmcs_read(GUEST_BLOCKING);
	u32 met = reason == REASON_EPT ? vmcs_read(EXIT_QUALIFICATION) :
		  reason ? 0 : vmcs_read(EXIT_EVENT);

	if (!(info & EVENT_VALID)) {
		if (met & EVENT_FROM_IRET)
			vmcs_write(GUEST_BLOCKING, blocking | BLOCKING_NMI);
		return;
	}
	/*
	 * INT n, INT3 and INTO need no injection: their instruction runs again. A failed entry
	 * leaves IDT_EVENT as it was, and ENTRY_EVENT for the next entry: SDM vol. 3, 27.8.
	 */
	if (type >= EVENT_SOFT || vmcs_read(EXIT_REASON) & REASON_ENTRY_FAILED)
		return;
	if (type == EVENT_NMI)		/* the delivery of an NMI itself blocks the next NMI */
		vmcs_write(GUEST_BLOCKING, blocking & ~BLOCKING_NMI);
	vmcs_write(ENTRY_EVENT, info & ~EVENT_FROM_IRET);	/* undefined there */
	vmcs_write(ENTRY_ERROR, vmcs_read(IDT_ERROR));
}

void vmx_handle(struct pcpu *cpu, u64 code)
{
	cpu->regs[GPR_RSP] = vmcs_read(GUEST_RSP);
	exit_dispatch(cpu, code);
	vmcs_write(GUEST_RSP, cpu->regs[GPR_RSP]);
	if (cpu->flush) {
		cpu->flush = false;
		vmx_flush();
	}
}

void vmx_exit(struct pcpu *cpu)
{
	u32 reason = vmcs_read(EXIT_REASON), code = reason & 0xffff;

	event_again(code);
	if (reason & REASON_ENTRY_FAILED)	/* by a machine check, or by the guest state */
		code = reason == REASON_ENTRY_CHECK ? EVENT_CODE(18) : CODE_ENTRY_FAILED;
	else if (code == REASON_EVENT)
		code = EVENT_CODE(vmcs_read(EXIT_EVENT) & 0xff);
	if (code == CODE_NMI)
		vmx_unblock_nmi();
	vmx_handle(cpu, code);
}
