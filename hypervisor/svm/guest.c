// SPDX-License-Identifier: GPL-2.0-only
/* Reads and changes the guest during an exit: core/vendor.h, by the VMCB. */
#include "svm.h"

bool vendor_msr_write(const struct pcpu *cpu)
{
	return vmcb_of(cpu)->info1 & 1;
}

u64 vendor_memory_access(const struct pcpu *cpu, bool *write)
{
	const struct vmcb *v = vmcb_of(cpu);

	*write = v->info1 & 2;
	return v->info2;
}

void vendor_port_access(const struct pcpu *cpu, struct port_access *a)
{
	/* layout of info1: APM vol. 2, 15.10.2; info2 is the next RIP */
	const struct vmcb *v = vmcb_of(cpu);

	a->port = v->info1 >> 16 & 0xffff;
	a->size = v->info1 >> 4 & 7;
	a->len = v->info2 - v->rip;
	a->in = v->info1 & 1;
	a->plain = !(v->info1 & 4);
}

u64 vendor_exit_code(const struct pcpu *cpu)
{
	return vmcb_of(cpu)->exit_code;
}

u64 vendor_rip(const struct pcpu *cpu)
{
	return vmcb_of(cpu)->rip;
}

u64 vendor_idt_base(const struct pcpu *cpu)
{
	return vmcb_of(cpu)->idtr.base;
}

void vendor_skip(struct pcpu *cpu, u32 len)
{
	struct vmcb *v = vmcb_of(cpu);

	/* next_rip is valid for instruction intercepts only: APM vol. 2, 15.7.1 */
	v->rip = me()->boot.next_rip && v->exit_code != EXIT_NPF ? v->next_rip : v->rip + len;
	v->shadow = 0;
	/* If the guest single-steps, inject #DB for the emulated instruction too; not with BTF */
	if (v->rflags & RFLAGS_TF && !(rdmsr(MSR_DEBUGCTL) & DEBUGCTL_BTF)) {
		v->dr6 |= DR6_BS;
		vendor_inject_fault(cpu, 1);
	}
}

void vendor_set_flags(struct pcpu *cpu, u64 mask, u64 flags)
{
	struct vmcb *v = vmcb_of(cpu);

	v->rflags = (v->rflags & ~mask) | flags;
}

void vendor_mode(const struct pcpu *cpu, struct guest_mode *mode)
{
	const struct vmcb *v = vmcb_of(cpu);

	*mode = (struct guest_mode){
		.cr0 = v->cr0, .cr3 = v->cr3, .cr4 = v->cr4, .efer = v->efer,
		.long_code = (v->efer & EFER_LMA) && (v->cs.attrib & 0x200),
		.big_code = v->cs.attrib & 0x400,
		.cpl = v->cpl, .cs_base = v->cs.base,
	};
	if (mode->long_code)
		mode->cs_base = 0;
}

void vendor_inject_fault(struct pcpu *cpu, u32 vector)
{
	vmcb_of(cpu)->event_inj = EVENT_VALID | EVENT_EXCEPTION | vector |
				  (vector == 13 || vector == 17 ? EVENT_ERROR : 0);
}

void vendor_inject_nmi(struct pcpu *cpu)
{
	struct vmcb *v = vmcb_of(cpu);

	if (cpu->nmi_masked || v->event_inj) {
		cpu->nmi_pending = true;
		v->intercept3 |= I3_IRET;	/* the exit at the next IRET injects the NMI */
		return;
	}
	v->event_inj = EVENT_VALID | EVENT_NMI | 2;
	v->intercept3 |= I3_IRET;
	cpu->nmi_masked = true;
}

u32 vendor_bytes(const struct pcpu *cpu, u8 *bytes)
{
	const struct vmcb *v = vmcb_of(cpu);
	u32 num = me()->boot.decode ? v->num_bytes & 15 : 0;

	memcpy(bytes, v->bytes, num);
	return num;
}

void vendor_record(const struct pcpu *cpu, struct qv_mon_failure *f)
{
	const struct vmcb *v = vmcb_of(cpu);

	f->exit_code = v->exit_code;
	f->info1 = v->info1;
	f->info2 = v->info2;
	f->rip = v->rip;
	f->rflags = v->rflags;
	f->cr0 = v->cr0;
	f->cr2 = v->cr2;
	f->cr3 = v->cr3;
	f->cr4 = v->cr4;
	f->efer = v->efer & ~EFER_SVME;
}
