// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides whether a cell may be created, as far as it can be known before anything is taken.
 * Changes nothing.
 */
#include <linux/cpu.h>
#include <linux/mm.h>
#include "abi/layout.h"
#include "qv.h"
#include "cells.h"

#define MEMORY_MAX	0xfec00000ull	/* below the APICs */

static bool name_ok(const char *name)
{
	u32 i;

	for (i = 0; i < QV_NAME_LEN && name[i]; i++)
		if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') ||
		      (i && (name[i] == '-' || name[i] == '_'))))
			return false;
	return i && i < QV_NAME_LEN;
}

static int check_cpus(struct qv_cell_create *q)
{
	struct qv_reply *r = &q->reply;
	u32 i, j;

	if (!q->num_cpus || q->num_cpus > QV_MAX_CPUS)
		return qv_refuse(r, QV_E_CPU, "list at least one CPU", "the cell has no CPUs, or too many");
	for (i = 0; i < q->num_cpus; i++) {
		u32 cpu = q->cpus[i];

		if (cpu == 0)
			return qv_refuse(r, QV_E_CPU, "choose others", "CPU 0 never leaves Linux");
		for (j = 0; j < i; j++)
			if (q->cpus[j] == cpu)
				return qv_refuse(r, QV_E_CPU, "list each CPU once", "CPU %u is listed twice", cpu);
		if (cpu < nr_cpu_ids && qv_cpu_in_cell(cpu))
			return qv_refuse(r, QV_E_CPU, "see 'qvctl cell list' for who has it",
					 "CPU %u belongs to another cell", cpu);
		if (qv_cpu_index(cpu) < 0)
			return qv_refuse(r, QV_E_CPU, "choose one that is (qvctl status, qvctl doctor)",
					 "CPU %u does not exist or is not under the monitor", cpu);
		if (!cpu_online(cpu))
			return qv_refuse(r, QV_E_CPU_OFFLINE, "bring it online first: echo 1 > /sys/devices/system/cpu/cpuN/online",
					 "CPU %u is offline", cpu);
	}
	return 0;
}

static int check_ports(struct qv_cell_create *q)
{
	int error = 0;
	u32 i;

	for (i = 0; i < q->num_ports && !error; i++)
		error = q->ports[i].last < q->ports[i].first ?
			qv_refuse(&q->reply, QV_E_ARGUMENT, "", "port range %u ends before it begins", i) :
			qv_ports_check(&q->reply, NULL, q->ports[i].first, q->ports[i].last);
	return error;
}

static int check_options(struct qv_cell_create *q)
{
	if (q->watchdog_ms && (q->watchdog_ms < QV_WATCHDOG_MIN || q->watchdog_ms > QV_WATCHDOG_MAX))
		return qv_refuse(&q->reply, QV_E_ARGUMENT, "give 100 to 3600000 ms, or 0 for none",
				 "a watchdog of %u ms cannot be", q->watchdog_ms);
	if (q->bell_rate > QV_BELL_RATE_MAX)
		return qv_refuse(&q->reply, QV_E_ARGUMENT, "give 1 to 1000 a millisecond, or 0 for 10",
				 "%u doorbells a millisecond cannot be", q->bell_rate);
	if (q->console > 1 || q->lock > QV_LOCK_START)
		return qv_refuse(&q->reply, QV_E_ARGUMENT, "console: 0 or 1; lock: 0 to 2", "console or lock is malformed");
	if (q->debug > 1)
		return qv_refuse(&q->reply, QV_E_ARGUMENT, "give 0 or 1", "debug is malformed");
	return 0;
}

int qv_cell_check(struct qv_cell_create *q)
{
	struct qv_reply *r = &q->reply;
	int error;

	if (!name_ok(q->name) || !strcmp(q->name, QV_FRONT_END))
		return qv_refuse(r, QV_E_ARGUMENT, "use a-z, 0-9, '-' and '_', up to 31 characters, not 'linux'",
				 "the name of the cell is malformed");
	if (qv_cell_find(q->name))
		return qv_refuse(r, QV_E_NAME_TAKEN, "choose another name, or destroy that one",
				 "there is a cell '%s' already", q->name);
	if (qv_num_cells >= QV_MAX_CELLS)
		return qv_refuse(r, QV_E_TOO_MANY, "destroy one", "there are %u cells already", qv_num_cells);
	if (q->boot != QV_BOOT_MULTIBOOT2)
		return qv_refuse(r, QV_E_ARGUMENT, "use multiboot2", "boot protocol %u is not known", q->boot);
	if (!q->memory || q->memory % QV_HUGE)
		return qv_refuse(r, QV_E_ARGUMENT, "give a multiple of 2 MiB", "the memory size is malformed");
	if (q->memory > MEMORY_MAX)
		return qv_refuse(r, QV_E_ARGUMENT, "give it less",
				 "a cell has at most %llu MiB, up to where its APIC lies", MEMORY_MAX >> 20);
	if (q->memory / PAGE_SIZE > totalram_pages())
		return qv_refuse(r, QV_E_NO_MEMORY, "give the cell less",
				 "the cell wants %llu MiB, the machine has %lu MiB", q->memory >> 20,
				 totalram_pages() >> (20 - PAGE_SHIFT));
	if (q->memory / PAGE_SIZE > si_mem_available())	/* else Linux would kill programs for it */
		return qv_refuse(r, QV_E_NO_MEMORY, "end programs, or give the cell less",
				 "the cell wants %llu MiB, Linux can do without %ld MiB", q->memory >> 20,
				 si_mem_available() >> (20 - PAGE_SHIFT));
	if (!q->image_len || q->image_len > QV_MAX_IMAGE)
		return qv_refuse(r, QV_E_IMAGE, "", "the image is empty or larger than %u MiB", QV_MAX_IMAGE >> 20);
	if (strnlen(q->cmdline, QV_CMDLINE_LEN) == QV_CMDLINE_LEN)
		return qv_refuse(r, QV_E_ARGUMENT, "shorten it", "the command line is too long");
	if (q->num_ports > QV_MAX_PORTS)
		return qv_refuse(r, QV_E_TOO_MANY, "", "more than %u port ranges", QV_MAX_PORTS);
	if (q->num_devices > QV_MAX_DEVICES)
		return qv_refuse(r, QV_E_TOO_MANY, "", "more than %u PCI functions", QV_MAX_DEVICES);
	error = check_ports(q);
	if (!error)
		error = check_options(q);
	return error ? error : check_cpus(q);
}
