// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of Linux on a CPU that crosses on VT-x. A VM exit changes registers that the monitor
 * does not load, so they are saved before the crossing and restored after the way back. Linux's
 * record of VT-x and a pending NMI are put right afterwards.
 */
#include <asm/apic.h>
#include <asm/desc.h>
#include <asm/processor.h>
#include <linux/mm.h>
#include "abi/boot.h"
#include "abi/layout.h"
#include "abi/linux_state.h"
#include "qv.h"
#include "cross.h"
#include "core/instance.h"
#include "vmx.h"
#include "vmx/vmcs.h"

#define MSR_SYSENTER	0x174		/* the MSRs of SYSENTER: CS, ESP, EIP */
#define MSR_DEBUGCTL_	0x1d9
#define MSR_FS_BASE_	0xc0000100
#define MSR_GS_BASE_	0xc0000101
/* While Linux is in the kernel, IA32_KERNEL_GS_BASE holds the base of user space */
#define MSR_USER_GS	0xc0000102
#define UNUSABLE	(1u << 16)

/* Returns the base of a system segment, from its descriptor of 16 bytes */
static u64 vmx_system_base(const struct qv_linux_state *s, u16 sel)
{
	u64 d[2];

	memcpy(d, (void *)s->gdt_base + (sel & ~7), sizeof(d));
	return (d[0] >> 16 & 0xffffff) | (d[0] >> 56) << 24 | d[1] << 32;
}

static struct qv_linux_seg vmx_segment(u16 sel, u64 base)
{
	struct qv_linux_seg seg = { .sel = sel, .rights = UNUSABLE, .base = base };
	u32 rights, limit;
	bool good;

	asm volatile("lar %[sel], %[rights]\n"
		     "	setz %[good]"
		     : [rights] "=&r"(rights), [good] "=q"(good) : [sel] "r"((u32)sel) : "cc");
	if (!(sel & ~3) || !good)
		return seg;
	asm volatile("lsl %[sel], %[limit]" : [limit] "=r"(limit) : [sel] "r"((u32)sel) : "cc");
	seg.limit = limit;
	seg.rights = rights >> 8 & 0xf0ff;
	return seg;
}

/* Saves what a VM exit changes, besides what qv_crossing_save_linux() saves */
void qv_vmx_save_linux(struct qv_linux_state *s)
{
	u16 fs, gs, tr, ldt;

	asm volatile("mov %%fs, %0" : "=r"(fs));
	asm volatile("mov %%gs, %0" : "=r"(gs));
	asm volatile("str %0" : "=r"(tr));
	asm volatile("sldt %0" : "=r"(ldt));
	s->tr = tr;
	s->ldt = ldt;
	s->fs = vmx_segment(fs, qv_rdmsr(MSR_FS_BASE_));
	s->gs = vmx_segment(gs, qv_rdmsr(MSR_GS_BASE_));
	s->tr_seg = vmx_segment(tr, vmx_system_base(s, tr));
	s->ldt_seg = vmx_segment(ldt, ldt ? vmx_system_base(s, ldt) : 0);
	asm volatile("mov %%dr7, %0" : "=r"(s->dr7));
	s->debugctl = qv_rdmsr(MSR_DEBUGCTL_);
	s->sysenter_cs = qv_rdmsr(MSR_SYSENTER);
	s->sysenter_esp = qv_rdmsr(MSR_SYSENTER + 1);
	s->sysenter_eip = qv_rdmsr(MSR_SYSENTER + 2);
}

/*
 * A VM exit sets the limit of TR to 67h and leaves its descriptor busy. The GDT that Linux loads is
 * read-only, so this clears the busy bit through its writable mapping.
 */
static void vmx_reload_tr(const struct qv_linux_state *s, const struct desc_ptr *gdt)
{
	struct desc_struct *writable = this_cpu_ptr(&gdt_page)->gdt;
	struct desc_ptr direct = { .size = s->gdt_limit, .address = (unsigned long)writable };

	asm volatile("lgdt %0" : : "m"(direct));
	writable[s->tr_seg.sel / 8].type &= ~2;
	asm volatile("ltr %w0" : : "q"((u32)s->tr_seg.sel) : "memory");
	asm volatile("lgdt %0" : : "m"(*gdt));
}

void qv_vmx_load_linux(const struct qv_linux_state *s)
{
	struct desc_ptr gdt = { .size = s->gdt_limit, .address = s->gdt_base };
	struct desc_ptr idt = { .size = s->idt_limit, .address = s->idt_base };
	u64 user_gs = qv_rdmsr(MSR_USER_GS);

	asm volatile("lidt %0" : : "m"(idt));
	vmx_reload_tr(s, &gdt);
	asm volatile("lldt %w0" : : "q"((u32)s->ldt_seg.sel));
	if (s->fs.sel) {
		loadsegment(fs, s->fs.sel);
		qv_wrmsr(MSR_FS_BASE_, s->fs.base);
	}
	if (s->gs.sel) {
		load_gs_index(s->gs.sel);
		qv_wrmsr(MSR_USER_GS, user_gs);
	}
	asm volatile("mov %0, %%dr7" : : "r"(s->dr7));
	qv_wrmsr(MSR_DEBUGCTL_, s->debugctl);
}

void qv_vmx_nmi_again(const struct qv_crossing *c)
{
	const struct pcpu *cpu = container_of(c->state, struct pcpu, linux_state);
	const u32 nmi = APIC_DM_NMI | APIC_INT_ASSERT;
	u32 *icr = (u32 *)(APIC_BASE + APIC_ICR), *icr2 = (u32 *)(APIC_BASE + APIC_ICR2);
	u32 tries = 100000;

	if (!READ_ONCE(*(u32 *)((u8 *)cpu + CPU_OFF_NMI)) && !READ_ONCE(cpu->nmi_pending))
		return;
	if (qv_takeover.x2apic) {
		qv_wrmsr(APIC_BASE_MSR + (APIC_ICR >> 4), (u64)qv_apic_id() << 32 | nmi);
		return;
	}
	/* a write to the ICR now would overwrite an IPI that is being sent */
	while (READ_ONCE(*icr) & APIC_ICR_BUSY && tries--)
		cpu_relax();
	WRITE_ONCE(*icr2, qv_apic_id() << 24);
	WRITE_ONCE(*icr, nmi);
}

static void vmx_copy_capability(struct cpuinfo_x86 *c)
{
	const struct cpuinfo_x86 *first = &cpu_data(0);
	/* the word of feature bits that Linux derives from the VMX capability MSRs */
	const u32 word = X86_FEATURE_EPT / 32;

	if (cpu_has(c, X86_FEATURE_VMX) || !cpu_has(first, X86_FEATURE_VMX))
		return;
	c->x86_capability[word] |= first->x86_capability[word];
	memcpy(c->vmx_capability, first->vmx_capability, sizeof(c->vmx_capability));
	if (cpu_has(first, X86_FEATURE_VNMI))
		set_cpu_cap(c, X86_FEATURE_VNMI);
	set_cpu_cap(c, X86_FEATURE_VMX);
}

/*
 * CPUID shows no VMX under the monitor. So Linux recorded no VMX for a CPU that came online there,
 * nor for the machine, and KVM would refuse to load. Copies the record of CPU 0, which never goes
 * offline.
 */
void qv_vmx_restore_capability(void)
{
	vmx_copy_capability(&cpu_data(smp_processor_id()));
	vmx_copy_capability(&boot_cpu_data);
}
