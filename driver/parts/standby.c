// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cell on standby begins again by itself after a failure, also while Linux is dead. The end of
 * its memory is a ROM, which it cannot write. At each start its boot CPU enters the ROM, whose code
 * restores the whole memory from copies of the pages that are not zero, and then enters the image.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "abi/create.h"
#include "qv.h"
#include "cells.h"
#include "parts/memory.h"
#include "parts/standby.h"

#define STANDBY_MAX_MS	3600000

struct rom_step {
	u32 to;			/* guest-physical address */
	u32 from;		/* address in the ROM; 0: fill with zeros */
	u32 words;		/* of 4 bytes */
};

#define ROM_MAX_STEPS	1024

/* The code of the ROM reads this. All addresses are guest-physical */
struct rom_head {
	u32 eip, eax, ebx;	/* entry of the image */
	u32 num_devices;
	/* value for port 0xCF8, which selects the command register of each device */
	u32 command[QV_MAX_DEVICES];
	u32 num;
	struct rom_step step[ROM_MAX_STEPS];
};

/* A ROM that is being filled */
struct rom {
	struct qv_cell *cell;
	u32 start, end;		/* guest-physical addresses: of the ROM, of its next copy */
	struct rom_head head;
};

/* ---- how large it is ---- */

/* A piece of a file touches at most two pages more than its length has */
#define ROM_SLACK	((32 + QV_MAX_MODULES + 2) * 2 * PAGE_SIZE)

u32 qv_standby_pages(const struct qv_cell_create *q)
{
	u64 bytes = ROM_HEAD_LEN + ROM_SLACK + q->image_len;
	u32 i;

	for (i = 0; i < q->num_modules; i++)
		bytes += q->modules[i].len;
	return q->standby ? DIV_ROUND_UP(bytes, QV_HUGE) : 0;
}

static int standby_check(struct qv_reply *r, const struct qv_cell_create *q)
{
	if (q->standby > QV_STANDBY_MAX || !q->standby != !q->standby_ms ||
	    q->standby_ms > STANDBY_MAX_MS)
		return qv_refuse(r, QV_E_ARGUMENT, "give 1 to 16 in 1 ms to 1 hour, or 0 in 0",
				 "standby is malformed");
	if (q->standby && q->num_dynamic)
		return qv_refuse(r, QV_E_ARGUMENT, "give it channels by name, or no standby",
				 "a cell on standby has no channels at run time");
	if (q->standby && q->memory / QV_HUGE <= qv_standby_pages(q))
		return qv_refuse(r, QV_E_ARGUMENT, "give the cell more memory",
				 "the copies for standby take %u MiB, and the cell has %llu MiB",
				 qv_standby_pages(q) * 2, q->memory >> 20);
	return 0;
}

/* ---- what it has ---- */

/* Adds a step, or makes the last one longer. @from is 0, or the end of the last copy */
static void rom_step(struct rom *rom, u32 to, u32 from, u32 len)
{
	struct rom_step *last = &rom->head.step[rom->head.num - 1];

	if (rom->head.num && last->to + last->words * 4 == to && !last->from == !from) {
		last->words += len / 4;
		return;
	}
	rom->head.step[rom->head.num++] = (struct rom_step){ to, from, len / 4 };
}

/* Returns false if the ROM has no room for the page */
static bool rom_page(struct rom *rom, u32 gpa)
{
	struct qv_memory *m = &rom->cell->memory;
	const void *page = page_address(m->pages[gpa / QV_HUGE]) + gpa % QV_HUGE;

	/* near the end of the table, copy zeros too: steps become fewer */
	if (rom->head.num < ROM_MAX_STEPS - 8 && !memchr_inv(page, 0, PAGE_SIZE)) {
		rom_step(rom, gpa, 0, PAGE_SIZE);
		return true;
	}
	if (!qv_memory_write(m, rom->end, page, PAGE_SIZE))
		return false;
	rom_step(rom, gpa, rom->end, PAGE_SIZE);
	rom->end += PAGE_SIZE;
	return true;
}

/*
 * In the window, the inmate's part of the comm page is zero again, except for counters that Linux
 * compares: of keys, of the stream, of the screen, of `leave`
 */
