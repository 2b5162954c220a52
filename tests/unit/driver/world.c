// SPDX-License-Identifier: GPL-2.0-only
#include "world.h"
#include "abi/calls.h"
#include "abi/layout.h"
#include "unit.h"
#include <linux/qv_channel.h>

extern const struct qv_part qv_part_channels;
LIST_HEAD(qv_cells);
const struct attribute_group *qv_channel_groups[1];

/* ---- the monitor, and the files of the driver that are not here ---- */

u64 qv_hypercall(u64 nr, u64 a)
{
	return 0;
}

/* The monitor clears a channel before it gives it back */
u64 qv_manage(u64 nr, u64 a)
{
	if (nr == QV_HC_CHANNEL)
		memset((void *)(uintptr_t)a, 0, QV_HUGE);
	return 0;
}

u64 qv_channel_life(struct qv_channel_dev *c, u32 end)
{
	return 0;
}

void qv_channel_announce(struct qv_channel_dev *c, const char *end, bool starts)
{
}

int qv_channel_bell_make(struct qv_channel_dev *c)
{
	return 0;
}

void qv_channel_bell_open(struct qv_channel_dev *c)
{
}

void qv_channel_bell_free(struct qv_channel_dev *c)
{
}

void qv_channel_bell_unload(void)
{
}

void qv_channel_ring(struct qv_channel_dev *c)
{
}

/* ---- cells ---- */

int world_create(struct world_cell *w, char name, u32 num, u32 type, u64 item, bool writes)
{
	struct qv_cell_create *q = &w->config;
	int error;
	u32 i;

	memset(w, 0, sizeof(*w));
	w->cell.config = q;
	q->name[0] = w->cell.name[0] = name;
	q->num_channels = num;
	for (i = 0; i < num; i++) {
		struct qv_channel_plan *plan = &q->channels[i];

		snprintf(plan->name, sizeof(plan->name), "%c%u", name, i);
		plan->type = type;
		plan->flags = QV_CHAN_RECONNECT;
		plan->item = item;
		plan->slots = type == QV_CHAN_RING ? 4 : 1;
		plan->full = type == QV_CHAN_RING ? QV_CHAN_FULL_ERROR : 0;
		plan->num_ends = 2;
		strcpy(plan->ends[writes ? 0 : 1], QV_FRONT_END);
		plan->ends[writes ? 1 : 0][0] = name;
	}
	error = qv_part_channels.check(&w->reply, q) ?: qv_part_channels.take(&w->reply, &w->cell);
	if (error)
		qv_part_channels.give(&w->cell);
	return error;
}

void world_start(struct world_cell *w)
{
	static u64 session;
	u32 i, end;

	for (i = 0; i < w->cell.num_channels; i++) {
		struct qv_channel_dev *c = w->cell.channels[i];
		struct qv_chan_page *page = c->window;

		*page = c->page;
		page->session = ++session;
		for (end = 0; end < page->ends; end++)
			page->end[end].life = QV_CHAN_LIFE(2 * session + end, QV_CHAN_IS_RUNNING);
	}
	qv_part_channels.begin(&w->cell);
}

void world_destroy(struct world_cell *w)
{
	qv_part_channels.end(&w->cell);
	qv_part_channels.give(&w->cell);
}

/* ---- programs ---- */

static const struct file_operations *ops(const struct world_file *f)
{
	return f->inode.i_cdev->ops;
}

int world_open(struct world_file *f, struct qv_channel_dev *c, struct address_space *space,
	       fmode_t mode)
{
	memset(f, 0, sizeof(*f));
	f->inode.i_cdev = &c->cdev;
	f->file.f_mapping = space;
	f->file.f_mode = mode;
	f->file.f_flags = O_NONBLOCK;
	return ops(f)->open(&f->inode, &f->file);
}

void world_close(struct world_file *f)
{
	ops(f)->release(&f->inode, &f->file);
}

ssize_t world_read(struct world_file *f, void *to, size_t len)
{
	return ops(f)->read(&f->file, to, len, &f->file.f_pos);
}

ssize_t world_write(struct world_file *f, const void *from, size_t len)
{
	return ops(f)->write(&f->file, from, len, &f->file.f_pos);
}

int world_mmap(struct vm_area_struct *vma, struct world_file *f, u64 page, u32 pages,
	       vm_flags_t flags)
{
	memset(vma, 0, sizeof(*vma));
	vma->vm_start = 0x10000;
	vma->vm_end = vma->vm_start + pages * PAGE_SIZE;
	vma->vm_pgoff = page;
	vma->vm_file = &f->file;
	vma->vm_flags = flags | VM_MAYEXEC;
	if (f->file.f_mode & FMODE_WRITE || !(flags & VM_SHARED))
		vma->vm_flags |= VM_MAYWRITE;
	else
		vma->vm_flags &= ~VM_SHARED;	/* as do_mmap() */
	return ops(f)->mmap(&f->file, vma);
}
