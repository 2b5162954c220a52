// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exits: a row each. One without a row stops a cell (RDPMC, a task switch, an EPT misconfiguration);
 * Linux, which is not asked for the first, gets #UD.
 */
#include "../core/dispatch.h"
#include "../core/msr.h"
#include "../core/x86.h"
#include "vmx.h"

/* Reason 0 is every exception and the NMI: told apart here */
#define EVENT_CODE(vector)	(0x10000u + (vector))
#define CODE_NMI		EVENT_CODE(2)
#define CODE_ENTRY_FAILED	0x20000u
#define CODE_ENTRY_CHECK	0x20001u

static void on_memory(struct pcpu *cpu)
{
	exit_memory(cpu, vmcs_read(EXIT_GUEST_PHYSICAL), vmcs_read(EXIT_QUALIFICATION) & 2);
}

static void on_port(struct pcpu *cpu)
{
	u64 q = vmcs_read(EXIT_QUALIFICATION);		/* SDM vol. 3, table 28-5 */

	exit_port(cpu, q >> 16 & 0xffff, (q & 7) + 1, q >> 3 & 1, !(q & 1 << 4), vmcs_read(EXIT_LENGTH));
}

static void on_rdmsr(struct pcpu *cpu)
{
	exit_msr(cpu, false);
}

static void on_wrmsr(struct pcpu *cpu)
{
	exit_msr(cpu, true);
}

/* The next instruction, or an event, ends what STI and MOV SS hold off; and a halt */
static void end_shadow(void)
{
	vmcs_write(GUEST_BLOCKING, vmcs_read(GUEST_BLOCKING) & ~BLOCKING_SHADOW);
	vmcs_write(GUEST_ACTIVITY, 0);
}

/* A cell's #AC or #DB goes back in as it came; error codes of #AC are 0 */
static void on_exception(struct pcpu *cpu)
{
	vmcs_write(ENTRY_EVENT, vmcs_read(EXIT_EVENT) & ~EVENT_FROM_IRET);
	vmcs_write(ENTRY_ERROR, 0);
	vmcs_write(ENTRY_LENGTH, vmcs_read(EXIT_LENGTH));	/* INT1 alone looks at it */
	end_shadow();
	late_commands(cpu);
}

/* It exits before DR6 and DR7 know of it, and goes in without their knowing: SDM vol. 3, 28.1 and 27.6.1 */
static void on_debug(struct pcpu *cpu)
{
	u64 dr6;

	asm volatile("mov %%dr6, %0" : "=r"(dr6));
	dr6 = (dr6 & ~0xfull) | (vmcs_read(EXIT_QUALIFICATION) & 0x600f);
	asm volatile("mov %0, %%dr6" : : "r"(dr6));
	vmcs_write(GUEST_DR7, vmcs_read(GUEST_DR7) & ~DR7_GD);
	on_exception(cpu);
}

/* It came while the processor was entering: SDM vol. 3, 27.9 */
static void on_entry_check(struct pcpu *cpu)
{
	if (is_front_end())
		vendor_inject_fault(cpu, 18);
	else
		exit_machine_check(cpu);
}

