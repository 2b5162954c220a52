// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a CPU crosses into the monitor and back on VT-x: SDM vol. 3, chapters 24, 25 and 27.
 * vmx_caps.c checks what the processor supports, trampoline_vmx.S crosses, vmx_linux.c saves and
 * restores the state of Linux.
 *
 * Linux's shadow of CR4 never has VMXE: this file sets the bit in the register only, with
 * interrupts off, and the monitor hides it from then on.
 */
#include <asm/asm.h>
#include <asm/processor.h>
#include <linux/mm.h>
#include <linux/module.h>
#include "abi/boot.h"
#include "abi/errors.h"
#include "abi/layout.h"
#include "abi/linux_state.h"
#include "qv.h"
#include "cross.h"
#include "core/instance.h"
#include "vmx.h"
#include "vmx/vmcs.h"

#define CR0_EM_TS	0xcull
#define CR4_PGE_	(1ull << 7)
#define CR4_VMXE_	(1ull << 13)
#define MSR_PEBS_ENABLE	0x3f1
#define SEG_CODE	0x10		/* selectors of the monitor's GDT: abi/image.h */
#define SEG_DATA	0x18
#define SEG_TASK	0x20
#define NO_FIELD	0x5ffe		/* an encoding that no field of a VMCS has */
/* A field and controls of a VMCS that the monitor does not need */
#define INSTRUCTION_ERROR 0x4400
#define EXIT_HOST_LONG	(1u << 9)
#define EXIT_LOAD_PAT	(1u << 19)
#define EXIT_LOAD_EFER	(1u << 21)

/* trampoline_vmx.S */
extern char qv_vmx_leave[];
u64 qv_vmx_cross(void *state, u64 area_va, u32 back);
extern const u8 qv_image_intel[], qv_image_intel_end[];

/* True if the processor refused @insn: by CF or ZF, or by a fault */
#define REFUSED(insn, ...) ({							\
	bool bad_;								\
	asm volatile("	movb $1, %[bad]\n"					\
		     "1: " insn "\n"						\
		     "	setna %[bad]\n"						\
		     "2:\n" _ASM_EXTABLE(1b, 2b)				\
		     : [bad] "=&q"(bad_) : __VA_ARGS__ : "memory", "cc");	\
	bad_;									\
})

static bool vmx_write_field(u32 field, u64 value)
{
	return !REFUSED("vmwrite %[value], %[field]", [value] "r"(value), [field] "r"((u64)field));
}

static u32 vmx_instruction_error(void)
{
	u64 number = 0;

	asm volatile("1: vmread %[field], %[number]\n2:\n" _ASM_EXTABLE(1b, 2b)
		     : [number] "+r"(number) : [field] "r"((u64)INSTRUCTION_ERROR) : "cc");
	return number;
}

static bool vmx_in_use(void)
{
	return qv_cr4() & CR4_VMXE_;
}

static void vmx_write_cr4(u64 cr4)
{
	asm volatile("mov %0, %%cr4" : : "r"(cr4) : "memory");
}

/* ---- before the crossing ---- */

