// SPDX-License-Identifier: GPL-2.0-only
/* System calls that wait for a lock, and that pass it on. */
#include "../mm/usercopy.h"
#include "clock.h"
#include "lock.h"
#include "machine.h"
#include "syscall.h"

/* The time limit is a time of CLOCK_MONOTONIC; NULL: no limit. */
long sys_lock_word(struct call *c)
{
	struct timespec t;

	if (c->arg[0] % sizeof(uint32_t))
		return -EINVAL;
	if (!c->arg[1])
		return lock_take(c->arg[0], UINT64_MAX);
	if (!copy_from_user(&c->process->space, &t, c->arg[1], sizeof(t)))
		return -EFAULT;
	return clock_sane(&t) ? lock_take(c->arg[0], clock_after(c->process->epoch, &t)) : -EINVAL;
}

long sys_unlock_word(struct call *c)
{
	return c->arg[0] % sizeof(uint32_t) ? -EINVAL : lock_release(c->arg[0]);
}
