// SPDX-License-Identifier: GPL-2.0-only
/* RDMSR and WRMSR of Linux, by the .front column of the vendor's table: core/msr.h */
#include "front.h"
#include "core/apic.h"
#include "core/msr.h"
#include "core/x86.h"

static bool msr_emulate(struct pcpu *cpu, struct msr_exit *x)
{
	if (x->msr != MSR_X2APIC_ICR)
		return vendor_msr_emulate(cpu, x->msr, &x->value, x->write);
	icr_write(cpu, x->value);	/* an IPI outside Linux's CPUs is dropped, logged there */
	return true;
}

/* Carries out an access that Linux may make, but not directly; false: #GP */
static bool msr_access(struct pcpu *cpu, struct msr_exit *x)
{
	const struct msr_rule *r = x->rule;
	u32 action = r->front[x->write];
	u64 old, wanted = x->value;

	if (action == EMUL)
		return msr_emulate(cpu, x);
	if (action == FAIL)
		return false;
	if (action == PASS)		/* the MSR is outside the permission map */
		return x->write ? msr_write_safe(x->msr, wanted) : msr_read_safe(x->msr, &x->value);
	x->value = 0;			/* ZERO, DROP */
	if (action == KEEP) {		/* a write: no row has it for reads */
		if (!msr_read_safe(x->msr, &old))
			return false;
		x->value = (old & ~r->mask) | (wanted & r->mask);
		if (x->value != old && !msr_write_safe(x->msr, x->value))
			return false;
	}
	if (x->write && action != ZERO && x->value != wanted)
		log_denied(cpu, QV_LOG_MSR_DENIED, x->msr, wanted);
	return true;
}

void front_msr(struct pcpu *cpu)
{
	struct msr_exit x;

	msr_exit(cpu, &x);
	if (msr_access(cpu, &x))
		msr_done(cpu, &x);
	else
		vendor_inject_fault(cpu, 13);
}
