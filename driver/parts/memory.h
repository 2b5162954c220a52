/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_PARTS_MEMORY_H
#define QV_PARTS_MEMORY_H

#include <linux/types.h>

struct page;
struct qv_cell;

struct qv_memory {			/* pages of 2 MiB, in ascending order of addresses */
	u32 num;
	struct page **pages;
};

/*
 * Copy to and from, and clear, guest-physical memory. Return false if some of it is outside, or if
 * the program's memory cannot be written
 */
bool qv_memory_write(struct qv_memory *m, u64 gpa, const void *from, u64 len);
bool qv_memory_read(struct qv_memory *m, u64 gpa, void __user *to, u64 len);
bool qv_memory_zero(struct qv_memory *m, u64 gpa, u64 len);

/* Returns how many bytes of its memory the cell has as RAM: all but its ROM (standby.c) */
u64 qv_memory_ram(const struct qv_cell *cell);

#endif