static void rom_window(struct rom *rom)
{
	BUILD_BUG_ON(offsetof(struct qv_comm, entered_tsc) != ROM_ENTERED - QV_COMM_GPA);
	rom_step(rom, QV_COMM_GPA + offsetof(struct qv_comm, line_status), 0,
		 offsetof(struct qv_comm, leave) - offsetof(struct qv_comm, line_status));
	rom_step(rom, QV_RECOVERY_GPA, 0, QV_RECOVERY_LEN);
	rom_step(rom, QV_LATENCY_GPA, 0, PAGE_SIZE);
}

static bool rom_fill(struct rom *rom)
{
	u32 gpa;

	/* first, so that Linux does not take an earlier panic for one of the new life */
	rom_step(rom, QV_COMM_GPA, 0, offsetof(struct qv_comm, keys_tail));
	for (gpa = 0; gpa < rom->start; gpa += PAGE_SIZE) {
		if (gpa == QV_SCREEN_GPA)
			gpa += QV_CONSOLE_LEN;
		if (!rom_page(rom, gpa))
			return false;
		cond_resched();
	}
	rom_window(rom);
	return true;
}

static void rom_finish(struct rom *rom)
{
	const struct qv_cell *cell = rom->cell;
	struct rom_head *h = &rom->head;
	struct qv_memory *m = &rom->cell->memory;

	BUILD_BUG_ON(ROM_HEAD + sizeof(*h) > ROM_HEAD_LEN);
	BUILD_BUG_ON(offsetof(struct rom_head, num_devices) != ROM_DEVICES ||
		     offsetof(struct rom_head, command) != ROM_COMMANDS ||
		     offsetof(struct rom_head, num) != ROM_NUM ||
		     offsetof(struct rom_head, step) != ROM_STEPS ||
		     sizeof(struct rom_step) != ROM_STEP_LEN);
	h->eip = cell->entry.eip;
	h->eax = cell->entry.eax;
	h->ebx = cell->entry.ebx;
	for (; h->num_devices < cell->num_devices; h->num_devices++)
		h->command[h->num_devices] =
			1u << 31 | cell->config->devices[h->num_devices].bdf << 8 | 4;
	qv_memory_write(m, rom->start, qv_standby_rom, qv_standby_rom_end - qv_standby_rom);
	qv_memory_write(m, rom->start + ROM_HEAD, h, sizeof(*h));
}

static int standby_load(struct qv_reply *r, struct qv_cell *cell)
{
	struct rom *rom;
	int error = 0;

	if (!cell->rom_pages)
		return 0;
	rom = kvzalloc(sizeof(*rom), GFP_KERNEL);
	if (!rom)
		return qv_refuse(r, QV_E_NO_MEMORY, "free memory", "no memory for standby");
	rom->cell = cell;
	rom->start = qv_memory_ram(cell);
	rom->end = rom->start + ROM_HEAD_LEN;
	if (rom_fill(rom))
		rom_finish(rom);
	else
		error = qv_refuse(r, QV_E_IMAGE, "give the cell no standby",
				  "the copies of all that is loaded do not fit into %u MiB",
				  cell->rom_pages * 2);
	cell->entry = (struct qv_mon_entry){ .eip = rom->start, .ebx = rom->start + ROM_HEAD };
	kvfree(rom);
	return error;
}

static void standby_info(const struct qv_cell *cell, struct qv_info *info)
{
	info->standby = !!cell->config->standby;
}

static void standby_describe(const struct qv_cell *cell, struct qv_mon_create *m)
{
	m->standby = cell->config->standby;
	m->standby_ms = cell->config->standby_ms;
}

static void standby_show(const struct qv_cell *cell, struct qv_cell_info *info)
{
	info->standby = cell->config->standby;
	info->standby_ms = cell->config->standby_ms;
	info->restarts = cell->restarts;
	info->restart_ns = cell->restart_ns;
}

const struct qv_part qv_part_standby = {
	.check = standby_check,
	.take = standby_load,
	.info = standby_info,
	.describe = standby_describe,
	.show = standby_show,
	.reset = standby_load,
};
