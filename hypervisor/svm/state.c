// SPDX-License-Identifier: GPL-2.0-only
/* Guest states: as Linux was, after INIT, after SIPI, parked, at a cell's entry. */
#include "svm.h"

#define ATTR_CODE64	0xa9b
#define ATTR_CODE32	0xc9b
#define ATTR_CODE16	0x09b
#define ATTR_DATA32	0xc93
#define ATTR_DATA16	0x093
#define ATTR_LDT	0x082
#define ATTR_TSS32	0x08b
#define CR0_RESET	0x60000010ull
#define CR0_PE		1ull
#define PAT_RESET	0x0007040600070406ull

static struct vmcb_seg seg(u16 sel, u16 attrib, u32 limit, u64 base)
{
	return (struct vmcb_seg){ sel, attrib, limit, base };
}

/* What exits: the control block's first words. Cells; Linux */
static const u32 intercepts[2][6] = {
	{ 0, 0, 0, I3_COMMON | I3_CPUID | I3_IOIO | I3_SHUTDOWN, I4_COMMON, 0 },
	{ 0, 0, 0, I3_COMMON, I4_COMMON, 0 },
};

static void set_controls(struct pcpu *cpu)
{
	struct vmcb *v = vmcb_of(cpu);

	memcpy(v, intercepts[is_front_end()], sizeof(intercepts[0]));
	v->iopm_pa = pa_of(svm_area()->iopm);
	v->msrpm_pa = pa_of(svm_area()->msrpm);
	v->asid = me()->id + 1;		/* INVLPGB reaches all that is of one ASID, on all CPUs */
	v->tlb_control = TLB_FLUSH_ALL;
	v->np_enable = NP_ENABLE | (is_front_end() && me()->boot.invlpgb ? NP_INVLPGB : 0);
	v->n_cr3 = me()->nested.root;
	v->event_inj = v->v_intr = v->shadow = 0;
}

u64 vendor_enter(struct pcpu *cpu)
{
	const struct qv_linux_state *s = &cpu->linux_state;
	struct vmcb *v = vmcb_of(cpu);

	vendor_arrive(cpu);
	v->cs = seg(s->cs, ATTR_CODE64, ~0u, 0);
	v->ss = seg(s->ss, ATTR_DATA32, ~0u, 0);
	v->gdtr = seg(0, 0, s->gdt_limit, s->gdt_base);
	v->idtr = seg(0, 0, s->idt_limit, s->idt_base);
	v->efer = s->efer | EFER_SVME;
	v->cr0 = s->cr0;
	v->cr3 = s->cr3;
	v->cr4 = s->cr4;
	v->rflags = s->rflags;
	v->rip = s->rip;
	v->rsp = s->rsp;
	v->rax = 0;
	v->g_pat = s->pat;
	v->s_cet = s->s_cet;
	v->isst = s->ssp_table;
	if (me()->boot.spec_ctrl) {
		v->spec_ctrl = rdmsr(MSR_SPEC_CTRL);
		wrmsr(MSR_SPEC_CTRL, 0);
	}
	asm volatile("mov %%dr6, %0" : "=r"(v->dr6));
	asm volatile("mov %%dr7, %0" : "=r"(v->dr7));
	asm volatile("vmsave %0" : : "a"(pa_of(v)) : "memory");
	cpu->phase = CPU_RUNNING;
	return 0;
}

void vendor_arrive(struct pcpu *cpu)
{
	struct { u16 limit; u64 base; } __attribute__((packed)) idt = {
		sizeof(me()->idt) - 1, (u64)me()->idt
	};

	asm volatile("lidt %0" : : "m"(idt));
	wrmsr(MSR_HSAVE, pa_of((u8 *)cpu + CPU_OFF_HSAVE));
	set_controls(cpu);
}

void svm_load_guest(struct pcpu *cpu)
{
	asm volatile("vmload %0" : : "a"(pa_of(vmcb_of(cpu))) : "memory");
}

#define DATA16	{ 0, ATTR_DATA16, 0xffff, 0 }

