// SPDX-License-Identifier: GPL-2.0-only
/* The list of cells, in order of creation. */
#include <linux/mm.h>
#include <linux/string.h>
#include "abi/layout.h"
#include "abi/status.h"
#include "qv.h"
#include "cells.h"

LIST_HEAD(qv_cells);
u32 qv_num_cells;

struct qv_cell *qv_cell_find(const char *name)
{
	struct qv_cell *cell;

	list_for_each_entry(cell, &qv_cells, list)
		if (!strncmp(cell->name, name, QV_NAME_LEN))
			return cell;
	return NULL;
}

struct qv_mon_status *qv_cell_status(struct qv_cell *cell)
{
	return page_address(cell->monitor_mem) + QV_OFF_STATUS;
}

int qv_no_cell(struct qv_reply *r, const char *name)
{
	return qv_refuse(r, QV_E_NO_CELL, "see 'qvctl cell list'", "there is no cell '%.31s'",
			 name);
}
