// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exits: a row each. An exit that has none stops a cell, and is #UD for Linux: so do RDPMC,
 * FERR_FREEZE and a machine check in a cell, which are asked for and have no row.
 */
#include "svm.h"

static void on_vmmcall(struct pcpu *cpu)
{
	exit_hypercall(cpu);
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

static void on_shutdown(struct pcpu *cpu)
{
	cell_fail(cpu, QV_FAIL_TRIPLE_FAULT, vendor_rip(cpu));
}

/*
 * INVD, and WBINVD in a cell: nothing is done. Caches are coherent, dirty lines of whomever
 * stay, and nobody empties the caches of his neighbours in a loop.
 */
static void on_invd(struct pcpu *cpu)
{
	vendor_skip(cpu, 2);
}

/*
 * #DB and #AC in a cell go back in. One of them in the delivery of another may go on for
 * ever without a single instruction, or an NMI, between (CVE-2015-5307, CVE-2015-8104):
 * so commands are looked for here too.
 */
static void on_exception(struct pcpu *cpu)
{
	vendor_inject_fault(cpu, vmcb_of(cpu)->exit_code - EXIT_EXCEPTION);
	late_commands(cpu);
}

static void on_init(struct pcpu *cpu)
{
	svm_take_nmi();			/* #SX now, and forgotten */
	log_event(cpu, QV_LOG_INIT, 0, 0);
}

/* SVM's own instructions: as on a processor without SVM */
static void on_svm(struct pcpu *cpu)
{
	log_event(cpu, QV_LOG_INSTRUCTION, vmcb_of(cpu)->exit_code, vendor_rip(cpu));
	vendor_inject_fault(cpu, 6);
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

/* What no row names */
static void on_unknown(struct pcpu *cpu)
{
	if (is_front_end())
		on_svm(cpu);
	else
		cell_fail(cpu, QV_FAIL_EXIT, 0);
}

static FRONT_END_ONLY void front_invalid(struct pcpu *cpu)
{
	log_event(cpu, QV_LOG_INSTRUCTION, EXIT_INVALID, vendor_rip(cpu));
	park(cpu, CPU_STOPPED);
}

/* The processor refuses this guest state; it would again: the CPU stops here */
static void on_invalid(struct pcpu *cpu)
{
	if (is_front_end())
		front_invalid(cpu);
	else
		cell_fail(cpu, QV_FAIL_EXIT, 0);
}

#define SELF_COUNTED	QV_EXIT_SLOTS

struct exit_row {
	u64 code;
	void (*handle)(struct pcpu *cpu);
	u32 reason;		/* enum qv_exit, or SELF_COUNTED */
};

static const struct exit_row rows[] = {
	{ EXIT_MSR,	 svm_exit_msr,	SELF_COUNTED },
	{ EXIT_NPF,	 on_memory,	SELF_COUNTED },
	{ EXIT_NMI,	 exit_nmi,	QV_EXIT_NMI },
	{ EXIT_INIT,	 on_init,	QV_EXIT_NMI },
	{ EXIT_DB,	 on_exception,	QV_EXIT_INSTRUCTION },
	{ EXIT_AC,	 on_exception,	QV_EXIT_INSTRUCTION },
	{ EXIT_IRET,	 on_iret,	QV_EXIT_NMI },
	{ EXIT_VINTR,	 on_vintr,	QV_EXIT_NMI },
	{ EXIT_CPUID,	 exit_cpuid,	QV_EXIT_CPUID },
	{ EXIT_VMMCALL,	 on_vmmcall,	QV_EXIT_HYPERCALL },
	{ EXIT_IOIO,	 on_port,	QV_EXIT_PORT },
	{ EXIT_INVD,	 on_invd,	QV_EXIT_INSTRUCTION },
	{ EXIT_WBINVD,	 on_invd,	QV_EXIT_INSTRUCTION },
	{ EXIT_INVLPGA,	 on_svm,	QV_EXIT_INSTRUCTION },
	{ EXIT_VMRUN,	 on_svm,	QV_EXIT_INSTRUCTION },
	{ EXIT_VMLOAD,	 on_svm,	QV_EXIT_INSTRUCTION },
	{ EXIT_VMSAVE,	 on_svm,	QV_EXIT_INSTRUCTION },
	{ EXIT_STGI,	 on_svm,	QV_EXIT_INSTRUCTION },
	{ EXIT_CLGI,	 on_svm,	QV_EXIT_INSTRUCTION },
	{ EXIT_SKINIT,	 on_svm,	QV_EXIT_INSTRUCTION },
	{ EXIT_SHUTDOWN, on_shutdown,	QV_EXIT_TRIPLE_FAULT },
	{ EXIT_INVALID,	 on_invalid,	QV_EXIT_OTHER },
};

static const struct exit_row unknown = { 0, on_unknown, QV_EXIT_OTHER };

static const struct exit_row *find(u64 code)
{
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].code == code)
			return &rows[i];
	return &unknown;
}

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

