// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../../user/include/quest/errors.h"
#include "../dispatch.h"
#include "bind.h"
#include "iovcpu.h"
#include "../lock.h"
#include "../panic.h"
#include "../process/process.h"
#include "uservcpu.h"

#define US_PER_MS	1000
/* largest number of VCPUs of one program, with destroyed VCPUs whose past use still counts */
#define VCPUS_OF_ONE	16
/* largest number of I/O VCPUs of all programs; with more of them the exact test takes long */
#define IO_OF_ALL	8

static int error_of(int sched_error)
{
	switch (sched_error) {
	case SCHED_BAD_PARAMS:
	case SCHED_TOO_SHORT:
		return -EINVAL;
	case SCHED_FULL:
	case SCHED_NOT_YET:
		return -EAGAIN;
	case SCHED_OVER_BOUND:
	case SCHED_MISSES_PERIOD:
		return -EADMIT;
	case SCHED_NO_VCPU:
		return -ENOVCPU;
	case SCHED_IN_USE:
		return -EBUSY;
	default:
		return sched_error;
	}
}

static bool plausible(const struct sched_param *p)
{
	return (p->type == MAIN_VCPU || p->type == IO_VCPU) &&
	       p->C > 0 && p->T > 0 && !p->affinity &&
	       (p->type == IO_VCPU ? iovcpu_known(p->io_class) : !p->io_class) &&
	       (p->unit == VCPU_MS || p->unit == VCPU_US);
}

static uint64_t us_of(int time, int unit)
{
	return (uint64_t)time * (unit == VCPU_MS ? US_PER_MS : 1);
}

/* Returns the owner of VCPU `id`, which exists: a pid, or KERNEL_PID. */
static int owner_of(int id)
{
	return sched_vcpu(dispatch_sched(), id)->params.owner;
}

/*
 * Returns 0 if process `pid` may change VCPU `id`, or an error. No program may change the fixed
 * VCPUs.
 */
static int check_owner(int id, int pid)
{
	if (!sched_vcpu(dispatch_sched(), id))
		return -ENOVCPU;
	return id < VCPU_FIXED || owner_of(id) != pid ? -EPERM : 0;
}

static int count_io(void)
{
	const struct vcpu *v;
	int id, n = 0;

	for (id = VCPU_FIXED; id < SCHED_VCPUS; id++) {
		v = sched_vcpu(dispatch_sched(), id);
		n += v && v->params.type == IO_VCPU && v->params.owner != KERNEL_PID;
	}
	return n;
}

/* Returns true if `owner` must not get `more` VCPUs in addition to its present ones. */
static bool has_all(int owner, int type, unsigned int more)
{
	if (owner == KERNEL_PID)
		return false;
	return sched_count_owned(dispatch_sched(), owner, rdtsc()) + more > VCPUS_OF_ONE ||
	       (type == IO_VCPU && count_io() + more > IO_OF_ALL);
}

int uservcpu_create(const char *name, const struct sched_param *p, int owner)
{
	int id;

	if (!plausible(p))
		return -EINVAL;
	if (has_all(owner, p->type, 1))
		return -EAGAIN;
	if (owner != KERNEL_PID)
		let_interrupts_in();
	id = vcpu_create(name, (enum vcpu_type)p->type, us_of(p->C, p->unit), us_of(p->T, p->unit),
			 owner);
	if (id < 0)
		return error_of(id);
	/* another thread may have created a VCPU meanwhile */
	if (has_all(owner, p->type, 0)) {
		(void)vcpu_destroy(id);
		return -EAGAIN;
	}
	iovcpu_set(id, p->io_class, owner != KERNEL_PID);
	return id;
}

void uservcpu_give(int id, int pid)
{
	sched_set_owner(dispatch_sched(), id, pid);
}

