// SPDX-License-Identifier: GPL-2.0-only
/* The system call with which programs keep histograms in the latency page, next to Quest's own. */
#include <inmate/latency.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../mm/usercopy.h"
#include "machine.h"
#include "syscall.h"
#include "vcpu/vcpuword.h"

#define OF_PROGRAMS	8		/* the others of the page are for VCPUs */
#define NS_MAX		(1000ull * 1000000000)	/* 1000 s */

_Static_assert(PROCESS_NAME + SCHED_NAME <= QV_LATENCY_NAME, "PROGRAM/NAME fits");

static unsigned int of_programs;	/* how many histograms programs have */

/*
 * Returns the number of the histogram PROGRAM/NAME, which it makes if necessary. No VCPU has a
 * slash in its name.
 */
static int histogram_of(const struct process *p, const char *name)
{
	char full[QV_LATENCY_NAME];
	size_t n = strlen(p->name);
	int histogram;

	memcpy(full, p->name, n);
	full[n++] = '/';
	copy_string(full + n, name, sizeof(full) - n);
	histogram = latency_find(full);
	if (histogram < 0 && of_programs < OF_PROGRAMS) {
		histogram = latency_open(full);
		of_programs += histogram >= 0;
	}
	return histogram < 0 ? -ENFILE : histogram;
}

long sys_latency_count(struct call *c)
{
	uint64_t ns = c->arg[1], deadline = c->arg[2];
	char name[SCHED_NAME];
	int n = copy_string_from_user(&c->process->space, name, c->arg[0], sizeof(name));

	if (n < 0)
		return n == -2 ? -ENAMETOOLONG : -EFAULT;
	if (!vcpuword_is_name(name, strlen(name)) || ns > NS_MAX || deadline > NS_MAX)
		return -EINVAL;
	if (machine.alone)
		return 0;
	n = histogram_of(c->process, name);
	if (n < 0)
		return n;
	latency_add_by(n, timer_from_ns(ns), deadline ? timer_from_ns(deadline) : UINT64_MAX);
	return 0;
}
