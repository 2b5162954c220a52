// SPDX-License-Identifier: GPL-2.0-only
/* A cell's I/O ports: a port belongs to one cell, by its list or by a device that it has. */
#include "abi/create.h"
#include "qv.h"
#include "cells.h"
#include "parts/ports.h"

static bool ports_overlap(u32 first, u32 last, u64 other, u64 other_last)
{
	return first <= other_last && other <= last;
}

static bool ports_in_cell(const struct qv_cell *cell, u32 first, u32 last)
{
	u32 i, b;

	for (i = 0; i < cell->config->num_ports; i++)
		if (ports_overlap(first, last, cell->config->ports[i].first,
				  cell->config->ports[i].last))
			return true;
	for (i = 0; i < cell->num_devices; i++)
		for (b = 0; b < QV_MON_BARS; b++) {
			const struct qv_mon_bar *bar = &cell->devices[i].monitor.bars[b];

			if (bar->ports && bar->len && !qv_pci_waits(&cell->devices[i]) &&
			    ports_overlap(first, last, bar->base, bar->base + bar->len - 1))
				return true;
		}
	return false;
}

int qv_ports_refuse_taken(struct qv_reply *r, const struct qv_cell *self, u32 first, u32 last)
{
	struct qv_cell *cell;

	list_for_each_entry(cell, &qv_cells, list)
		if (cell != self && ports_in_cell(cell, first, last))
			return qv_refuse(r, QV_E_PORT,
					 "give each port to one cell, or destroy that cell",
					 "ports %#x-%#x overlap ports of cell '%s': of its list, "
					 "or of a device that it has",
					 first, last, cell->name);
	return 0;
}

static int ports_check(struct qv_reply *r, const struct qv_cell_create *q)
{
	int error = 0;
	u32 i;

	if (q->num_ports > QV_MAX_PORTS)
		return qv_refuse(r, QV_E_TOO_MANY, "", "more than %u port ranges", QV_MAX_PORTS);
	for (i = 0; i < q->num_ports && !error; i++)
		error = q->ports[i].last < q->ports[i].first ?
			qv_refuse(r, QV_E_ARGUMENT, "", "port range %u ends before it begins", i) :
			qv_ports_refuse_taken(r, NULL, q->ports[i].first, q->ports[i].last);
	return error;
}

static void ports_describe(const struct qv_cell *cell, struct qv_mon_create *m)
{
	u32 i;

	m->num_ports = cell->config->num_ports;
	for (i = 0; i < m->num_ports; i++) {
		m->ports[i].first = cell->config->ports[i].first;
		m->ports[i].last = cell->config->ports[i].last;
	}
}

static void ports_show(const struct qv_cell *cell, struct qv_cell_info *info)
{
	info->num_ports = cell->config->num_ports;
	memcpy(info->ports, cell->config->ports, sizeof(info->ports));
}

const struct qv_part qv_part_ports = {
	.check = ports_check,
	.describe = ports_describe,
	.show = ports_show,
};
