// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of a cell: its doorbell, watchdog, lock, debugging and the mode of its APICs. They take
 * nothing from Linux.
 */
#include "abi/create.h"
#include "qv.h"
#include "cells.h"

#define DOORBELL_VECTOR	0x21

/* Checks that the machine has the level of protection that the cell asks for */
static int options_check_level(struct qv_reply *r, const struct qv_cell_create *q)
{
	if (q->dma_level > QV_LEVEL_FULL)
		return qv_refuse(r, QV_E_ARGUMENT, "give 0 to 3", "dma_level is malformed");
	if (q->dma_level > qv_iommu_level())
		return qv_refuse(r, QV_E_DMA,
				 "see `qvctl doctor`, or leave out `dma-protection`",
				 "the machine is not protected from DMA as the cell wants: %s",
				 qv_iommu_why());
	return 0;
}

static int options_check(struct qv_reply *r, const struct qv_cell_create *q)
{
	if (q->watchdog_ms &&
	    (q->watchdog_ms < QV_WATCHDOG_MIN || q->watchdog_ms > QV_WATCHDOG_MAX))
		return qv_refuse(r, QV_E_ARGUMENT, "give 100 to 3600000 ms, or 0 for none",
				 "a watchdog of %u ms cannot be", q->watchdog_ms);
	if (q->bell_rate > QV_BELL_RATE_MAX)
		return qv_refuse(r, QV_E_ARGUMENT, "give 1 to 1000 a millisecond, or 0 for 10",
				 "%u doorbells a millisecond cannot be", q->bell_rate);
	if (q->console > 1 || q->lock > QV_LOCK_START)
		return qv_refuse(r, QV_E_ARGUMENT, "console: 0 or 1; lock: 0 to 2",
				 "console or lock is malformed");
	if (q->ipi > 1)
		return qv_refuse(r, QV_E_ARGUMENT, "give 0 or 1", "ipi is malformed");
	if (q->debug > 1)
		return qv_refuse(r, QV_E_ARGUMENT, "give 0 or 1", "debug is malformed");
	if (q->apic > QV_APIC_X2APIC)
		return qv_refuse(r, QV_E_ARGUMENT, "give 0 to 2", "apic is malformed");
	if (q->apic == QV_APIC_X2APIC && !qv_takeover.x2apic && !qv_takeover.offers_x2apic)
		return qv_refuse(r, QV_E_UNSUPPORTED, "leave out the key, or: apic: machine",
				 "the processors have no x2APIC mode, or other APIC ids in it");
	return options_check_level(r, q);
}

static u32 options_bell_rate(const struct qv_cell *cell)
{
	return cell->config->bell_rate ?: QV_BELL_RATE;
}

static void options_info(const struct qv_cell *cell, struct qv_info *info)
{
	info->doorbell_vector = DOORBELL_VECTOR;
	info->x2apic = cell->x2apic;
	info->may_lock = cell->config->lock != QV_LOCK_NEVER;
}

static void options_describe(const struct qv_cell *cell, struct qv_mon_create *m)
{
	m->doorbell_vector = DOORBELL_VECTOR;
	m->lock = cell->config->lock;
	m->debug = cell->config->debug;
	m->ipi_direct = cell->config->ipi;
	m->bell_rate = options_bell_rate(cell);
}

static void options_show(const struct qv_cell *cell, struct qv_cell_info *info)
{
	info->bell_rate = options_bell_rate(cell);
	info->debug = cell->config->debug;
	info->apic = cell->config->apic;
	info->x2apic = cell->x2apic;
	info->ipi = cell->config->ipi;
	info->dma_level = cell->config->dma_level;
	info->lock = cell->config->lock;
	info->watchdog_ms = cell->config->watchdog_ms;
}

const struct qv_part qv_part_options = {
	.check = options_check,
	.info = options_info,
	.describe = options_describe,
	.show = options_show,
};
