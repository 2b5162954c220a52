// SPDX-License-Identifier: GPL-2.0-only
/* VCPUs that come from elsewhere, or come back. */
#include "server.h"

void sched_vcpu_restore(struct sched *s, int id, const struct vcpu *was, uint64_t now)
{
	struct vcpu *v = &s->vcpus[id];

	if (vcpu_eligible(v) > now)
		return;		/* it is to begin later than others' use settles: its own is less */
	if (v->params.type == MAIN_VCPU)
		v->main = was->main;
	else
		v->io = was->io;
	v->counts = was->counts;
	v->used_then = was->used_then;
}
