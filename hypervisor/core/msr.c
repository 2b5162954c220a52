// SPDX-License-Identifier: GPL-2.0-only
/* The vendor's table of MSRs: the permission map, and the steps that all RDMSR and WRMSR share. */
#include "cpu.h"
#include "log.h"
#include "msr.h"
#include "vendor.h"
#include "x86.h"

/* The last row matches every MSR */
static const struct msr_rule *rule_of(u32 msr)
{
	const struct msr_rule *r = vendor_msr_rules;

	while (msr < r->first || msr > r->last)
		r++;
	return r;
}

void msr_build(struct instance *inst)
{
	bool front_end = inst->id == 0;
	const struct msr_rule *r = vendor_msr_rules;
	u32 msr;

	memset(inst->msr_map, front_end ? 0 : 0xff, sizeof(inst->msr_map));
	while (r->last != LAST_ROW)
		r++;
	/* from the last row to the first, since the first row that fits counts */
	while (r-- > vendor_msr_rules) {
		const u8 *action = front_end ? r->front : r->cell;
		u32 stop = (action[0] != PASS) | (action[1] != PASS) << 1;

		for (msr = r->first; msr <= r->last; msr++)
			if (!vendor_msr_stop(inst->msr_map, msr, stop))
				/* the rest of this row has no place in the map either */
				break;
	}
}

void msr_exit(struct pcpu *cpu, struct msr_exit *x)
{
	x->msr = cpu->regs[GPR_RCX];
	x->write = vendor_msr_write(cpu);
	x->value = cpu->regs[GPR_RDX] << 32 | (u32)cpu->regs[GPR_RAX];
	x->rule = rule_of(x->msr);
	count_exit(cpu, x->msr == MSR_X2APIC_ICR ? QV_EXIT_ICR : QV_EXIT_MSR);
}

void msr_done(struct pcpu *cpu, const struct msr_exit *x)
{
	if (!x->write) {
		cpu->regs[GPR_RAX] = (u32)x->value;
		cpu->regs[GPR_RDX] = x->value >> 32;
	}
	vendor_skip(cpu, 2);
}
