// SPDX-License-Identifier: GPL-2.0-only
/* System calls: a driver that is a program. */
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../mm/usercopy.h"
#include "syscall.h"
#include "userdriver.h"

#define LONGEST_US	1000000

/* Other threads of the program run meanwhile, so `to` is checked again. */
long sys_driver_open(struct call *c)
{
	const struct space *s = &c->process->space;
	struct quest_nic to;
	int error;

	if (!user_writable(s, c->arg[0], sizeof(to)))
		return -EFAULT;
	error = userdriver_open(c->process, &to);
	if (error || copy_to_user(s, c->arg[0], &to, sizeof(to)))
		return error;
	userdriver_leave(c->process);
	return -EFAULT;
}

long sys_driver_wait(struct call *c)
{
	uint64_t us = c->arg[1] < LONGEST_US ? c->arg[1] : LONGEST_US;

	return userdriver_wait(c->process, (uint32_t)c->arg[0], rdtsc() + timer_from_us(us));
}