/* As after INIT: APM vol. 2, table 14-1; the front end keeps seeing EFER.SVME set */
static const struct vmcb_save after_init = {
	.es = DATA16, .ss = DATA16, .ds = DATA16, .fs = DATA16, .gs = DATA16,
	.cs = { 0, ATTR_CODE16, 0xffff, 0 },
	.gdtr = { 0, 0, 0xffff, 0 }, .idtr = { 0, 0, 0xffff, 0 },
	.ldtr = { 0, ATTR_LDT, 0xffff, 0 }, .tr = { 0, ATTR_TSS32, 0xffff, 0 },
	.efer = EFER_SVME, .cr0 = CR0_RESET, .dr6 = 0xffff0ff0, .dr7 = 0x400, .rflags = 2,
	.g_pat = PAT_RESET,
};

static void set_reset(struct pcpu *cpu)
{
	set_controls(cpu);
	memset(cpu->regs, 0, sizeof(cpu->regs));
	memcpy(&vmcb_of(cpu)->save, &after_init, sizeof(after_init));
	cpu->nmi_masked = cpu->nmi_pending = false;
}

void vendor_set_park(struct pcpu *cpu)
{
	struct vmcb *v = vmcb_of(cpu);

	set_reset(cpu);
	v->n_cr3 = me()->park.root;	/* one page: hlt, and back to it */
	svm_load_guest(cpu);
}

void vendor_set_sipi(struct pcpu *cpu, u32 vector)
{
	struct vmcb *v = vmcb_of(cpu);

	set_reset(cpu);
	v->cs.sel = vector << 8;
	v->cs.base = (u64)vector << 12;
	svm_load_guest(cpu);
}

void vendor_set_entry(struct pcpu *cpu, const struct qv_mon_entry *entry)
{
	struct vmcb *v = vmcb_of(cpu);
	struct vmcb_seg data = seg(0x18, ATTR_DATA32, ~0u, 0);

	set_reset(cpu);
	v->cs = seg(0x10, ATTR_CODE32, ~0u, 0);
	v->es = v->ss = v->ds = v->fs = v->gs = data;
	v->cr0 = 0x10 | CR0_PE;
	v->rip = entry->eip;
	v->rax = entry->eax;
	cpu->regs[GPR_RBX] = entry->ebx;
	svm_load_guest(cpu);
}

void vendor_run(struct pcpu *cpu)
{
	svm_run(cpu, pa_of(vmcb_of(cpu)));
}

static void __attribute__((noreturn)) leave(struct leave_state *s)
{
	s->tramp = me()->boot.tramp_leave;
	wrmsr(MSR_HSAVE, 0);
	svm_leave(s);
}

void vendor_leave(struct pcpu *cpu)
{
	const struct vmcb *v = vmcb_of(cpu);
	struct leave_state s = {
		.cr3 = v->cr3, .cr4 = v->cr4, .rsp = v->rsp, .rip = v->rip, .rflags = v->rflags,
		.gdt_limit = v->gdtr.limit, .gdt_base = v->gdtr.base,
		.idt_limit = v->idtr.limit, .idt_base = v->idtr.base,
	};

	asm volatile("mov %0, %%dr6" : : "r"(v->dr6));
	asm volatile("mov %0, %%dr7" : : "r"(v->dr7));
	asm volatile("mov %0, %%cr2" : : "r"(v->cr2));
	if (v->cr4 & CR4_CET)
		wrmsr(MSR_S_CET, v->s_cet);
	if (me()->boot.spec_ctrl)
		wrmsr(MSR_SPEC_CTRL, v->spec_ctrl);
	wrmsr(MSR_EFER, v->efer);
	leave(&s);
}

void vendor_clear_msrs(void)
{
	msr_write_safe(MSR_DEBUGCTL, 0);
	msr_write_safe(MSR_XSS, 0);
	msr_write_safe(MSR_SPEC_CTRL, 0);	/* Linux sets it when the CPU comes online */
}

void vendor_back(struct pcpu *cpu, u64 error)
{
	const struct qv_linux_state *l = &cpu->linux_state;
	struct leave_state s = {
		.cr3 = l->cr3, .cr4 = l->cr4, .rsp = l->rsp, .rip = l->rip, .rflags = l->rflags,
		.gdt_limit = l->gdt_limit, .gdt_base = l->gdt_base,
		.idt_limit = l->idt_limit, .idt_base = l->idt_base, .error = error,
	};

	if (me()->boot.spec_ctrl && cpu->phase == CPU_RUNNING)
		wrmsr(MSR_SPEC_CTRL, vmcb_of(cpu)->spec_ctrl);
	leave(&s);
}
