// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exits: a row each. An exit that has none stops a cell, and is #UD for Linux: so do RDPMC and
 * FERR_FREEZE in a cell, which are asked for and have no row.
 */
#include "../core/dispatch.h"
#include "../core/msr.h"
#include "svm.h"

static void on_msr(struct pcpu *cpu)
{
	exit_msr(cpu, vmcb_of(cpu)->info1 & 1);
}

static void on_memory(struct pcpu *cpu)
{
	const struct vmcb *v = vmcb_of(cpu);

	exit_memory(cpu, v->info2, v->info1 & 2);
}

static void on_port(struct pcpu *cpu)
{
	const struct vmcb *v = vmcb_of(cpu);	/* info1: APM vol. 2, 15.10.2; info2: the next RIP */

	exit_port(cpu, v->info1 >> 16 & 0xffff, v->info1 >> 4 & 7, v->info1 & 1, !(v->info1 & 4),
		  v->info2 - v->rip);
}

static void on_exception(struct pcpu *cpu)
{
	vendor_inject_fault(cpu, vmcb_of(cpu)->exit_code - EXIT_EXCEPTION);
	late_commands(cpu);
}

/* The guest's NMI handler ends: if another NMI waits, it comes with the next chance */
static void on_iret(struct pcpu *cpu)
{
	struct vmcb *v = vmcb_of(cpu);

	v->intercept3 &= ~I3_IRET;
	cpu->nmi_masked = false;
	if (cpu->nmi_pending) {
		v->v_intr = V_IRQ | V_IRQ_PRIO | V_IGN_TPR;
		v->intercept3 |= I3_VINTR;
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
	{ EXIT_MSR,	 on_msr,	SELF_COUNTED },
	{ EXIT_NPF,	 on_memory,	SELF_COUNTED },
	{ EXIT_NMI,	 exit_nmi,	QV_EXIT_NMI },
	{ EXIT_INIT,	 exit_init,	QV_EXIT_NMI },
	{ EXIT_DB,	 on_exception,	QV_EXIT_EXCEPTION },
	{ EXIT_AC,	 on_exception,	QV_EXIT_EXCEPTION },
	{ EXIT_MC,	 exit_check,	QV_EXIT_OTHER },
	{ EXIT_IRET,	 on_iret,	QV_EXIT_NMI },
	{ EXIT_VINTR,	 on_vintr,	QV_EXIT_NMI },
	{ EXIT_CPUID,	 exit_cpuid,	QV_EXIT_CPUID },
	{ EXIT_VMMCALL,	 exit_hypercall,	QV_EXIT_HYPERCALL },
	{ EXIT_IOIO,	 on_port,	QV_EXIT_PORT },
	{ EXIT_INVD,	 exit_nothing,	QV_EXIT_INSTRUCTION },
	{ EXIT_WBINVD,	 exit_nothing,	QV_EXIT_INSTRUCTION },
	{ EXIT_INVLPGA,	 exit_forbidden,	QV_EXIT_INSTRUCTION },
	{ EXIT_VMRUN,	 exit_forbidden,	QV_EXIT_INSTRUCTION },
	{ EXIT_VMLOAD,	 exit_forbidden,	QV_EXIT_INSTRUCTION },
	{ EXIT_VMSAVE,	 exit_forbidden,	QV_EXIT_INSTRUCTION },
	{ EXIT_STGI,	 exit_forbidden,	QV_EXIT_INSTRUCTION },
	{ EXIT_CLGI,	 exit_forbidden,	QV_EXIT_INSTRUCTION },
	{ EXIT_SKINIT,	 exit_forbidden,	QV_EXIT_INSTRUCTION },
	{ EXIT_SHUTDOWN, exit_shutdown,	QV_EXIT_TRIPLE_FAULT },
	{ EXIT_INVALID,	 exit_invalid,	QV_EXIT_OTHER },
};

const u32 vendor_num_exits = sizeof(vendor_exits) / sizeof(vendor_exits[0]);

/*
 * An event that was being delivered when the exit came is delivered again. No
 * exception has a vector of 32 or more, or 2: QEMU reports interrupts and NMIs
 * so, and then refuses them back. On silicon the correction never applies.
 */
static u64 event_again(u64 info)
{
	u32 vector = info & 0xff, type = info & EVENT_TYPE;

	/* INT n, INT3 and INTO happen by themselves when their instruction runs again */
	if (!(info & EVENT_VALID) || type == EVENT_SOFT ||
	    (type == EVENT_EXCEPTION && (vector == 3 || vector == 4)))
		return 0;
	if (type == EVENT_EXCEPTION && vector >= 32)
		info &= ~EVENT_TYPE;
	if (type == EVENT_EXCEPTION && vector == 2)
		info = (info & ~EVENT_TYPE) | EVENT_NMI;
	return info;
}

void svm_exit(struct pcpu *cpu)
{
	struct vmcb *v = vmcb_of(cpu);
	u64 code = v->exit_code;

	cpu->regs[GPR_RAX] = v->rax;
	cpu->regs[GPR_RSP] = v->rsp;
	v->tlb_control = 0;
	v->event_inj = event_again(v->exit_int_info);
	if (code == EXIT_NMI || code == EXIT_INIT)
		svm_take_nmi();		/* or #SX, which is forgotten */
	exit_dispatch(cpu, code);
	if (cpu->flush) {
		cpu->flush = false;
		v->tlb_control = TLB_FLUSH_ALL;
	}
	v->rax = cpu->regs[GPR_RAX];
	v->rsp = cpu->regs[GPR_RSP];
	v->clean = 0;
}

/* ---- looks at and changes of the guest ---- */

u64 vendor_exit_code(const struct pcpu *cpu)
{
	return vmcb_of(cpu)->exit_code;
}

u64 vendor_rip(const struct pcpu *cpu)
{
	return vmcb_of(cpu)->rip;
}

void vendor_skip(struct pcpu *cpu, u32 len)
{
	struct vmcb *v = vmcb_of(cpu);

	/* next_rip is valid for instruction intercepts only: APM vol. 2, 15.7.1 */
	v->rip = me()->boot.next_rip && v->exit_code != EXIT_NPF ? v->next_rip : v->rip + len;
	v->shadow = 0;
	/* Who steps through the guest sees each instruction end, that one too; not if he asked for branches only */
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
		v->intercept3 |= I3_IRET;	/* the next IRET looks after it */
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
