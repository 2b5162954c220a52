// SPDX-License-Identifier: GPL-2.0-only
/* Carries out what the vendor's table of MSRs says: msr.h. */
#include "msr.h"
#include "vendor.h"
#include "x86.h"

/* The first row that fits; the last one fits always */
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
	const struct msr_rule *r;
	u32 msr;

	memset(inst->msr_map, front_end ? 0 : 0xff, sizeof(inst->msr_map));
	for (r = vendor_msr_rules; r->last != LAST_ROW; r++) {
		const u8 *action = front_end ? r->front : r->cell;
		u32 stop = (action[0] != OK) | (action[1] != OK) << 1;

		for (msr = r->first; msr <= r->last; msr++)
			if (!vendor_msr_stop(inst->msr_map, msr, stop))
				break;		/* nor have the others of this row a place */
	}
}

/* OWN */
static bool own(struct pcpu *cpu, u32 msr, u64 *value, bool write)
{
	if (msr == MSR_X2APIC_ICR)
		return icr_write(cpu, *value, *value >> 32);
	if (msr >> 6 == MSR_X2APIC >> 6)	/* LVT */
		return lvt_fine(*value) && msr_write_safe(msr, *value);
	return vendor_msr_own(cpu, msr, value, write);
}

/* What Linux may do but not directly; false: #GP */
static FRONT_END_ONLY bool front_msr(struct pcpu *cpu, const struct msr_rule *r, u32 msr, u64 *value, bool write)
{
	u32 action = r->front[write];
	u64 old = 0, wanted = *value;

	if (action == FAIL)
		return false;
	if (action == ZERO || action == DROP)
		*value = 0;
	else if (!write)
		return msr_read_safe(msr, value);	/* outside the map */
	else if (action == OK)
		return msr_write_safe(msr, wanted);
	else if (!msr_read_safe(msr, &old))
		return false;
	else		/* KEEP */
		*value = (old & ~r->mask) | (wanted & r->mask);
	if (action == KEEP && *value != old && !msr_write_safe(msr, *value))
		return false;
	if (write && action != ZERO && *value != wanted) {
		cpu_status(cpu)->denied++;
		log_event(cpu, QV_LOG_MSR_DENIED, msr, wanted);
	}
	return true;
}

void exit_msr(struct pcpu *cpu, bool write)
{
	u32 msr = cpu->regs[GPR_RCX];
	u64 value = cpu->regs[GPR_RDX] << 32 | (u32)cpu->regs[GPR_RAX];
	const struct msr_rule *r = rule_of(msr);
	bool done;

	count_exit(cpu, msr == MSR_X2APIC_ICR ? QV_EXIT_ICR : QV_EXIT_MSR);
	if ((is_front_end() ? r->front : r->cell)[write] == OWN) {
		done = own(cpu, msr, &value, write);
	} else if (is_front_end()) {
		done = front_msr(cpu, r, msr, &value, write);
	} else {
		value = 0;
		done = r->cell[write] == ZERO;
	}
	if (!done) {
		refuse(cpu, QV_FAIL_MSR, msr);
		return;
	}
	if (!write) {
		cpu->regs[GPR_RAX] = (u32)value;
		cpu->regs[GPR_RDX] = value >> 32;
	}
	vendor_skip(cpu, 2);
}
