// SPDX-License-Identifier: GPL-2.0-only
/* System calls: VCPUs. */
#include <inmate/string.h>
#include "../migration/migration.h"
#include "../mm/usercopy.h"
#include "syscall.h"
#include "vcpu/uservcpu.h"

/* Returns the VCPU that argument `n` names. */
static int vcpu_arg(const struct call *c, unsigned int n)
{
	return vcpuname_id(c->process, call_int(c, n));
}

static long create(struct call *c, const struct sched_param *p)
{
	int id = uservcpu_create(c->process->name, p, c->process->pid);

	return id < 0 ? id : vcpuname_of_new(c->process, id);
}

static bool take(struct call *c, uint64_t from, struct sched_param *p)
{
	return copy_from_user(&c->process->space, p, from, sizeof(*p));
}

long sys_vcpu_create(struct call *c)
{
	struct sched_param p;

	return take(c, c->arg[0], &p) ? create(c, &p) : -EFAULT;
}

long sys_vcpu_create_main(struct call *c)
{
	struct sched_param p = { .type = MAIN_VCPU, .C = call_int(c, 0), .T = call_int(c, 1) };

	return create(c, &p);
}

long sys_vcpu_bind_task(struct call *c)
{
	int id = vcpu_arg(c, 0);

	return uservcpu_usable(id, c->process->pid) ?
	       uservcpu_bind(thread_current(), id) : -ENOVCPU;
}

long sys_vcpu_destroy(struct call *c)
{
	int error = uservcpu_destroy(vcpu_arg(c, 0), call_int(c, 1), c->process->pid);

	if (!error)
		vcpuname_drop(c->process, call_int(c, 0));
	return error;
}

/* Returns the parameters of the VCPU that the caller is bound to, or started on. */
long sys_vcpu_getparams(struct call *c)
{
	struct sched_param p = { 0 };
	long error = uservcpu_get(thread_current()->own_vcpu, &p);

	if (error)
		return error;
	return copy_to_user(&c->process->space, c->arg[0], &p, sizeof(p)) ? 0 : -EFAULT;
}

long sys_vcpu_setparams(struct call *c)
{
	struct sched_param p;

	if (!take(c, c->arg[1], &p))
		return -EFAULT;
	return uservcpu_set(vcpu_arg(c, 0), &p, c->process->pid);
}

/* Both or neither: all that can make the move's request fail is checked first. */
static long set_and_move(struct process *p, struct sched_param *param, int pid)
{
	int error, link = param->affinity < 0 ? -1 : migration_nth(param->affinity - 1);
	int moves = p->pid;

	if (!migration_cell(link))
		return -EINVAL;
	if (migration_pending(p))
		return -EBUSY;
	param->affinity = 0;
	error = uservcpu_set(p->vcpu, param, pid);
	if (error)
		return error;
	/*
	 * Admission lets others run. If the program has ended, its slot may be that of another one.
	 * Another thread may have asked meanwhile: EBUSY.
	 */
	if (process_find(moves) != p || p->state != PROCESS_LIVE)
		return -ESRCH;
	return migration_wish(p, link, UINT64_MAX, false);
}

/* Sets the parameters of the VCPU that program `pid` (-1: the caller) started on. */
long sys_sched_setparam(struct call *c)
{
	int pid = call_int(c, 0);
	struct process *p = pid == -1 ? c->process : process_find(pid);
	struct sched_param param;

	if (!p || p->state != PROCESS_LIVE)
		return -ESRCH;
	if (p != c->process && p->parent != c->process->pid)
		return -EPERM;
	if (!take(c, c->arg[1], &param))
		return -EFAULT;
	if (!param.affinity)
		return uservcpu_set(p->vcpu, &param, c->process->pid);
	return set_and_move(p, &param, c->process->pid);
}

/* Returns the id of the VCPU that the caller is bound to, or started on. */
long sys_vcpu_current(struct call *c)
{
	int id = thread_current()->own_vcpu;
	uint64_t left = uservcpu_left_us(id);

	return !c->arg[0] || copy_to_user(&c->process->space, c->arg[0], &left, sizeof(left)) ?
	       id : -EFAULT;
}
