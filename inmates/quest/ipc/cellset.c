// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../kernel/dispatch.h"
#include "cellset.h"

void cellset_end(struct bounds_end *end, struct admission_entry set[SCHED_VCPUS], int id)
{
	bool irqs = irq_save();
	const struct vcpu *v;
	int i;

	*end = (struct bounds_end){ .set = set };
	for (i = 0; i < SCHED_VCPUS; i++) {
		v = sched_vcpu(dispatch_sched(), i);
		if (!v || v->params.type == BACKGROUND_VCPU)
			continue;
		if (i == id)
			end->me = end->n;
		set[end->n++] = (struct admission_entry){
			v->params.type == IO_VCPU, v->params.budget, v->params.period
		};
	}
	irq_restore(irqs);
}

int cellset_find(const char *name)
{
	bool irqs = irq_save();
	int i, found = SCHED_NO_VCPU;
	const struct vcpu *v;

	for (i = 0; i < SCHED_VCPUS && found < 0; i++) {
		v = sched_vcpu(dispatch_sched(), i);
		if (v && v->params.type == MAIN_VCPU && !strcmp(v->params.name, name))
			found = i;
	}
	irq_restore(irqs);
	return found;
}
