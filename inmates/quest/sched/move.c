// SPDX-License-Identifier: GPL-2.0-only
/* Restores VCPUs that come from another CPU, or that were taken off this one. */
#include "server.h"

void sched_vcpu_restore(struct sched *s, int id, const struct vcpu *was, uint64_t now)
{
	struct vcpu *v = &s->vcpus[id];

	/* Past use delays the VCPU, for longer than the use in `was` would. */
	if (vcpu_eligible(v) > now)
		return;
	if (v->params.type == MAIN_VCPU)
		v->main = was->main;
	else
		v->io = was->io;
	v->counts = was->counts;
	v->used_then = was->counts.used;	/* that use is past use of another VCPU */
}
