// SPDX-License-Identifier: GPL-2.0-only
/*
 * State of a CPU in an instance; guest states after INIT, after SIPI, parked, at a cell's entry.
 * linux.c has the state of Linux.
 */
#include "core/msr.h"
#include "core/x86.h"
#include "vmx.h"

#define CR0_ET		(1ull << 4)
#define CR0_NE		(1ull << 5)
#define CR0_NW		(1ull << 29)
#define CR0_CD		(1ull << 30)
#define MSR_PAT		0x277u
#define XSS_TRACE	(1ull << 8)
#define XSS_USER_INTERRUPTS (1ull << 14)
#define EXC_DB		(1u << 1)
#define EXC_AC		(1u << 17)
#define EXC_MC		(1u << 18)

struct field_value {
	u32 field;
	u64 value;
} __attribute__((packed));		/* for size: the image is full */

static void write_all(const struct field_value *f, u32 num)
{
	while (num--) {
		vmcs_write(f->field, f->value);
		f++;
	}
}
#define WRITE_ALL(table) write_all(table, sizeof(table) / sizeof((table)[0]))

void vmx_set_seg(u32 which, u32 sel, u32 rights, u32 limit, u64 base)
{
	vmcs_write(GUEST_ES + 2 * which, sel);
	vmcs_write(GUEST_ES_LIMIT + 2 * which, limit);
	vmcs_write(GUEST_ES_RIGHTS + 2 * which, rights);
	vmcs_write(GUEST_ES_BASE + 2 * which, base);
}

#define READ(reg) ({ \
	u64 now; \
	asm volatile("mov %%" reg ", %0" : "=r"(now)); \
	now; \
})

static void set_nested(const struct paging *p)
{
	vmcs_write(VMCS_EPT_POINTER, p->root | EPT_WALK(p->levels) | EPT_WRITE_BACK);
}

/* Sets the controls that are the same at the start of every guest state of a cell, or of Linux */
static void set_controls(void)
{
	const struct qv_mon_vmx *x = &me()->boot.vmx;
	bool cell = me()->id;

	vmcs_write(VMCS_PROC, x->proc | (cell ? PROC_RDPMC : 0));
	vmcs_write(VMCS_PROC2, x->proc2 | (cell ? PROC2_WBINVD : 0));
	vmcs_write(VMCS_EXCEPTIONS, cell ? EXC_DB | EXC_AC | EXC_MC : 0);
	/*
	 * A cell cannot switch caches off, since that would slow the whole core. It reads CD and NW
	 * as it wrote them.
	 */
	vmcs_write(VMCS_CR0_MASK, CR0_NE | (cell ? CR0_CD | CR0_NW : 0));
	/* With MCE clear, a machine check that goes to all CPUs would shut the machine down */
	vmcs_write(VMCS_CR4_MASK, CR4_OURS | (cell ? CR4_MCE : 0));
	/*
	 * XRSTORS loads MSRs whatever the permission map says. So in a cell it exits for all these
	 * MSRs, in Linux for those of trace and user interrupts.
	 */
	vmcs_write(VMCS_XSS_BITMAP, cell ? ~0ull : XSS_TRACE | XSS_USER_INTERRUPTS);
	vmcs_write(VMCS_ENTRY, x->entry);
	set_nested(&me()->nested);
}

/* VMCLEAR leaves fields undefined: unused features, and a guest to which nothing happens yet */
static const struct field_value cleared[] = {
	{ VMCS_FAULT_MASK, 0 }, { VMCS_FAULT_MATCH, 0 }, { VMCS_CR3_TARGETS, 0 },
	{ VMCS_EXIT_STORES, 0 }, { VMCS_EXIT_LOADS, 0 }, { VMCS_ENTRY_LOADS, 0 },
	{ VMCS_LINK, ~0ull }, { ENTRY_EVENT, 0 }, { GUEST_BLOCKING, 0 }, { GUEST_ACTIVITY, 0 },
	{ GUEST_PENDING_DEBUG, 0 },
};

