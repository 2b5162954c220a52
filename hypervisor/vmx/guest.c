// SPDX-License-Identifier: GPL-2.0-only
/* Reads and changes the guest during an exit: core/vendor.h, by the current VMCS. */
#include "core/x86.h"
#include "vmx.h"

/* Ends blocking by STI and MOV SS, and a halt, as the next instruction or an event would */
void vmx_end_shadow(void)
{
	vmcs_write(GUEST_BLOCKING, vmcs_read(GUEST_BLOCKING) & ~BLOCKING_SHADOW);
	vmcs_write(GUEST_ACTIVITY, 0);
}

void vmx_nmi_window(bool on)
{
	u32 proc = vmcs_read(VMCS_PROC);

	vmcs_write(VMCS_PROC, on ? proc | PROC_NMI_WINDOW : proc & ~PROC_NMI_WINDOW);
}

bool vendor_msr_write(const struct pcpu *cpu)
{
	return (u16)vmcs_read(EXIT_REASON) == REASON_WRMSR;
}

u64 vendor_memory_access(const struct pcpu *cpu, bool *write)
{
	*write = vmcs_read(EXIT_QUALIFICATION) & 2;
	return vmcs_read(EXIT_GUEST_PHYSICAL);
}

void vendor_port_access(const struct pcpu *cpu, struct port_access *a)
{
	/* bits of the exit qualification: SDM vol. 3, table 28-5 */
	u64 q = vmcs_read(EXIT_QUALIFICATION);

	a->port = q >> 16 & 0xffff;
	a->size = (q & 7) + 1;
	a->len = vmcs_read(EXIT_LENGTH);
	a->in = q >> 3 & 1;
	a->plain = !(q & 1 << 4);
}

u64 vendor_exit_code(const struct pcpu *cpu)
{
	return vmcs_read(EXIT_REASON);
}

void vendor_set_flags(struct pcpu *cpu, u64 mask, u64 flags)
{
	vmcs_write(GUEST_RFLAGS, (vmcs_read(GUEST_RFLAGS) & ~mask) | flags);
}

u64 vendor_rip(const struct pcpu *cpu)
{
	return vmcs_read(GUEST_RIP);
}

u64 vendor_idt_base(const struct pcpu *cpu)
{
	return vmcs_read(GUEST_IDTR_BASE);
}

/*
 * The processor gives the length of an instruction that exits by itself. Outside 64-bit code RIP
 * wraps. If the guest single-steps, it gets #DB for the emulated instruction too.
 */
void vendor_skip(struct pcpu *cpu, u32 len)
{
	u64 rip = vmcs_read(GUEST_RIP);

	rip += (u16)vmcs_read(EXIT_REASON) == REASON_EPT ? len : vmcs_read(EXIT_LENGTH);
	if (!(vmcs_read(GUEST_CS_RIGHTS) & RIGHTS_LONG))
		rip = (u32)rip;
	vmcs_write(GUEST_RIP, rip);
	vmx_end_shadow();
	if (vmcs_read(GUEST_RFLAGS) & RFLAGS_TF && !(vmcs_read(GUEST_DEBUGCTL) & DEBUGCTL_BTF))
		vmcs_write(GUEST_PENDING_DEBUG, vmcs_read(GUEST_PENDING_DEBUG) | DR6_BS);
}

void vendor_mode(const struct pcpu *cpu, struct guest_mode *mode)
{
	u32 rights = vmcs_read(GUEST_CS_RIGHTS);

	mode->cr0 = vmcs_read(GUEST_CR0);
	mode->cr3 = vmcs_read(GUEST_CR3);
	mode->cr4 = vmcs_read(GUEST_CR4);
	mode->efer = vmcs_read(GUEST_EFER);
	mode->long_code = mode->efer & EFER_LMA && rights & RIGHTS_LONG;
	mode->big_code = rights & RIGHTS_BIG;
	mode->cpl = vmcs_read(GUEST_SS_RIGHTS) >> 5 & 3;
	mode->cs_base = mode->long_code ? 0 : vmcs_read(GUEST_CS_BASE);
}

void vendor_inject_fault(struct pcpu *cpu, u32 vector)
{
	bool error = vector == 13 && vmcs_read(GUEST_CR0) & CR0_PE;

	vmx_end_shadow();
	vmcs_write(ENTRY_EVENT, EVENT_VALID | EVENT_EXCEPTION | vector | (error ? EVENT_ERROR : 0));
	vmcs_write(ENTRY_ERROR, 0);
}

void vendor_inject_nmi(struct pcpu *cpu)
{
	if (vmcs_read(ENTRY_EVENT) & EVENT_VALID ||
	    vmcs_read(GUEST_BLOCKING) & (BLOCKING_NMI | BLOCKING_MOV_SS)) {
		cpu->nmi_pending = true;
		vmx_nmi_window(true);
		return;
	}
	/*
	 * After STI an NMI may not be injected, and the window may open at once: so STI's shadow
	 * ends here.
	 */
	vmx_end_shadow();
	vmcs_write(ENTRY_EVENT, EVENT_VALID | EVENT_NMI | 2);
}

u32 vendor_bytes(const struct pcpu *cpu, u8 *bytes)
{
	return 0;		/* VT-x saves no instruction bytes */
}

static const struct { u16 field, offset; } record[] = {
#define AT(field, member) { field, __builtin_offsetof(struct qv_mon_failure, member) }
	AT(EXIT_REASON, exit_code), AT(EXIT_QUALIFICATION, info1), AT(EXIT_EVENT, info2),
	AT(GUEST_RIP, rip), AT(GUEST_RFLAGS, rflags), AT(GUEST_EFER, efer),
	/* host-owned bits have the processor's values: NE and MCE are set */
	AT(GUEST_CR0, cr0), AT(GUEST_CR3, cr3), AT(GUEST_CR4, cr4),
};

void vendor_record(const struct pcpu *cpu, struct qv_mon_failure *f)
{
	u32 i;

	for (i = 0; i < sizeof(record) / sizeof(record[0]); i++)
		*(u64 *)((u8 *)f + record[i].offset) = vmcs_read(record[i].field);
	f->cr4 &= ~CR4_VMXE;		/* no guest ever sees CR4.VMXE */
	asm volatile("mov %%cr2, %0" : "=r"(f->cr2));
}
