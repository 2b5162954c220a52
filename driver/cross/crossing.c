// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collects all that a CPU needs to cross into the monitor and to come back: its area, the registers
 * of Linux, the page tables and the entry point of the monitor.
 */
#include <linux/mm.h>
#include <asm/desc.h>
#include <asm/processor.h>
#include "abi/boot.h"
#include "abi/image.h"
#include "abi/layout.h"
#include "abi/linux_state.h"
#include "abi/test_hooks.h"
#include "qv.h"
#include "cross.h"
#include "core/instance.h"

/*
 * CR4 bits that stay on while the monitor runs: DE, PSE, PAE, MCE, OSFXSR, OSXMMEXCPT, LA57,
 * FSGSBASE
 */
#define CR4_KEEP	0x11678ull
#define CPUID_1_XSAVE	(1u << 26)
#define CR4_OSXSAVE_	(1ull << 18)
#define CR4_CET_	(1ull << 23)
#define MSR_S_CET	0x6a2
#define MSR_SSP_TABLE	0x6a8

void qv_crossing_save_linux(struct qv_linux_state *s)
{
	struct desc_ptr gdt, idt;

	asm volatile("sgdt %0" : "=m"(gdt));
	asm volatile("sidt %0" : "=m"(idt));
	s->cr0 = qv_cr0();
	asm volatile("mov %%cr3, %0" : "=r"(s->cr3));
	s->cr4 = qv_cr4();
	s->gdt_base = gdt.address;
	s->gdt_limit = gdt.size;
	s->idt_base = idt.address;
	s->idt_limit = idt.size;
	s->cs = __KERNEL_CS;
	s->ss = __KERNEL_DS;
	s->efer = qv_rdmsr(QV_MSR_EFER);
	s->pat = qv_rdmsr(QV_MSR_PAT);
	if (s->cr4 & CR4_CET_) {
		s->s_cet = qv_rdmsr(MSR_S_CET);
		s->ssp_table = qv_rdmsr(MSR_SSP_TABLE);
	}
}

/*
 * Must not read the block of the monitor: while the monitor runs, Linux and this driver see only
 * its open part
 */
struct qv_crossing qv_crossing_back(u32 index)
{
	u32 area = QV_OFF_CPUS + index * QV_CPU_LEN;
	struct pcpu *cpu = page_address(qv_takeover.monitor_mem) + area;

	return (struct qv_crossing){
		.state = &cpu->linux_state,
		.area_pa = page_to_phys(qv_takeover.monitor_mem) + area,
		.area_va = QV_VA_BLOCK + area,
	};
}

struct qv_crossing qv_crossing_over(u32 index)
{
	const struct qv_mon_boot *boot = qv_monitor_mem_boot();
	const struct qv_image_header *h = qv_virt_image();
	struct qv_crossing c = qv_crossing_back(index);

	c.boot = boot;
	c.cr3 = boot->cr3;
	c.entry = h->entry;
	c.cr4 = (qv_cr4() & CR4_KEEP) | (qv_cpuid(1).ecx & CPUID_1_XSAVE ? CR4_OSXSAVE_ : 0);
	c.gdt = h->gdt;
	c.idt = QV_VA_BLOCK + QV_OFF_INSTANCE + offsetof(struct instance, idt);
	c.spoil = boot->test_hooks & QV_TEST_BAD_STEP && index == 1;
	return c;
}
