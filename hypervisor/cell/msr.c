// SPDX-License-Identifier: GPL-2.0-only
/* RDMSR and WRMSR of a cell, by the .cell column of the vendor's table: core/msr.h */
#include "cell.h"
#include "core/apic.h"
#include "core/msr.h"
#include "core/x86.h"

/* Handles MSRs whose .cell is EMUL, except the ICR */
static bool msr_emulate(struct pcpu *cpu, struct msr_exit *x)
{
	if (x->msr >> 6 == MSR_X2APIC >> 6)	/* LVT */
		return lvt_fine(x->value) && msr_write_safe(x->msr, x->value);
	return vendor_msr_emulate(cpu, x->msr, &x->value, x->write);
}

void cell_msr(struct pcpu *cpu)
{
	struct msr_exit x;
	u32 action;

	msr_exit(cpu, &x);
	action = x.rule->cell[x.write];
	if (action == EMUL && x.msr == MSR_X2APIC_ICR) {
		if (!icr_write(cpu, x.value)) {
			cell_fail(cpu, QV_FAIL_IPI, x.value);
			return;
		}
	} else if (action == ZERO) {
		x.value = 0;
	} else if (action != EMUL || !msr_emulate(cpu, &x)) {
		cell_fail(cpu, QV_FAIL_MSR, x.msr);
		return;
	}
	msr_done(cpu, &x);
}