int uservcpu_destroy(int id, bool force, int owner)
{
	int error = check_owner(id, owner);

	if (error)
		return error;
	if (force) {
		vcpu_move_threads(id, BEST_EFFORT_VCPU);
		error = check_owner(id, owner);	/* other threads have run meanwhile */
		if (error)
			return error;
	}
	error = vcpu_is_own(id) ? -EBUSY : error_of(vcpu_destroy(id));
	if (error)
		return error;
	iovcpu_set(id, IOVCPU_CLASS_ALL, false);
	process_leave_vcpu(id);
	lock_inherit_all();		/* last: other threads run meanwhile, and may take the id */
	return 0;
}

/* Rounded: a microsecond may not be a whole number of cycles. */
static int in_us(uint64_t cycles)
{
	return (int)timer_to_us(cycles + timer_from_us(1) / 2);
}

int uservcpu_get(int id, struct sched_param *p)
{
	const struct vcpu *v = sched_vcpu(dispatch_sched(), id);

	if (!v)
		return -ENOVCPU;
	*p = (struct sched_param){
		.type = v->params.type,
		.io_class = iovcpu_get(id),
		.C = in_us(v->params.budget),
		.T = in_us(v->params.period),
		.unit = VCPU_US,
	};
	if (p->C % US_PER_MS || p->T % US_PER_MS)
		return 0;
	p->C /= US_PER_MS;
	p->T /= US_PER_MS;
	p->unit = VCPU_MS;
	return 0;
}

uint64_t uservcpu_left_us(int id)
{
	uint64_t now = rdtsc();
	const struct vcpu *v;

	sched_charge(dispatch_sched(), now);
	v = sched_vcpu(dispatch_sched(), id);
	return v ? timer_to_us(vcpu_left(v, now)) : 0;
}

int uservcpu_set(int id, const struct sched_param *p, int owner)
{
	int error = check_owner(id, owner);

	if (error)
		return error;
	if (!plausible(p) || p->type != (int)sched_vcpu(dispatch_sched(), id)->params.type)
		return -EINVAL;
	error = error_of(vcpu_set(id, us_of(p->C, p->unit), us_of(p->T, p->unit)));
	if (!error)
		iovcpu_set(id, p->io_class, true);
	lock_inherit_all();
	return error;
}

bool uservcpu_usable(int id, int pid)
{
	const struct process *p = process_find(pid);

	if (!p || !sched_vcpu(dispatch_sched(), id))
		return false;
	if (id == BEST_EFFORT_VCPU || p->vcpu == id)
		return true;
	return owner_of(id) != KERNEL_PID && (owner_of(id) == pid || owner_of(id) == p->parent);
}

int uservcpu_bind(struct thread *t, int id)
{
	int error = error_of(vcpu_bind(t, id));

	if (error)
		return error;
	t->own_vcpu = id;
	/* threads on VCPUs of shorter periods may wait for a lock of this thread */
	lock_inherit(t->process);
	return 0;
}

void uservcpu_process_ends(int pid)
{
	const struct process *parent;
	int id;

	for (id = VCPU_FIXED; id < SCHED_VCPUS; id++) {
		if (!uservcpu_owned(id, pid))
			continue;
		/* before others run: from now on no thread can be bound to it */
		process_leave_vcpu(id);
		(void)uservcpu_destroy(id, true, pid);
	}
	/* other programs have run meanwhile, and the parent may have ended */
	parent = process_find(process_find(pid)->parent);
	sched_inherit_past(dispatch_sched(), pid, parent ? parent->pid : KERNEL_PID);
}

bool uservcpu_owned(int id, int pid)
{
	return id >= VCPU_FIXED && sched_vcpu(dispatch_sched(), id) && owner_of(id) == pid;
}

void uservcpu_take(int id)
{
	if (vcpu_destroy(id))
		panic("VCPU %d of a program that leaves is in use", id);
	iovcpu_set(id, IOVCPU_CLASS_ALL, false);
	process_leave_vcpu(id);
}

int uservcpu_put(const struct vcpu *was, int io_class)
{
	int id;

	if (was->params.type == IO_VCPU && count_io() >= IO_OF_ALL)
		return -EAGAIN;
	id = vcpu_restore(was);
	if (id < 0)
		return error_of(id);
	iovcpu_set(id, io_class, true);
	return id;
}
