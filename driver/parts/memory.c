// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cell's memory: scattered 2 MiB pages from the pool or from the buddy allocator, and the
 * contiguous memory of the cell's monitor instance.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>
#include "abi/create.h"
#include "abi/layout.h"
#include "qv.h"
#include "cells.h"
#include "parts/memory.h"
#include "parts/pool.h"
#include "parts/standby.h"

#define HUGE_ORDER	get_order(QV_HUGE)
#define MEMORY_MAX	0xfec00000ull	/* the cell's RAM ends below the addresses of the APICs */

static int memory_check(struct qv_reply *r, const struct qv_cell_create *q)
{
	long free;

	if (!q->memory || q->memory % QV_HUGE)
		return qv_refuse(r, QV_E_ARGUMENT, "give a multiple of 2 MiB",
				 "the memory size is malformed");
	if (q->memory > MEMORY_MAX)
		return qv_refuse(r, QV_E_ARGUMENT, "give it less",
				 "a cell has at most %llu MiB, up to where its APIC lies",
				 MEMORY_MAX >> 20);
	if (q->memory / PAGE_SIZE > totalram_pages())
		return qv_refuse(r, QV_E_NO_MEMORY, "give the cell less",
				 "the cell wants %llu MiB, the machine has %lu MiB",
				 q->memory >> 20, totalram_pages() >> (20 - PAGE_SHIFT));
	/* without this check Linux would kill programs to get the memory */
	free = si_mem_available() + qv_pool_free_bytes() / PAGE_SIZE;
	if (q->memory / PAGE_SIZE > free)
		return qv_refuse(r, QV_E_NO_MEMORY, "end programs, or give the cell less",
				 "the cell wants %llu MiB, Linux can do without %ld MiB",
				 q->memory >> 20, free >> (20 - PAGE_SHIFT));
	return 0;
}

static void memory_free(struct qv_memory *m)
{
	while (m->num) {
		qv_pool_give(m->pages[--m->num]);
		cond_resched();
	}
	kvfree(m->pages);
	m->pages = NULL;
}

/* Returns a page of 2 MiB with zeros, from the pool or from Linux, or NULL */
static struct page *memory_page(void)
{
	struct page *page;

	if (qv_pool_take(&page, 1))
		return page;
	return alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_RETRY_MAYFAIL,
			   HUGE_ORDER);
}

static int memory_alloc(struct qv_memory *m, u32 num)
{
	m->pages = kvcalloc(num, sizeof(*m->pages), GFP_KERNEL);
	if (!m->pages)
		return -ENOMEM;
	for (m->num = qv_pool_take(m->pages, num); m->num < num; m->num++) {
		m->pages[m->num] = memory_page();
		if (!m->pages[m->num]) {
			memory_free(m);
			return -ENOMEM;
		}
		cond_resched();
	}
	/* The monitor accepts only ascending pages, so it rejects a page that is listed twice */
	sort(m->pages, num, sizeof(*m->pages), qv_pool_by_address, NULL);
	return 0;
}

static u32 memory_count_runs(const struct qv_memory *memory)
{
	u32 i, runs = 0;

	for (i = 0; i < memory->num; i++)
		if (!i || page_to_phys(memory->pages[i]) !=
			  page_to_phys(memory->pages[i - 1]) + QV_HUGE)
			runs++;
	return runs;
}

static int memory_take(struct qv_reply *r, struct qv_cell *cell)
{
	u64 bytes = cell->config->memory;
	u32 runs;

	cell->rom_pages = qv_standby_pages(cell->config);
	if (memory_alloc(&cell->memory, bytes / QV_HUGE))
		return qv_refuse(r, QV_E_NO_MEMORY, "free memory, or give the cell less",
				 "Linux could not free %llu MiB in pieces of 2 MiB", bytes >> 20);
	/* each page of the ROM is a run of its own */
	runs = memory_count_runs(&cell->memory) + cell->rom_pages;
	if (runs > QV_MON_RUNS)
		return qv_refuse(r, QV_E_NO_MEMORY, "try earlier after boot, or give the cell less",
				 "the free memory is too scattered: %u pieces, "
				 "the monitor takes %u",
				 runs, QV_MON_RUNS);
	BUILD_BUG_ON(QV_BLOCK_CELL != QV_HUGE);
	cell->monitor_mem = memory_page();
	if (!cell->monitor_mem)
		return qv_refuse(r, QV_E_NO_MEMORY, "free memory",
				 "Linux has no 2 MiB for the cell's monitor instance");
	return 0;
}

