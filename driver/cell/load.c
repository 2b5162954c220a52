// SPDX-License-Identifier: GPL-2.0-only
/* Loading: before each life of a cell, writes the image and the info page into its memory. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <asm/tsc.h>
#include "abi/create.h"
#include "abi/layout.h"
#include "abi/status.h"
#include "qv.h"
#include "cells.h"
#include "multiboot2.h"

static bool load_write(void *ctx, u64 gpa, const void *from, u64 len)
{
	return qv_memory_write(ctx, gpa, from, len);
}

static bool load_zero(void *ctx, u64 gpa, u64 len)
{
	return qv_memory_zero(ctx, gpa, len);
}

static void load_info_page(struct qv_cell *cell)
{
	const struct qv_mon_status *front = qv_front_status();
	struct qv_info *info = page_address(cell->memory.pages[0]) + QV_INFO_GPA;
	u32 i;

	BUILD_BUG_ON(sizeof(*info) > PAGE_SIZE);
	BUILD_BUG_ON(sizeof(info->name) != QV_NAME_LEN || sizeof(info->cmdline) != QV_CMDLINE_LEN);
	BUILD_BUG_ON(QV_INFO_MAX_CPUS != QV_MAX_CPUS || QV_INFO_MAX_DEVICES != QV_MAX_DEVICES ||
		     QV_INFO_MAX_BARS != QV_MON_BARS);
	memset(info, 0, PAGE_SIZE);
	info->magic = QV_INFO_MAGIC;
	info->abi = QV_INFO_ABI;
	info->size = sizeof(*info);
	strscpy(info->name, cell->name, sizeof(info->name));
	info->memory = (u64)cell->memory.num * QV_HUGE;
	info->tsc_khz = tsc_khz;
	info->x2apic = qv_takeover.x2apic;
	info->num_cpus = cell->num_cpus;
	info->doorbell_vector = QV_DOORBELL_VECTOR;
	info->may_lock = cell->config->lock != QV_LOCK_NEVER;
	for (i = 0; i < cell->num_cpus; i++)
		info->apic_ids[i] = front->cpus[qv_cpu_index(cell->cpus[i])].apic_id;
	strscpy(info->cmdline, cell->config->cmdline, sizeof(info->cmdline));
	qv_pci_info(cell, info);
}

int qv_cell_load(struct qv_reply *r, struct qv_cell *cell)
{
	struct mb2_target target = {
		.size = (u64)cell->memory.num * QV_HUGE, .ctx = &cell->memory,
		.write = load_write, .zero = load_zero,
	};
	struct mb2_work *work = kvzalloc(sizeof(*work), GFP_KERNEL);
	struct mb2_entry entry;
	const char *why;

	if (!work)
		return qv_refuse(r, QV_E_NO_MEMORY, "", "no memory to load the image");
	why = mb2_load(cell->image, cell->config->image_len, &target, cell->config->cmdline, &entry, work);
	kvfree(work);
	if (why)
		return qv_refuse(r, QV_E_IMAGE, "check the image: is it a multiboot2 ELF for x86?",
				 "the image '%.60s' cannot be loaded: %s", cell->config->image_name, why);
	cell->entry = (struct qv_mon_entry){ .eip = entry.eip, .eax = entry.eax, .ebx = entry.ebx };
	load_info_page(cell);
	return 0;
}