/* Sets the fields that do not change while this CPU is in this instance */
static void set_permanent(void)
{
	const struct qv_mon_vmx *x = &me()->boot.vmx;

	WRITE_ALL(cleared);
	vmcs_write(VMCS_PIN, x->pin);
	vmcs_write(VMCS_EXIT, x->exit);
	vmcs_write(VMCS_VPID, me()->id + 1);
	vmcs_write(VMCS_MSR_BITMAP, pa_of(me()->msr_map));
	vmcs_write(VMCS_IO_BITMAP_A, pa_of(me()->port_map));
	vmcs_write(VMCS_IO_BITMAP_B, pa_of(me()->port_map + QV_PAGE));
	vmcs_write(VMCS_CR4_SHADOW, 0);
	set_controls();
}

/* The monitor's own state, which each exit loads */
static const struct field_value host[] = {
	{ HOST_ES, 0x18 }, { HOST_CS, 0x10 }, { HOST_SS, 0x18 }, { HOST_DS, 0x18 }, { HOST_FS, 0 },
	{ HOST_GS, 0 }, { HOST_TR, 0x20 }, { HOST_FS_BASE, 0 }, { HOST_GS_BASE, 0 },
	{ HOST_GDTR_BASE, (u64)gdt }, { HOST_IDTR_BASE, QV_VA_BLOCK + QV_OFF_INSTANCE +
					__builtin_offsetof(struct instance, idt) },
	{ HOST_SYSENTER_CS, 0 }, { HOST_SYSENTER_ESP, 0 }, { HOST_SYSENTER_EIP, 0 },
	{ HOST_RIP, (u64)vmx_exited },
};

void vmx_set_host(const struct pcpu *cpu)
{
	WRITE_ALL(host);
	vmcs_write(HOST_TR_BASE, (u64)cpu + CPU_OFF_TSS);
	vmcs_write(HOST_RSP, (u64)cpu + QV_CPU_LEN - 16);
	vmcs_write(HOST_PAT, rdmsr(MSR_PAT));
	vmcs_write(HOST_EFER, rdmsr(MSR_EFER));
	vmcs_write(HOST_CR0, READ("cr0"));
	vmcs_write(HOST_CR3, me()->host.root);
	vmcs_write(HOST_CR4, READ("cr4"));
}

void vendor_arrive(struct pcpu *cpu)
{
	u32 *vmcs = (u32 *)((u8 *)cpu + CPU_OFF_VMCS);

	/* A VM exit does not change CD and NW: clear the guest's values */
	asm volatile("mov %0, %%cr0" : : "r"(READ("cr0") & ~(CR0_CD | CR0_NW)));
	*vmcs = me()->boot.vmx.revision;
	vmx_load(pa_of(vmcs));
	vmx_flush();
	set_permanent();
	vmx_set_host(cpu);
}

#define SEG(which, rights) \
	{ GUEST_ES + 2 * (which), 0 }, { GUEST_ES_LIMIT + 2 * (which), 0xffff }, \
	{ GUEST_ES_RIGHTS + 2 * (which), rights }, { GUEST_ES_BASE + 2 * (which), 0 }

