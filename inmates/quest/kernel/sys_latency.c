// SPDX-License-Identifier: GPL-2.0-only
/* The system call with which programs keep histograms in the latency page, next to Quest's own. */
#include <inmate/latency.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../mm/usercopy.h"
#include "machine.h"
#include "syscall.h"

#define OF_PROGRAMS	8		/* the others of the page are for VCPUs */
#define NAME		16
#define NS_MAX		(1000ull * 1000000000)	/* 1000 s */

_Static_assert(PROCESS_NAME + NAME <= QV_LATENCY_NAME, "PROGRAM/NAME fits");

/* The numbers in the page by the name there, PROGRAM/NAME. No VCPU has a slash in its name. */
static struct {
	char name[QV_LATENCY_NAME];
	int histogram;
} of_programs[OF_PROGRAMS];
static unsigned int used;

static bool is_name(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		      (*c >= '0' && *c <= '9') || *c == '-' || *c == '_' || *c == '.'))
			return false;
	return c != name;
}

/* Returns the number of the histogram, which it makes if necessary. */
static int histogram_of(const struct process *p, const char *name)
{
	char full[QV_LATENCY_NAME];
	size_t n = strlen(p->name);
	unsigned int i;
	int histogram;

	memcpy(full, p->name, n);
	full[n++] = '/';
	copy_string(full + n, name, sizeof(full) - n);
	for (i = 0; i < used; i++)
		if (!strcmp(of_programs[i].name, full))
			return of_programs[i].histogram;
	histogram = used < OF_PROGRAMS ? latency_open(full) : -1;
	if (histogram < 0)
		return -ENFILE;
	memcpy(of_programs[used].name, full, sizeof(full));
	of_programs[used++].histogram = histogram;
	return histogram;
}

long sys_latency_count(struct call *c)
{
	uint64_t ns = c->arg[1], deadline = c->arg[2];
	char name[NAME];
	int n = copy_string_from_user(&c->process->space, name, c->arg[0], sizeof(name));

	if (n < 0)
		return n == -2 ? -ENAMETOOLONG : -EFAULT;
	if (!is_name(name) || ns > NS_MAX || deadline > NS_MAX)
		return -EINVAL;
	if (machine.alone)
		return 0;
	n = histogram_of(c->process, name);
	if (n < 0)
		return n;
	latency_add_by(n, timer_from_ns(ns), deadline ? timer_from_ns(deadline) : UINT64_MAX);
	return 0;
}
