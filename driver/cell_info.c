// SPDX-License-Identifier: GPL-2.0-only
/* What is known of a cell. */
#include <linux/string.h>
#include "qv.h"

int qv_cell_info(struct qv_cell_info *info)
{
	struct qv_cell *cell = qv_cell_find(info->name);
	const struct qv_cell_create *q;
	u32 i;

	if (!cell)
		return qv_no_cell(&info->reply, info->name);
	BUILD_BUG_ON(sizeof(info->failure) != sizeof(cell->failure));
	q = cell->config;
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
	return 0;
}
