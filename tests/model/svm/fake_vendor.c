// SPDX-License-Identifier: GPL-2.0-only
/* Functions in place of svm/entry.S. */
#include "fake.h"
#include "fake_traps.h"
#include "fake_vendor.h"
#include "svm/svm.h"

void svm_run(struct pcpu *cpu, u64 vmcb_pa)
{
	(void)cpu, (void)vmcb_pa;
	fake_back_to("svm_run");
}

void svm_leave(const struct leave_state *state)
{
	(void)state;
	fake_back_to("svm_leave");
}

void vendor_move(u64 cr3, u64 stack, void (*to)(struct pcpu *), struct pcpu *cpu)
{
	(void)cr3, (void)stack, (void)to, (void)cpu;
	fake_back_to("vendor_move");
}

void svm_try(u64 vmcb_pa)
{
	(void)vmcb_pa;
	fake_dr[7] = 0x400;		/* an exit disables all breakpoints */
}

void svm_take_nmi(void)
{
}

void svm_shutdown(void)
{
	fake_back_to("svm_shutdown");
}

void vendor_take_interrupts(void)
{
}

void fake_vendor_boot(struct qv_mon_boot *b)
{
	b->ept = fake_ept;
}

void fake_as(u32 cpu)
{
	(void)cpu;			/* the control blocks, one for each CPU, are in memory */
}

void fake_memory_exit(struct pcpu *cpu, u64 gpa, bool write)
{
	struct vmcb *v = vmcb_of(cpu);

	v->exit_code = EXIT_NPF;
	v->info1 = write ? 6 : 4;
	v->info2 = gpa;
	v->exit_int_info = 0;
	svm_exit(cpu);
}
