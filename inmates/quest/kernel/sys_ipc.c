// SPDX-License-Identifier: GPL-2.0-only
/* System call: how long the caller's VCPU takes for a message (user/include/ipc.h). */
#include <inmate/cpu.h>
#include "../ipc/waits.h"
#include "../mm/usercopy.h"
#include "dispatch.h"
#include "syscall.h"
#include "vcpu/vcpu.h"

/* Other threads have the VCPU for best effort, too, so there is no bound on it. */
long sys_ipc_wait(struct call *c)
{
	const struct space *s = &c->process->space;
	int id = thread_current()->own_vcpu;
	struct quest_ipc_wait w;
	const struct vcpu *v;
	int error;

	if (!copy_from_user(s, &w, c->arg[0], sizeof(w)))
		return -EFAULT;
	v = sched_vcpu(dispatch_sched(), id);
	if (!v || id < VCPU_FIXED || v->params.type != MAIN_VCPU)
		return -ENOVCPU;
	irq_enable();
	error = waits_of(id, &w);
	irq_disable();
	if (error)
		return error;
	return copy_to_user(s, c->arg[0], &w, sizeof(w)) ? 0 : -EFAULT;
}