/*
 * A bit that is ours would change: NE in anybody's CR0, CD and NW in a cell's, MCE in a cell's CR4.
 * The guest shall read what it wrote; when the instruction runs again, it finds no difference and does
 * the rest itself. CR4's others are bits that a processor without VT-x, user interrupts and FRED does not have.
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

static void set_nmi_window(bool on)
{
	u32 proc = vmcs_read(VMCS_PROC);

	vmcs_write(VMCS_PROC, on ? proc | PROC_NMI_WINDOW : proc & ~PROC_NMI_WINDOW);
}

static void on_nmi_window(struct pcpu *cpu)
{
	set_nmi_window(false);
	if (!cpu->nmi_pending)
		return;
	cpu->nmi_pending = false;
	vendor_inject_nmi(cpu);
}

const struct exit_row vendor_exits[] = {
	{ REASON_WRMSR,		on_wrmsr,	SELF_COUNTED },
	{ REASON_RDMSR,		on_rdmsr,	SELF_COUNTED },
	{ REASON_EPT,		on_memory,	SELF_COUNTED },
	{ CODE_NMI,		exit_nmi,	QV_EXIT_NMI },
	{ REASON_CPUID,		exit_cpuid,	QV_EXIT_CPUID },
	{ REASON_NMI_WINDOW,	on_nmi_window,	QV_EXIT_NMI },
	{ REASON_VMCALL,	exit_hypercall,	QV_EXIT_HYPERCALL },
	{ REASON_PORT,		on_port,	QV_EXIT_PORT },
	{ REASON_CR,		on_cr,		QV_EXIT_CR },
	{ REASON_XSETBV,	on_xsetbv,	QV_EXIT_CR },
	{ REASON_INIT,		exit_init,	QV_EXIT_NMI },
	{ EVENT_CODE(1),	on_debug,	QV_EXIT_EXCEPTION },
	{ EVENT_CODE(17),	on_exception,	QV_EXIT_EXCEPTION },
	{ REASON_INVD,		exit_nothing,	QV_EXIT_INSTRUCTION },
	{ REASON_WBINVD,	exit_nothing,	QV_EXIT_INSTRUCTION },
	{ REASON_GETSEC,	exit_forbidden,	QV_EXIT_INSTRUCTION },
	{ REASON_VMCLEAR,	exit_forbidden,	QV_EXIT_INSTRUCTION },
	{ REASON_VMCLEAR + 1,	exit_forbidden,	QV_EXIT_INSTRUCTION },	/* VMLAUNCH */
	{ REASON_VMCLEAR + 2,	exit_forbidden,	QV_EXIT_INSTRUCTION },	/* VMPTRLD */
	{ REASON_VMCLEAR + 3,	exit_forbidden,	QV_EXIT_INSTRUCTION },	/* VMPTRST */
	{ REASON_VMCLEAR + 4,	exit_forbidden,	QV_EXIT_INSTRUCTION },	/* VMREAD */
	{ REASON_VMCLEAR + 5,	exit_forbidden,	QV_EXIT_INSTRUCTION },	/* VMRESUME */
	{ REASON_VMCLEAR + 6,	exit_forbidden,	QV_EXIT_INSTRUCTION },	/* VMWRITE */
	{ REASON_VMCLEAR + 7,	exit_forbidden,	QV_EXIT_INSTRUCTION },	/* VMXOFF */
	{ REASON_VMXON,		exit_forbidden,	QV_EXIT_INSTRUCTION },
	{ REASON_XSAVES,	exit_forbidden,	QV_EXIT_INSTRUCTION },
	{ REASON_XRSTORS,	exit_forbidden,	QV_EXIT_INSTRUCTION },
	{ REASON_INVEPT,	exit_forbidden,	QV_EXIT_INSTRUCTION },
	{ REASON_INVVPID,	exit_forbidden,	QV_EXIT_INSTRUCTION },
	{ REASON_TRIPLE_FAULT,	exit_shutdown,	QV_EXIT_TRIPLE_FAULT },
	{ EVENT_CODE(18),	exit_machine_check,	QV_EXIT_OTHER },
	{ CODE_ENTRY_CHECK,	on_entry_check,	QV_EXIT_OTHER },
	{ CODE_ENTRY_FAILED,	exit_invalid,	QV_EXIT_OTHER },
};

const u32 vendor_num_exits = sizeof(vendor_exits) / sizeof(vendor_exits[0]);

/*
 * An event that was being delivered when the exit came is delivered again; an IRET of the guest's NMI
 * handler that met a nested fault, #AC or #DB has not been carried out: SDM vol. 3, 28.2.3
 */
static void event_again(u32 reason)
{
	u32 info = vmcs_read(IDT_EVENT), type = info & EVENT_TYPE, blocking = vmcs_read(GUEST_BLOCKING);
	u32 met = reason == REASON_EPT ? vmcs_read(EXIT_QUALIFICATION) : reason ? 0 : vmcs_read(EXIT_EVENT);

	if (!(info & EVENT_VALID)) {
		if (met & EVENT_FROM_IRET)
			vmcs_write(GUEST_BLOCKING, blocking | BLOCKING_NMI);
		return;
	}
	if (type >= EVENT_SOFT)		/* INT n, INT3 and INTO happen by themselves when they run again */
		return;
	if (type == EVENT_NMI)		/* the delivery itself blocks the next */
		vmcs_write(GUEST_BLOCKING, blocking & ~BLOCKING_NMI);
	vmcs_write(ENTRY_EVENT, info & ~EVENT_FROM_IRET);	/* undefined there */
	vmcs_write(ENTRY_ERROR, vmcs_read(IDT_ERROR));
}

