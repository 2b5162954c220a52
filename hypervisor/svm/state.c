// SPDX-License-Identifier: GPL-2.0-only
/* Guest states: Linux at enable, after INIT, after SIPI, parked, at a cell's entry. */
#include "abi/errors.h"
#include "abi/test_hooks.h"
#include "core/msr.h"
#include "svm.h"

#define ATTR_CODE64	0xa9b
#define ATTR_CODE32	0xc9b
#define ATTR_CODE16	0x09b
#define ATTR_DATA32	0xc93
#define ATTR_DATA16	0x093
#define ATTR_LDT	0x082
#define ATTR_TSS32	0x08b

static struct vmcb_seg seg(u16 sel, u16 attrib, u32 limit, u64 base)
{
	return (struct vmcb_seg){ sel, attrib, limit, base };
}

/* Words 0 to 5 of the VMCB select the exits: of a cell, of Linux */
static const u32 intercepts[2][6] = {
	{ 0, 0, EXC_DB | EXC_AC | EXC_MC, I3_COMMON | I3_IOIO | I3_RDPMC | I3_CPUID |
	  I3_FERR_FREEZE, I4_COMMON | I4_WBINVD, 0 },
	{ 0, 0, 0, I3_COMMON | I3_IOIO, I4_COMMON, 0 },
};

static void set_controls(struct pcpu *cpu)
{
	struct vmcb *v = vmcb_of(cpu);

	memcpy(v, intercepts[!me()->id], sizeof(intercepts[0]));
	v->tlb_control = TLB_FLUSH_ALL;
	v->n_cr3 = me()->nested.root;
	v->event_inj = v->v_intr = v->shadow = 0;
}

/* Sets the fields that do not change while this CPU is in this instance */
static void set_permanent(struct pcpu *cpu)
{
	struct vmcb *v = vmcb_of(cpu);

	v->iopm_pa = pa_of(me()->port_map);
	v->msrpm_pa = pa_of(me()->msr_map);
	/* an ASID that only this instance has: INVLPGB flushes it on all CPUs */
	v->asid = me()->id + 1;
	v->np_enable = NP_ENABLE | (!me()->id && me()->boot.invlpgb ? NP_INVLPGB : 0);
	set_controls(cpu);
}

/*
 * Returns true if the processor accepts this guest state. A pending virtual interrupt exits before
 * the first instruction. Any other event that comes meanwhile exits before it, too.
 */
static u64 try_guest(struct pcpu *cpu)
{
	struct vmcb *v = vmcb_of(cpu);

	v->intercept_exc = ~0u;
	v->intercept3 |= I3_INTR | I3_VINTR | I3_SHUTDOWN;
	v->v_intr = V_IRQ | V_IRQ_PRIO | V_IGN_TPR;
	v->rflags |= RFLAGS_IF;
	if (me()->boot.test_hooks & QV_TEST_BAD_VMRUN && cpu->index == 1)
		v->asid = 0;		/* for tests: an illegal guest state */
	svm_try(pa_of(v));
	v->rflags &= ~RFLAGS_IF;
	set_permanent(cpu);
	return v->exit_code == EXIT_INVALID ? QV_ME_VMRUN : QV_ME_OK;
}

u64 vendor_enter(struct pcpu *cpu)
{
	const struct qv_linux_state *s = &cpu->linux_state;
	struct vmcb *v = vmcb_of(cpu);

	asm volatile("vmsave %0" : : "a"(pa_of(v)) : "memory");
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
	cpu->phase = CPU_RUNNING;
	return try_guest(cpu);
}

/* The monitor's own TR, for the stack of double faults */
static void set_host(struct pcpu *cpu)
{
	u64 area = (u64)cpu;
	struct vmcb *host = (struct vmcb *)(area + CPU_OFF_HOST);

	host->tr = seg(0x20, ATTR_TSS32, TSS_LEN - 1, area + CPU_OFF_TSS);
	host->ldtr = seg(0, ATTR_LDT, 0, 0);
	asm volatile("vmload %0" : : "a"(pa_of(host)) : "memory");
}

/*
 * An INIT from outside becomes #SX in the monitor, which drops it: APM vol. 2, 15.21.8 and
 * 15.30.1.
 */
static void redirect_init(bool on)
{
	u64 value;

	if (msr_read_safe(MSR_VM_CR, &value))
		msr_write_safe(MSR_VM_CR, (value & ~VM_CR_R_INIT) | (on ? VM_CR_R_INIT : 0));
}