static void account(struct pcpu *cpu)
{
	struct qv_mon_cpu_status *s = cpu_status(cpu);
	u64 stay = rdtsc() - cpu->exit_tsc;

	s->cycles += stay;
	if (stay > s->held_max)
		s->held_max = stay;
}

void svm_exit(struct pcpu *cpu)
{
	struct vmcb *v = vmcb_of(cpu);
	const struct exit_row *row = find(v->exit_code);

	cpu->exit_tsc = rdtsc();
	cpu->regs[GPR_RAX] = v->rax;
	cpu->regs[GPR_RSP] = v->rsp;
	v->tlb_control = 0;
	v->event_inj = event_again(v->exit_int_info);
	if (row->handle == exit_nmi)
		svm_take_nmi();
	if (row->reason != SELF_COUNTED)
		count_exit(cpu, row->reason);
	row->handle(cpu);
	if (cpu->flush) {
		cpu->flush = false;
		v->tlb_control = TLB_FLUSH_ALL;
	}
	v->rax = cpu->regs[GPR_RAX];
	v->rsp = cpu->regs[GPR_RSP];
	v->clean = 0;
	account(cpu);
}

/* ---- looks at and changes of the guest ---- */

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
}

#define FLAGS_SZP	0xc4u		/* sign, zero, parity */
#define FLAGS_STATUS	0x8d5u		/* these, overflow, adjust, carry */

void vendor_logic_flags(struct pcpu *cpu, u32 result)
{
	struct vmcb *v = vmcb_of(cpu);
	u32 eax;

	asm("test %1, %1; lahf" : "=a"(eax) : "r"(result) : "cc");
	v->rflags = (v->rflags & ~(u64)FLAGS_STATUS) | (eax >> 8 & FLAGS_SZP);
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

static FRONT_END_ONLY void front_fault(struct pcpu *cpu, u64 vector)
{
	if (me()->busy == cpu->index + 1)
		me()->busy = 0;
	if (cpu->phase != CPU_RUNNING)
		park(cpu, cpu->phase);
	else		/* a machine check is Linux's to look at, whoever was at work */
		vendor_inject_fault(cpu, vector == 18 ? 18 : 13);
}

/* A fault of our own: the end of this instance's guest, not of the others' */
void __attribute__((noreturn)) monitor_fault(u64 vector, u64 rip, u64 stack)
{
	struct pcpu *cpu = (struct pcpu *)(stack & ~(u64)(QV_CPU_LEN - 1));

	if (cpu->faulting) {			/* while it dealt with one: no more attempts */
		park(cpu, CPU_STOPPED);
		vendor_run(cpu);
	}
	cpu->faulting = true;
	log_event(cpu, QV_LOG_MONITOR_FAULT, vector, rip);
	if (is_front_end())
		front_fault(cpu, vector);
	else
		cell_fail(cpu, QV_FAIL_MONITOR, rip);
	cpu->faulting = false;
	vendor_run(cpu);
}
