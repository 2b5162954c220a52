// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cell's image. Before each life of the cell it is loaded into its memory with the cell's
 * modules, from the copies that came with the request.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "abi/create.h"
#include "abi/layout.h"
#include "qv.h"
#include "cells.h"
#include "cell/multiboot2.h"
#include "parts/memory.h"

static int image_check(struct qv_reply *r, const struct qv_cell_create *q)
{
	if (q->boot != QV_BOOT_MULTIBOOT2)
		return qv_refuse(r, QV_E_ARGUMENT, "use multiboot2",
				 "boot protocol %u is not known", q->boot);
	if (!q->image_len || q->image_len > QV_MAX_IMAGE)
		return qv_refuse(r, QV_E_IMAGE, "", "the image is empty or larger than %u MiB",
				 QV_MAX_IMAGE >> 20);
	if (strnlen(q->cmdline, QV_CMDLINE_LEN) == QV_CMDLINE_LEN)
		return qv_refuse(r, QV_E_ARGUMENT, "shorten it", "the command line is too long");
	return 0;
}

static bool image_write(void *ctx, u64 gpa, const void *from, u64 len)
{
	return qv_memory_write(ctx, gpa, from, len);
}

static bool image_zero(void *ctx, u64 gpa, u64 len)
{
	return qv_memory_zero(ctx, gpa, len);
}

/* Lists what the image finds in its boot information */
static void image_give(struct mb2_given *given, const struct qv_cell *cell)
{
	const struct qv_cell_create *q = cell->config;
	u32 i;

	given->cmdline = q->cmdline;
	given->num_modules = q->num_modules;
	for (i = 0; i < q->num_modules; i++)
		given->modules[i] = (struct mb2_module){
			.bytes = cell->modules[i], .len = q->modules[i].len,
			.args = q->modules[i].args,
		};
}

static int image_load(struct qv_reply *r, struct qv_cell *cell)
{
	struct mb2_target target = {
		.size = qv_memory_ram(cell), .ctx = &cell->memory,
		.write = image_write, .zero = image_zero,
	};
	struct mb2_work *work = kvzalloc(sizeof(*work), GFP_KERNEL);
	struct mb2_entry entry;
	const char *why;
	int error = 0;

	if (!work)
		return qv_refuse(r, QV_E_NO_MEMORY, "", "no memory to load the image");
	image_give(&work->given, cell);
	why = mb2_load(cell->image, cell->config->image_len, &target, &entry, work);
	if (why)
		error = qv_refuse(r, QV_E_IMAGE, work->fits ?
				  "check the image: is it a multiboot2 ELF for x86?" :
				  "give the cell more memory",
				  "the image '%.60s' cannot be loaded: %s",
				  cell->config->image_name, why);
	kvfree(work);
	if (!error)
		cell->entry = (struct qv_mon_entry){ .eip = entry.eip, .eax = entry.eax,
						     .ebx = entry.ebx };
	return error;
}

static void image_info(const struct qv_cell *cell, struct qv_info *info)
{
	strscpy(info->cmdline, cell->config->cmdline, sizeof(info->cmdline));
}

static void image_describe(const struct qv_cell *cell, struct qv_mon_create *m)
{
	m->entry = cell->entry;
}

static void image_show(const struct qv_cell *cell, struct qv_cell_info *info)
{
	info->boot = cell->config->boot;
	strscpy(info->image_name, cell->config->image_name, sizeof(info->image_name));
	strscpy(info->cmdline, cell->config->cmdline, sizeof(info->cmdline));
}

const struct qv_part qv_part_image = {
	.check = image_check,
	.take = image_load,
	.info = image_info,
	.describe = image_describe,
	.show = image_show,
	.reset = image_load,
};