static void handle(struct pcpu *cpu, u64 code)
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
	if (reason & REASON_ENTRY_FAILED)
		code = reason == REASON_ENTRY_CHECK ? CODE_ENTRY_CHECK : CODE_ENTRY_FAILED;
	else if (code == REASON_EVENT)
		code = EVENT_CODE(vmcs_read(EXIT_EVENT) & 0xff);
	if (code == CODE_NMI)
		vmx_unblock_nmi();
	handle(cpu, code);
}

void vmx_noted_nmi(struct pcpu *cpu)
{
	*nmi_note(cpu) = 0;
	handle(cpu, CODE_NMI);
}

void vmx_refused(struct pcpu *cpu)
{
	handle(cpu, CODE_ENTRY_FAILED);
}

/* ---- looks at and changes of the guest ---- */

u64 vendor_exit_code(const struct pcpu *cpu)
{
	(void)cpu;
	return vmcs_read(EXIT_REASON);
}

void vendor_set_flags(struct pcpu *cpu, u64 mask, u64 flags)
{
	(void)cpu;
	vmcs_write(GUEST_RFLAGS, (vmcs_read(GUEST_RFLAGS) & ~mask) | flags);
}

u64 vendor_rip(const struct pcpu *cpu)
{
	(void)cpu;
	return vmcs_read(GUEST_RIP);
}

/*
 * The processor says how long an instruction was whose own the exit is. Outside 64-bit code RIP wraps.
 * Who steps through the guest sees each instruction end, that one too
 */
void vendor_skip(struct pcpu *cpu, u32 len)
{
	u64 rip = vmcs_read(GUEST_RIP);

	(void)cpu;
	rip += (u16)vmcs_read(EXIT_REASON) == REASON_EPT ? len : vmcs_read(EXIT_LENGTH);
	if (!(vmcs_read(GUEST_CS_RIGHTS) & RIGHTS_LONG))
		rip = (u32)rip;
	vmcs_write(GUEST_RIP, rip);
	end_shadow();
	if (vmcs_read(GUEST_RFLAGS) & RFLAGS_TF && !(vmcs_read(GUEST_DEBUGCTL) & DEBUGCTL_BTF))
		vmcs_write(GUEST_PENDING_DEBUG, vmcs_read(GUEST_PENDING_DEBUG) | DR6_BS);
}

void vendor_mode(const struct pcpu *cpu, struct guest_mode *mode)
{
	u32 rights = vmcs_read(GUEST_CS_RIGHTS);

	(void)cpu;
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

	(void)cpu;
	end_shadow();
	vmcs_write(ENTRY_EVENT, EVENT_VALID | EVENT_EXCEPTION | vector | (error ? EVENT_ERROR : 0));
	vmcs_write(ENTRY_ERROR, 0);
}

void vendor_inject_nmi(struct pcpu *cpu)
{
	if (vmcs_read(ENTRY_EVENT) & EVENT_VALID || vmcs_read(GUEST_BLOCKING) & (BLOCKING_NMI | BLOCKING_MOV_SS)) {
		cpu->nmi_pending = true;
		set_nmi_window(true);
		return;
	}
	/* After STI an NMI may not be injected, and the window may open at once: so STI's shadow ends here */
	end_shadow();
	vmcs_write(ENTRY_EVENT, EVENT_VALID | EVENT_NMI | 2);
}

u32 vendor_bytes(const struct pcpu *cpu, u8 *bytes)
{
	(void)cpu, (void)bytes;
	return 0;		/* VT-x saves none */
}

static const struct { u16 field, offset; } record[] = {
#define AT(field, member) { field, __builtin_offsetof(struct qv_mon_failure, member) }
	AT(EXIT_REASON, exit_code), AT(EXIT_QUALIFICATION, info1), AT(EXIT_EVENT, info2),
	AT(GUEST_RIP, rip), AT(GUEST_RFLAGS, rflags), AT(GUEST_EFER, efer),
	AT(GUEST_CR0, cr0), AT(GUEST_CR3, cr3), AT(GUEST_CR4, cr4),	/* as the processor has them: with NE, MCE */
};

void vendor_record(const struct pcpu *cpu, struct qv_mon_failure *f)
{
	u32 i;

	(void)cpu;
	for (i = 0; i < sizeof(record) / sizeof(record[0]); i++)
		*(u64 *)((u8 *)f + record[i].offset) = vmcs_read(record[i].field);
	f->cr4 &= ~CR4_VMXE;		/* no guest ever sees that */
	asm volatile("mov %%cr2, %0" : "=r"(f->cr2));
}
