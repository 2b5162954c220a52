// SPDX-License-Identifier: GPL-2.0-only
/*
 * The modules of a cell: files that its inmate finds behind the image, such as programs. The copies
 * that came with the request stay here for all lives of the cell. parts/image.c loads them.
 */
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "qv.h"
#include "cells.h"

static int modules_check(struct qv_reply *r, const struct qv_cell_create *q)
{
	u64 sum = 0;
	u32 i;

	if (q->num_modules > QV_MAX_MODULES)
		return qv_refuse(r, QV_E_TOO_MANY, "pack several files into one archive",
				 "%u modules are more than the limit of %u", q->num_modules,
				 QV_MAX_MODULES);
	for (i = 0; i < q->num_modules; i++) {
		const struct qv_module *m = &q->modules[i];

		if (!m->len || m->len > QV_MAX_IMAGE)
			return qv_refuse(r, QV_E_IMAGE, "",
					 "module %u is empty or larger than %u MiB", i + 1,
					 QV_MAX_IMAGE >> 20);
		if (strnlen(m->args, QV_MODULE_ARGS_LEN) == QV_MODULE_ARGS_LEN)
			return qv_refuse(r, QV_E_ARGUMENT, "shorten it",
					 "the text of module %u is too long", i + 1);
		sum += m->len;
	}
	if (sum > q->memory)
		return qv_refuse(r, QV_E_IMAGE, "give the cell more memory, or smaller modules",
				 "the modules have %llu KiB, which is more than the cell's memory",
				 sum >> 10);
	return 0;
}

static int modules_take(struct qv_reply *r, struct qv_cell *cell)
{
	const struct qv_cell_create *q = cell->config;
	u32 i;

	for (i = 0; i < q->num_modules; i++) {
		const struct qv_module *m = &q->modules[i];

		cell->modules[i] = vmalloc(m->len);
		if (!cell->modules[i])
			return qv_refuse(r, QV_E_NO_MEMORY, "free memory",
					 "no memory for module %u of the cell", i + 1);
		if (copy_from_user(cell->modules[i], u64_to_user_ptr(m->data), m->len))
			return qv_refuse(r, QV_E_ARGUMENT, "", "module %u is not readable", i + 1);
	}
	return 0;
}

static void modules_show(const struct qv_cell *cell, struct qv_cell_info *info)
{
	u32 i;

	info->num_modules = cell->config->num_modules;
	for (i = 0; i < info->num_modules; i++) {
		info->modules[i].len = cell->config->modules[i].len;
		strscpy(info->modules[i].args, cell->config->modules[i].args,
			sizeof(info->modules[i].args));
	}
}

static void modules_give(struct qv_cell *cell)
{
	u32 i;

	for (i = 0; i < QV_MAX_MODULES; i++) {
		vfree(cell->modules[i]);
		cell->modules[i] = NULL;
	}
}

const struct qv_part qv_part_modules = {
	.check = modules_check,
	.take = modules_take,
	.show = modules_show,
	.give = modules_give,
};
