// SPDX-License-Identifier: GPL-2.0-only
/* System calls: time, memory, names. */
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../arch/user.h"
#include "../mm/usercopy.h"
#include "../user/include/quest/types.h"
#include "clock.h"
#include "machine.h"
#include "process/heap.h"
#include "syscall.h"

#define SLEEP_MAX_US	(1ull << 42)	/* 50 days */
#define RELEASE		"1"

static long put(struct call *c, const void *data, size_t n)
{
	return copy_to_user(&c->process->space, c->arg[0], data, n) ? 0 : -EFAULT;
}

long sys_usleep(struct call *c)
{
	if (c->arg[0] > SLEEP_MAX_US)
		return -EINVAL;
	return clock_sleep(rdtsc() + timer_from_us(c->arg[0]));
}

long sys_gettimeofday(struct call *c)
{
	uint64_t us = timer_to_us(rdtsc() - c->process->epoch);
	struct timeval tv = { .tv_sec = (long)(us / 1000000), .tv_usec = (long)(us % 1000000) };

	return c->arg[1] ? -EINVAL : put(c, &tv, sizeof(tv));
}

long sys_times(struct call *c)
{
	struct quest_tms t = {
		.tms_utime = timer_to_us(process_used(c->process)),
		.tms_cutime = timer_to_us(c->process->children_used),
	};

	return put(c, &t, sizeof(t));
}

/*
 * Moves the end of the heap, and returns the old end. Threads that move it at the same time wait
 * for each other.
 */
long sys_sbrk(struct call *c)
{
	struct process *p = c->process;
	int64_t delta = (int64_t)c->arg[0];
	uint64_t was;
	bool moved;

	if (!process_take_heap(p))
		return process_interrupted(p);
	was = p->space.brk;
	moved = space_move_brk(&p->space, delta);
	process_give_heap(p);
	if (!moved)
		return delta < 0 ? -EINVAL : -ENOMEM;
	return (long)was;
}

long sys_meminfo(struct call *c)
{
	struct meminfo m = {
		.total_kib = pages_managed() * PAGE_SIZE >> 10,
		.free_kib = pages_unkept() * PAGE_SIZE >> 10,
		.own_kib = c->process->space.pages * PAGE_SIZE >> 10,
	};

	return put(c, &m, sizeof(m));
}

long sys_uname(struct call *c)
{
	struct quest_utsname u = { .sysname = "Quest", .release = RELEASE, .machine = "x86_64" };

	copy_string(u.nodename, machine.alone ? "alone" : cell_info()->name, sizeof(u.nodename));
	return put(c, &u, sizeof(u));
}