static bool vmx_write_fields(struct qv_crossing *c)
{
	struct qv_mon_vmx x;
	u32 i;

	qv_vmx_least(&x);
	{
		const struct { u32 field; u64 value; } fields[] = {
			{ VMCS_PIN, x.pin }, { VMCS_PROC, x.proc }, { VMCS_ENTRY, x.entry },
			{ VMCS_EXIT, x.exit | EXIT_HOST_LONG | EXIT_LOAD_PAT | EXIT_LOAD_EFER },
			{ VMCS_EXCEPTIONS, 0 }, { VMCS_CR3_TARGETS, 0 }, { VMCS_EXIT_STORES, 0 },
			{ VMCS_EXIT_LOADS, 0 }, { VMCS_ENTRY_LOADS, 0 }, { ENTRY_EVENT, 0 },
			{ HOST_CR0, qv_cr0() & ~CR0_EM_TS }, { HOST_CR3, c->cr3 },
			{ HOST_CR4, c->cr4 | CR4_VMXE_ },
			{ HOST_RIP, c->entry }, { HOST_RSP, c->area_va + QV_CPU_LEN },
			{ HOST_CS, SEG_CODE }, { HOST_SS, SEG_DATA },
			{ HOST_DS, SEG_DATA }, { HOST_ES, SEG_DATA },
			{ HOST_FS, 0 }, { HOST_GS, 0 }, { HOST_TR, SEG_TASK },
			{ HOST_FS_BASE, 0 }, { HOST_GS_BASE, 0 },
			{ HOST_TR_BASE, c->area_va + CPU_OFF_TSS },
			{ HOST_GDTR_BASE, c->gdt }, { HOST_IDTR_BASE, c->idt },
			{ HOST_EFER, qv_rdmsr(QV_MSR_EFER) }, { HOST_PAT, qv_rdmsr(QV_MSR_PAT) },
			{ HOST_SYSENTER_CS, 0 }, { HOST_SYSENTER_ESP, 0 }, { HOST_SYSENTER_EIP, 0 },
			/* bit 1 of RFLAGS must be 1: with 0 the VM entry fails */
			{ GUEST_RFLAGS, 0 },
			{ c->spoil ? NO_FIELD : VMCS_LINK, ~0ull },
		};

		for (i = 0; i < ARRAY_SIZE(fields); i++)
			if (!vmx_write_field(fields[i].field, fields[i].value)) {
				scnprintf(c->step, sizeof(c->step), "VMWRITE of field %#x",
					  fields[i].field);
				return false;
			}
	}
	return true;
}

static bool vmx_refused(struct qv_crossing *c, bool bad, const char *step)
{
	if (bad)
		strscpy(c->step, step, sizeof(c->step));
	return bad;
}

/* Returns IA32_PEBS_ENABLE, 0 if there is no such MSR */
static u64 vmx_precise_samples(void)
{
	u32 low = 0, high = 0;

	asm volatile("1: rdmsr\n2:\n" _ASM_EXTABLE(1b, 2b)
		     : "+a"(low), "+d"(high) : "c"(MSR_PEBS_ENABLE));
	return low | (u64)high << 32;
}

/* Enters VMX operation. Returns false if the state of this CPU forbids it, or VMXON fails */
static bool vmx_on(struct qv_crossing *c)
{
	u64 region = c->area_pa + CPU_OFF_VMXON;
	struct qv_mon_vmx x;

	qv_vmx_least(&x);
	*(u32 *)phys_to_virt(region) = x.revision;
	*(u32 *)phys_to_virt(c->area_pa + CPU_OFF_VMCS) = x.revision;
	/*
	 * A trace writes to memory that Linux may free later; PEBS writes by linear address, in the
	 * monitor as well
	 */
	if (vmx_refused(c, !qv_vmx_quiet(),
			"the CPU: it is traced (Intel PT), or has user interrupts on") ||
	    vmx_refused(c, vmx_precise_samples(),
			"the CPU: perf takes precise samples of it (PEBS)"))
		return false;
	if (vmx_refused(c, !qv_vmx_allowed(),
			"VT-x by IA32_FEATURE_CONTROL, unlike that of the first CPU") ||
	    vmx_refused(c, !qv_vmx_alike(c->boot),
			"the CPU: its VT-x has not what that of the first CPU has"))
		return false;
	vmx_write_cr4(qv_cr4() | CR4_VMXE_);
	if (!vmx_refused(c, REFUSED("vmxon %[pa]", [pa] "m"(region)), "VMXON"))
		return true;
	vmx_write_cr4(qv_cr4() & ~CR4_VMXE_);
	return false;
}

/*
 * Flushes the TLB: translations of Linux and of the monitor have the same tag, VPID 0, which no
 * guest has
 */
static void vmx_drop_translations(void)
{
	u64 cr4 = qv_cr4();

	vmx_write_cr4(cr4 ^ CR4_PGE_);
	vmx_write_cr4(cr4);
}