/* Some chipsets turn a shutdown into an INIT: it must not end as #SX */
void vendor_shutdown(void)
{
	redirect_init(false);
	svm_shutdown();
}

void vendor_arrive(struct pcpu *cpu)
{
	struct { u16 limit; u64 base; } __attribute__((packed)) idt = {
		sizeof(me()->idt) - 1, (u64)me()->idt
	};

	asm volatile("lidt %0" : : "m"(idt));
	wrmsr(MSR_HSAVE, pa_of((u8 *)cpu + CPU_OFF_HSAVE));
	redirect_init(true);
	set_host(cpu);
	set_permanent(cpu);
}

#define DATA16	{ 0, ATTR_DATA16, 0xffff, 0 }

/* As after INIT: APM vol. 2, table 14-1; the front end still sees EFER.SVME set */
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

void vendor_set_park(struct pcpu *cpu, enum cpu_phase phase)
{
	struct vmcb *v = vmcb_of(cpu);

	cpu->phase = phase;
	set_reset(cpu);
	/* nested tables with one page: hlt, and a jump back to it */
	v->n_cr3 = me()->park.root;
	/* CR4.MCE: if it were clear, a machine check would shut the machine down */
	v->cr4 = CR4_MCE;
	v->intercept_exc |= EXC_MC;
}

void vendor_set_sipi(struct pcpu *cpu, u32 vector)
{
	struct vmcb *v = vmcb_of(cpu);

	set_reset(cpu);
	v->cs.sel = vector << 8;
	v->cs.base = (u64)vector << 12;
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
}

void vendor_run(struct pcpu *cpu)
{
	svm_run(cpu, pa_of(vmcb_of(cpu)));
}

static void __attribute__((noreturn)) leave(struct pcpu *cpu, struct leave_state *s)
{
	const struct vmcb *v = vmcb_of(cpu);

	/* in another phase the CPU has not reached vendor_enter() */
	if (cpu->phase == CPU_RUNNING) {
		asm volatile("vmload %0" : : "a"(pa_of(v)) : "memory");
		/* every exit, try_guest()'s too, disables the breakpoints: APM vol. 2, 15.6 */
		asm volatile("mov %0, %%dr7" : : "r"(v->dr7));
		if (me()->boot.spec_ctrl)
			wrmsr(MSR_SPEC_CTRL, v->spec_ctrl);
	}
	s->tramp = me()->boot.tramp_leave;
	redirect_init(false);
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
	asm volatile("mov %0, %%cr2" : : "r"(v->cr2));
	if (v->cr4 & CR4_CET)
		wrmsr(MSR_S_CET, v->s_cet);
	wrmsr(MSR_EFER, v->efer);
	leave(cpu, &s);
}

/* MSRs that VMRUN and VMLOAD do not switch, and that the next guest may read or be affected by */
static const u32 left_behind[] = {
	MSR_DEBUGCTL, MSR_XSS, MSR_SPEC_CTRL,
	0x6a0, 0x6a4, 0x6a5, 0x6a6, 0x6a7, 0x6a8,	/* U_CET, shadow stack pointers */
	0xc0000103,					/* TSC_AUX: Linux's number of the CPU */
	0xc000010f,					/* DBG_EXTN_CFG: branch records */
	0xc0000301,					/* PerfCntrGlobalCtl */
	/* PERFEVTSEL, on processors without PERF_CTL: no counting */
	0xc0010000, 0xc0010001, 0xc0010002, 0xc0010003,
	/* PERF_CTL: no counting */
	0xc0010200, 0xc0010202, 0xc0010204, 0xc0010206, 0xc0010208, 0xc001020a,
	/* IBS: no samples of fetches and operations */
	0xc0011030, 0xc0011033,
};

void vendor_clear_msrs(void)
{
	u32 i;

	for (i = 0; i < sizeof(left_behind) / sizeof(left_behind[0]); i++)
		/* Linux sets these MSRs when the CPU comes online */
		msr_write_safe(left_behind[i], 0);
}

void vendor_back(struct pcpu *cpu, u64 error)
{
	const struct qv_linux_state *l = &cpu->linux_state;
	struct leave_state s = {
		.cr3 = l->cr3, .cr4 = l->cr4, .rsp = l->rsp, .rip = l->rip, .rflags = l->rflags,
		.gdt_limit = l->gdt_limit, .gdt_base = l->gdt_base,
		.idt_limit = l->idt_limit, .idt_base = l->idt_base, .error = error,
	};

	leave(cpu, &s);
}