/* The monitor leaves the memory of a cell with .debug as the cell left it */
static void memory_clear(struct qv_cell *cell)
{
	if (cell->memory.num && cell->config->debug)
		qv_memory_zero(&cell->memory, 0, (u64)cell->memory.num * QV_HUGE);
}

static int memory_reset(struct qv_reply *r, struct qv_cell *cell)
{
	memory_clear(cell);
	return 0;
}

static void memory_give(struct qv_cell *cell)
{
	memory_clear(cell);
	if (cell->monitor_mem)
		qv_pool_give(cell->monitor_mem);
	cell->monitor_mem = NULL;
	memory_free(&cell->memory);
}

static void memory_describe(const struct qv_cell *cell, struct qv_mon_create *m)
{
	const struct qv_memory *memory = &cell->memory;
	u32 i;

	m->block_pa = page_to_phys(cell->monitor_mem);
	for (i = 0; i < memory->num; i++) {
		struct qv_mon_run *last = m->num_runs ? &m->runs[m->num_runs - 1] : NULL;
		u64 pa = page_to_phys(memory->pages[i]);

		if (i >= memory->num - cell->rom_pages) {
			m->rom_runs++;
		} else if (last && last->pa + last->count * QV_HUGE == pa) {
			last->count++;
			continue;
		}
		m->runs[m->num_runs++] = (struct qv_mon_run){ .pa = pa, .count = 1 };
	}
}

static void memory_info(const struct qv_cell *cell, struct qv_info *info)
{
	info->memory = qv_memory_ram(cell);
}

static void memory_show(const struct qv_cell *cell, struct qv_cell_info *info)
{
	info->memory = cell->config->memory;
}

const struct qv_part qv_part_memory = {
	.check = memory_check,
	.take = memory_take,
	.info = memory_info,
	.describe = memory_describe,
	.show = memory_show,
	.reset = memory_reset,
	.give = memory_give,
	.unload = qv_pool_drop,
};

/* ---- guest-physical memory ---- */

u64 qv_memory_ram(const struct qv_cell *cell)
{
	return (u64)(cell->memory.num - cell->rom_pages) * QV_HUGE;
}

static void *memory_address(struct qv_memory *m, u64 gpa, u64 len, u64 *chunk)
{
	u64 offset = gpa % QV_HUGE;

	if (gpa / QV_HUGE >= m->num)
		return NULL;
	*chunk = min_t(u64, len, QV_HUGE - offset);
	return page_address(m->pages[gpa / QV_HUGE]) + offset;
}

bool qv_memory_write(struct qv_memory *m, u64 gpa, const void *from, u64 len)
{
	u64 chunk;

	for (; len; gpa += chunk, from += chunk, len -= chunk) {
		void *to = memory_address(m, gpa, len, &chunk);

		if (!to)
			return false;
		memcpy(to, from, chunk);
		cond_resched();
	}
	return true;
}

bool qv_memory_read(struct qv_memory *m, u64 gpa, void __user *to, u64 len)
{
	u64 chunk;

	for (; len; gpa += chunk, to += chunk, len -= chunk) {
		void *from = memory_address(m, gpa, len, &chunk);

		if (!from || copy_to_user(to, from, chunk))
			return false;
	}
	return true;
}

bool qv_memory_zero(struct qv_memory *m, u64 gpa, u64 len)
{
	u64 chunk;

	for (; len; gpa += chunk, len -= chunk) {
		void *to = memory_address(m, gpa, len, &chunk);

		if (!to)
			return false;
		memset(to, 0, chunk);
		cond_resched();
	}
	return true;
}