static void vmx_unready(struct qv_crossing *c)
{
	u64 vmcs = c->area_pa + CPU_OFF_VMCS;

	/*
	 * The processor may write to the VMCS until VMCLEAR. If these instructions fail, nothing
	 * more can be done
	 */
	asm volatile("1: vmclear %0\n2:\n" _ASM_EXTABLE(1b, 2b) : : "m"(vmcs) : "memory", "cc");
	asm volatile("1: vmxoff\n2:\n" _ASM_EXTABLE(1b, 2b) : : : "memory", "cc");
	vmx_write_cr4(qv_cr4() & ~CR4_VMXE_);
	vmx_drop_translations();	/* drops translations of the monitor */
}

#define ALL_CONTEXTS 2ull

static bool vmx_ready(struct qv_crossing *c)
{
	u64 vmcs = c->area_pa + CPU_OFF_VMCS;
	struct { u64 a, b; } none = { 0, 0 };

	if (!vmx_on(c))
		return false;
	if (!vmx_refused(c, REFUSED("vmclear %[pa]", [pa] "m"(vmcs)), "VMCLEAR") &&
	    !vmx_refused(c, REFUSED("vmptrld %[pa]", [pa] "m"(vmcs)), "VMPTRLD") &&
	    vmx_write_fields(c) &&
	    /* drops translations of the guests of an earlier session */
	    !vmx_refused(c, REFUSED("invept %[none], %[all]",
				    [none] "m"(none), [all] "r"(ALL_CONTEXTS)), "INVEPT") &&
	    !vmx_refused(c, REFUSED("invvpid %[none], %[all]",
				    [none] "m"(none), [all] "r"(ALL_CONTEXTS)), "INVVPID"))
		return true;
	c->number = vmx_instruction_error();
	vmx_unready(c);
	return false;
}

/* ---- the crossing ---- */

/* This CPU is back in Linux, in VMX root operation */
static void vmx_back_in_linux(struct qv_crossing *c)
{
	qv_vmx_load_linux(c->state);
	vmx_unready(c);
	qv_vmx_restore_capability();
	qv_vmx_nmi_again(c);
}

static u64 vmx_cross(struct qv_crossing *c)
{
	u64 error;

	BUILD_BUG_ON(offsetof(struct qv_linux_state, rsp) != 0x00 ||
		     offsetof(struct qv_linux_state, rip) != 0x08 ||
		     offsetof(struct qv_linux_state, rflags) != 0x10 ||
		     offsetof(struct qv_linux_state, error) != 0x100);
	qv_vmx_save_linux(c->state);
	vmx_drop_translations();
	error = qv_vmx_cross(c->state, c->area_va, 0);
	if (!error)
		return 0;
	if (error != ~0ull) {
		vmx_back_in_linux(c);
		return error;
	}
	strscpy(c->step, "VMLAUNCH", sizeof(c->step));
	c->number = vmx_instruction_error();
	vmx_unready(c);
	return QV_ME_SWITCH;
}

static u64 vmx_cross_back(struct qv_crossing *c)
{
	u64 error = qv_vmx_cross(NULL, 0, 1);

	if (!error)
		vmx_back_in_linux(c);
	return error;
}

static void vmx_fill(struct qv_mon_boot *b)
{
	qv_vmx_fill(b);
	b->tramp_leave = (u64)qv_vmx_leave;
}

static u64 vmx_hypercall(u64 nr, u64 a, u64 b)
{
	asm volatile("1: vmcall\n"
		     "	jmp 3f\n"
		     "2: mov %[none], %%eax\n"
		     "3:\n" _ASM_EXTABLE(1b, 2b)
		     : "+a"(nr) : "D"(a), "S"(b), [none] "i"(QV_ME_CALL) : "memory");
	return nr;
}

const struct qv_virt qv_vmx = {
	.name = "VT-x", .feature = "VMX", .kvm = "kvm_intel", .vendor = 2,
	.no_virt_remedy = "switch VT-x on in the firmware setup, or use a machine that has it",
	.image = qv_image_intel, .image_end = qv_image_intel_end,
	.present = qv_vmx_present, .features = qv_vmx_features, .preflight = qv_vmx_preflight,
	.in_use = vmx_in_use, .fill = vmx_fill, .ready = vmx_ready, .unready = vmx_unready,
	.cross = vmx_cross, .cross_back = vmx_cross_back, .hypercall = vmx_hypercall,
};
