/* SPDX-License-Identifier: GPL-2.0-only */
/* Cells with channels, and programs that have them open, for tests of driver/parts */
#ifndef UNIT_DRIVER_WORLD_H
#define UNIT_DRIVER_WORLD_H

#include "kernel.h"
#include "qv.h"
#include "cells.h"
#include "parts/channels.h"

/* Taken now: pages of 2 MiB, bytes of Linux, bytes that are charged to programs */
extern _Atomic u64 kernel_huge, kernel_bytes, kernel_charged;
/* For so many copies the memory of the program is not there */
extern _Atomic(u32) kernel_absent;
#define KERNEL_NEVER	~0u

struct world_cell {
	struct qv_cell cell;
	struct qv_cell_create config;
	struct qv_reply reply;
};

/* Creates a cell with @num channels, which Linux @writes or reads. Returns an errno */
int world_create(struct world_cell *w, char name, u32 num, u32 type, u64 item, bool writes);
/* Starts it: the life pages are as the monitor writes them */
void world_start(struct world_cell *w);
void world_destroy(struct world_cell *w);

struct world_file {
	struct inode inode;
	struct file file;
};

/* All opens of one channel have the same inode. Returns an errno, as all that follow */
int world_open(struct world_file *f, struct qv_channel_dev *c, struct address_space *space,
	       fmode_t mode);
void world_close(struct world_file *f);
ssize_t world_read(struct world_file *f, void *to, size_t len);
ssize_t world_write(struct world_file *f, const void *from, size_t len);
/* mmap(), without the list of the mappings of the inode, which is Linux's next step: world_map() */
int world_mmap(struct vm_area_struct *vma, struct world_file *f, u64 page, u32 pages,
	       vm_flags_t flags);
void world_map(struct vm_area_struct *vma);
void world_unmap(struct vm_area_struct *vma);
/* The program reads the first word of a page, and writes *@value there, if that is not NULL */
u64 world_touch(struct vm_area_struct *vma, u32 page, const u64 *value);

#endif
