/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_SVM_H
#define QV_SVM_H

#include "core/cpu.h"
#include "core/vendor.h"
#include "core/x86.h"
#include "vmcb.h"

static inline struct vmcb *vmcb_of(const struct pcpu *cpu)
{
	return (struct vmcb *)((u64)cpu + CPU_OFF_VMCB);
}

/* Physical address of something in this instance's block */
static inline u64 pa_of(const void *p)
{
	return (u64)p - QV_VA_BLOCK + me()->boot.block_pa;
}

/* entry.S */
void svm_run(struct pcpu *cpu, u64 vmcb_pa) __attribute__((noreturn));
/* executes one VMRUN, which must exit before the first guest instruction */
void svm_try(u64 vmcb_pa);
void svm_take_nmi(void);
void svm_shutdown(void) __attribute__((noreturn));	/* causes a triple fault at once */
struct leave_state;
void svm_leave(const struct leave_state *state) __attribute__((noreturn));

/* run.c: called by svm_run after each exit; the CPU then enters again */
void svm_exit(struct pcpu *cpu);

struct leave_state {			/* svm_leave in entry.S relies on the order */
	u64 cr3, cr4, rsp, rip, rflags, error, tramp;
	u16 pad0[3], gdt_limit;
	u64 gdt_base;
	u16 pad1[3], idt_limit;
	u64 idt_base;
};

/* Offsets that entry.S has as numbers */
_Static_assert(__builtin_offsetof(struct leave_state, cr4) == 0x08, "entry.S");
_Static_assert(__builtin_offsetof(struct leave_state, tramp) == 0x30, "entry.S");
_Static_assert(__builtin_offsetof(struct leave_state, gdt_limit) == 0x3e, "entry.S");
_Static_assert(__builtin_offsetof(struct leave_state, idt_limit) == 0x4e, "entry.S");
_Static_assert(__builtin_offsetof(struct pcpu, regs) == 0, "entry.S");
_Static_assert(QV_CPU_LEN == 0x8000, "entry.S");
_Static_assert(CPU_OFF_VMCB - CPU_OFF_HOST == 0x1000, "entry.S");

#endif