/* As after INIT: Intel SDM vol. 3, table 10-1 */
static void set_reset(struct pcpu *cpu)
{
	static const struct field_value after_init[] = {
		SEG(SEG_ES, RIGHTS_DATA16), SEG(SEG_CS, RIGHTS_CODE16), SEG(SEG_SS, RIGHTS_DATA16),
		SEG(SEG_DS, RIGHTS_DATA16), SEG(SEG_FS, RIGHTS_DATA16), SEG(SEG_GS, RIGHTS_DATA16),
		SEG(SEG_LDTR, RIGHTS_LDT), SEG(SEG_TR, RIGHTS_TSS), { GUEST_GDTR_BASE, 0 },
		{ GUEST_GDTR_LIMIT, 0xffff }, { GUEST_IDTR_BASE, 0 }, { GUEST_IDTR_LIMIT, 0xffff },
		{ GUEST_CR0, CR0_ET | CR0_NE }, { VMCS_CR0_SHADOW, CR0_RESET }, { GUEST_CR3, 0 },
		{ GUEST_CR4, CR4_VMXE | CR4_MCE }, { VMCS_CR4_SHADOW, 0 }, { GUEST_EFER, 0 },
		{ GUEST_PAT, PAT_RESET }, { GUEST_DEBUGCTL, 0 }, { GUEST_DR7, 0x400 },
		{ GUEST_RFLAGS, 2 }, { GUEST_RIP, 0 }, { GUEST_RSP, 0 }, { GUEST_SYSENTER_CS, 0 },
		{ GUEST_SYSENTER_ESP, 0 }, { GUEST_SYSENTER_EIP, 0 }, { GUEST_BLOCKING, 0 },
		{ GUEST_ACTIVITY, 0 }, { GUEST_PENDING_DEBUG, 0 }, { ENTRY_EVENT, 0 },
	};

	set_controls();
	WRITE_ALL(after_init);
	asm volatile("mov %0, %%cr2" : : "r"(0ull));
	asm volatile("mov %0, %%dr6" : : "r"(0xffff0ff0ull));
	memset(cpu->regs, 0, sizeof(cpu->regs));
	cpu->nmi_pending = false;
}

void vendor_set_park(struct pcpu *cpu, enum cpu_phase phase)
{
	cpu->phase = phase;
	set_reset(cpu);
	/* nested tables with one page: hlt, and a jump back to it */
	set_nested(&me()->park);
	/* intercept #MC: every CPU gets it, and the parked guest could not handle it */
	vmcs_write(VMCS_EXCEPTIONS, EXC_MC);
}

void vendor_set_sipi(struct pcpu *cpu, u32 vector)
{
	set_reset(cpu);
	vmcs_write(GUEST_CS, vector << 8);
	vmcs_write(GUEST_CS_BASE, (u64)vector << 12);
}

void vendor_set_entry(struct pcpu *cpu, const struct qv_mon_entry *entry)
{
	u32 i;

	set_reset(cpu);
	for (i = SEG_ES; i <= SEG_GS; i++)
		vmx_set_seg(i, i == SEG_CS ? 0x10 : 0x18,
			    i == SEG_CS ? RIGHTS_CODE32 : RIGHTS_DATA32, ~0u, 0);
	vmcs_write(GUEST_CR0, CR0_PE | CR0_ET | CR0_NE);
	vmcs_write(VMCS_CR0_SHADOW, CR0_PE | CR0_ET);
	vmcs_write(GUEST_RIP, entry->eip);
	cpu->regs[GPR_RAX] = entry->eax;
	cpu->regs[GPR_RBX] = entry->ebx;
}

/* MSRs that the VMCS does not switch, and that the next guest may read or be affected by */
static const u32 left_behind[] = {
	MSR_DEBUGCTL, MSR_XSS, MSR_SPEC_CTRL, MSR_S_CET,
	0x6a0, 0x6a4, 0x6a5, 0x6a6, 0x6a7, 0x6a8,	/* U_CET, shadow stack pointers */
	0x6e1, 0xd90, 0xd93, 0x14ce,	/* PKRS, BNDCFGS, PASID, LBR_CTL */
	0xe1,		/* UMWAIT_CONTROL */
	0x38f, 0x3f1,	/* PERF_GLOBAL_CTRL, PEBS_ENABLE: no counting, no records into memory */
	0x570,		/* RTIT_CTL: no trace into memory */
	0x19a,		/* CLOCK_MODULATION: not throttled */
	0x1c4,		/* XFD */
	0xc0000081, 0xc0000082, 0xc0000083, 0xc0000084,		/* STAR, LSTAR, CSTAR, SFMASK */
	0xc0000102, 0xc0000103,					/* KERNEL_GS_BASE, TSC_AUX */
};

void vendor_clear_msrs(void)
{
	u32 i;

	for (i = 0; i < sizeof(left_behind) / sizeof(left_behind[0]); i++)
		/* Linux sets these MSRs when the CPU comes online */
		msr_write_safe(left_behind[i], 0);
}
