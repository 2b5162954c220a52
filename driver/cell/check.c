// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides whether a cell may be created, as far as it can be known before anything is taken.
 * Changes nothing.
 */
#include <linux/string.h>
#include "qv.h"
#include "cells.h"
#include "cell/steps.h"

static bool check_name(const char *name)
{
	u32 i;

	for (i = 0; i < QV_NAME_LEN && name[i]; i++)
		if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') ||
		      (i && (name[i] == '-' || name[i] == '_'))))
			return false;
	return i && i < QV_NAME_LEN;
}

/*
 * Direct IPIs, of Linux or a cell, exclude cells with a lock. A cell with direct IPIs is refused
 * while there are cells without them, unless Linux has them as well, and while CPUs are outside the
 * monitor, which an INIT and a SIPI of the cell would start. @self: the cell of @q, if it exists
 */
static int check_ipi(struct qv_reply *r, const struct qv_cell_create *q, const struct qv_cell *self)
{
	const char *direct = q->ipi ? q->name : NULL, *lock = q->lock ? q->name : NULL;
	const char *filtered = NULL;
	struct qv_cell *cell;

	list_for_each_entry(cell, &qv_cells, list) {
		if (cell == self)
			continue;
		if (cell->config->ipi)
			direct = cell->name;
		else
			filtered = cell->name;
		if (cell->config->lock)
			lock = cell->name;
	}
	if (qv_takeover.ipi_direct)
		direct = QV_FRONT_END;
	if (q->ipi && qv_takeover.outside)
		return qv_refuse(r, QV_E_CPU_OFFLINE,
				 "take nosmt, maxcpus= and nr_cpus= "
				 "from the kernel's command line, or leave out `ipi: direct`",
				 "direct IPIs of %s could start %u CPUs "
				 "that are outside the monitor",
				 q->name, qv_takeover.outside);
	if (q->ipi && filtered && !lock && !qv_takeover.ipi_direct)
		return qv_refuse(r, QV_E_LOCKED,
				 "destroy that cell, and create it again after this one; or: "
				 "qvctl enable --ipi direct",
				 "direct IPIs of %s would reach cell '%s', which is without them",
				 q->name, filtered);
	if (!direct || !lock)
		return 0;
	return qv_refuse(r, QV_E_LOCKED,
			 "leave out `lock` or `ipi: direct`; for linux, "
			 "enable QV again without --ipi direct",
			 "direct IPIs of %s would void the lock of cell '%s'", direct, lock);
}

int qv_cell_check_renew(struct qv_reply *r, const struct qv_cell *cell)
{
	return check_ipi(r, cell->config, cell);
}

int qv_cell_check(struct qv_cell_create *q)
{
	struct qv_reply *r = &q->reply;

	if (!check_name(q->name) || !strcmp(q->name, QV_FRONT_END))
		return qv_refuse(r, QV_E_ARGUMENT,
				 "use a-z, 0-9, '-' and '_', up to 31 characters, not 'linux'",
				 "the name of the cell is malformed");
	if (qv_cell_find(q->name))
		return qv_refuse(r, QV_E_NAME_TAKEN, "choose another name, or destroy that cell",
				 "there is a cell '%s' already", q->name);
	if (qv_num_cells >= QV_MAX_CELLS)
		return qv_refuse(r, QV_E_TOO_MANY, "destroy one", "there are %u cells already",
				 qv_num_cells);
	if (qv_takeover.iommu_lost)
		return qv_iommu_refuse_lost(r);
	return check_ipi(r, q, NULL) ?: qv_parts_check(r, q);
}
