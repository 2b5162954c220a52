// SPDX-License-Identifier: GPL-2.0-only
/* Interrupt commands of a guest. The filter (icr.c) chooses targets, each gets an interrupt. */
#include "apic.h"
#include "kick.h"
#include "log.h"

void icr_learn(struct pcpu *cpu)
{
	if (me()->boot.x2apic)
		return;
	me()->icr.ldr[cpu->index] = apic_read(APIC_LDR) >> 24;
	me()->icr.cluster = apic_read(APIC_DFR) >> 28 != 0xf;
}

static void ipi_send(struct pcpu *target, const struct icr_verdict *v)
{
	if (v->action == ICR_SEND) {
		apic_send(v->low, target->apic_id);
	} else if (v->action == ICR_INIT) {
		kick(target, CMD_INIT);
	} else {			/* ICR_SIPI: ICR_DROP has no targets */
		__atomic_store_n(&target->sipi, v->vector, __ATOMIC_RELEASE);
		kick(target, CMD_SIPI);
	}
}

bool icr_write(struct pcpu *cpu, u64 icr)
{
	struct icr_verdict v = icr_filter(&me()->icr, icr, icr >> 32, cpu->index);
	u32 i;

	if (v.foreign) {
		log_denied(cpu, QV_LOG_IPI_DENIED, (u32)icr, icr >> 32);
		return false;
	}
	for (i = 0; i < me()->icr.num; i++)
		if (v.targets & 1ull << i)
			ipi_send(pcpu_of(i), &v);
	return true;
}
