// SPDX-License-Identifier: GPL-2.0-only
/* The state of a cell, as qvctl shows it, and the registers of its CPUs. */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "abi/status.h"
#include "qv.h"
#include "cells.h"

#define SAMPLE_MS	1000	/* deadline for a sample; a CPU usually answers in microseconds */

void qv_cell_info(struct qv_cell_info *info, struct qv_cell *cell)
{
	const struct qv_cell_create *q = cell->config;
	u32 i;

	BUILD_BUG_ON(sizeof(info->failure) != sizeof(cell->failure));
	info->id = cell->id;
	info->state = cell->state;
	info->num_cpus = cell->num_cpus;
	info->boot = q->boot;
	memcpy(info->cpus, cell->cpus, sizeof(info->cpus));
	info->memory = q->memory;
	info->heartbeat = READ_ONCE(cell->console->comm->heartbeat);
	info->started_ns = cell->started_ns;
	info->first_entry_ns = cell->first_entry_ns;
	info->console = q->console;
	info->num_devices = q->num_devices;
	info->bell_rate = q->bell_rate ?: QV_BELL_RATE;
	info->forced = cell->forced;
	info->debug = q->debug;
	memcpy(info->devices, q->devices, sizeof(info->devices));
	for (i = 0; i < cell->num_devices; i++)
		info->devices[i].state = cell->devices[i].state;
	info->num_ports = q->num_ports;
	memcpy(info->ports, q->ports, sizeof(info->ports));
	info->watchdog_ms = q->watchdog_ms;
	info->locked = qv_cell_locked(cell);
	memcpy(&info->failure, &cell->failure, sizeof(info->failure));
	memcpy(&info->last_failure, &cell->last_failure, sizeof(info->last_failure));
	info->failures = cell->failures;
	strscpy(info->image_name, q->image_name, sizeof(info->image_name));
	strscpy(info->cmdline, q->cmdline, sizeof(info->cmdline));
}

/* ---- a sample: the registers of a CPU of a running cell ---- */

static int may_sample(struct qv_cell_sample *s, const struct qv_cell *cell, u32 index)
{
	struct qv_reply *r = &s->reply;

	if (!cell->config->debug)
		return qv_refuse(r, QV_E_NO_DEBUG, "say 'debug: true' in its file and create it again",
				 "cell '%s' does not show its registers while it runs", cell->name);
	if (cell->state != QV_STATE_RUNNING)
		return qv_refuse(r, QV_E_STATE, "", "cell '%s' is not running", cell->name);
	if (index == cell->num_cpus)
		return qv_refuse(r, QV_E_CPU, "see 'qvctl cell show'", "CPU %u is not one of cell '%s'",
				 s->cpu, cell->name);
	return 0;
}

static bool await_sample(const u64 *samples, u64 seen)
{
	u64 end = ktime_get_ns() + SAMPLE_MS * NSEC_PER_MSEC;

	while (smp_load_acquire(samples) == seen) {
		if (ktime_get_ns() > end)
			return false;
		usleep_range(20, 50);
	}
	return true;
}

int qv_cell_sample(struct qv_cell_sample *s, struct qv_cell *cell)
{
	const struct qv_mon_status *status;
	u32 index = 0;
	u64 seen, result;
	int error;

	while (index < cell->num_cpus && cell->cpus[index] != s->cpu)
		index++;
	error = may_sample(s, cell, index);
	if (error)
		return error;
	status = qv_cell_status(cell);
	seen = READ_ONCE(status->samples);
	result = qv_manage(QV_HC_SAMPLE, cell->id | index << 8);
	if (result == QV_ME_STATE)	/* it has failed since qv_watch_now() */
		return qv_refuse(&s->reply, QV_E_STATE, "", "cell '%s' is not running", cell->name);
	if (result)
		return qv_refuse_monitor(&s->reply, result, "look at the cell");
	BUILD_BUG_ON(sizeof(s->at) != sizeof(status->sample));
	if (await_sample(&status->samples, seen))
		memcpy(&s->at, &status->sample, sizeof(s->at));
	if (s->at.cpu != s->cpu)	/* no answer, or a late answer to the sample before */
		return qv_refuse(&s->reply, QV_E_CPU_STUCK, "try again; see 'qvctl log'",
				 "CPU %u of cell '%s' did not say where it stands", s->cpu, cell->name);
	return 0;
}
