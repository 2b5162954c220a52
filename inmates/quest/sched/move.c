// SPDX-License-Identifier: GPL-2.0-only
/* VCPUs that move here from another CPU, or come back. */
#include "server.h"

void sched_vcpu_restore(struct sched *s, int id, const struct vcpu *was, uint64_t now)
{
	struct vcpu *v = &s->vcpus[id];

	if (vcpu_eligible(v) > now)
		/* it begins after the use of others is settled; its own use was less */
		return;
	if (v->params.type == MAIN_VCPU)
		v->main = was->main;
	else
		v->io = was->io;
	v->counts = was->counts;
	v->used_then = was->used_then;
}
