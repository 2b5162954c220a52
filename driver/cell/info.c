// SPDX-License-Identifier: GPL-2.0-only
/* Describes a cell and its parts: the info page for the inmate, the state of the cell for qvctl. */
#include <linux/mm.h>
#include <linux/string.h>
#include <asm/tsc.h>
#include "qv.h"
#include "cells.h"
#include "cell/life.h"
#include "cell/steps.h"

void qv_info_write(struct qv_cell *cell)
{
	struct qv_info *info = page_address(cell->memory.pages[0]) + QV_INFO_GPA;

	BUILD_BUG_ON(sizeof(*info) > PAGE_SIZE);
	BUILD_BUG_ON(sizeof(info->name) != QV_NAME_LEN || sizeof(info->cmdline) != QV_CMDLINE_LEN);
	BUILD_BUG_ON(QV_INFO_MAX_CPUS != QV_MAX_CPUS || QV_INFO_MAX_DEVICES != QV_MAX_DEVICES ||
		     QV_INFO_MAX_BARS != QV_MON_BARS);
	memset(info, 0, PAGE_SIZE);
	info->magic = QV_INFO_MAGIC;
	info->abi = QV_INFO_ABI;
	info->size = sizeof(*info);
	strscpy(info->name, cell->name, sizeof(info->name));
	info->tsc_khz = tsc_khz;
	qv_parts_info(cell, info);
}

void qv_cell_info(struct qv_cell_info *info, struct qv_cell *cell)
{
	BUILD_BUG_ON(sizeof(info->failure) != sizeof(cell->failure));
	info->id = cell->id;
	info->state = cell->state;
	info->started_ns = cell->started_ns;
	info->first_entry_ns = cell->first_entry_ns;
	info->forced = cell->forced;
	info->locked = qv_cell_locked(cell);
	memcpy(&info->failure, &cell->failure, sizeof(info->failure));
	memcpy(&info->last_failure, &cell->last_failure, sizeof(info->last_failure));
	info->failed_ns = cell->failed_ns;
	info->last_failed_ns = cell->last_failed_ns;
	info->failures = cell->failures;
	qv_parts_show(cell, info);
}
