// SPDX-License-Identifier: GPL-2.0-only
/* A cell's I/O ports: a port belongs to one cell, by its list or by a device that it has. */
#include "abi/create.h"
#include "qv.h"
#include "cells.h"

static bool ranges_overlap(u32 first, u32 last, u64 other, u64 other_last)
{
	return first <= other_last && other <= last;
}

static bool cell_has_ports(const struct qv_cell *cell, u32 first, u32 last)
{
	u32 i, b;

	for (i = 0; i < cell->config->num_ports; i++)
		if (ranges_overlap(first, last, cell->config->ports[i].first, cell->config->ports[i].last))
			return true;
	for (i = 0; i < cell->num_devices; i++)
		for (b = 0; b < QV_MON_BARS; b++) {
			const struct qv_mon_bar *bar = &cell->devices[i].monitor.bars[b];

			if (bar->ports && bar->len && ranges_overlap(first, last, bar->base, bar->base + bar->len - 1))
				return true;
		}
	return false;
}

int qv_ports_check(struct qv_reply *r, const struct qv_cell *self, u32 first, u32 last)
{
	struct qv_cell *cell;

	list_for_each_entry(cell, &qv_cells, list)
		if (cell != self && cell_has_ports(cell, first, last))
			return qv_refuse(r, QV_E_PORT, "give each port to one cell, or destroy that one",
					 "ports %#x-%#x overlap ports of cell '%s': of its list, or of a device that it has",
					 first, last, cell->name);
	return 0;
}

void qv_ports_describe(const struct qv_cell *cell, struct qv_mon_create *m)
{
	u32 i;

	m->num_ports = cell->config->num_ports;
	for (i = 0; i < m->num_ports; i++) {
		m->ports[i].first = cell->config->ports[i].first;
		m->ports[i].last = cell->config->ports[i].last;
	}
}
