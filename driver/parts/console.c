// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cell's console, /dev/qv-cell/NAME/console: mmap() shows its pages read-only, read() copies the
 * screen, write() sends keys. The bytes that the inmate writes into the pages are never trusted.
 */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include "abi/calls.h"
#include "abi/create.h"
#include "abi/errors.h"
#include "qv.h"
#include "cells.h"
#include "parts/console.h"

#define CONSOLE_ORDER	3
#define SCREEN_PAGE	0
#define COMM_PAGE	2

static void console_release(struct kref *kref)
{
	struct qv_console *c = container_of(kref, struct qv_console, kref);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(c->pages); i++)
		if (c->pages[i])
			put_page(c->pages[i]);
	kfree(c);
}

static struct qv_console *console_create(const char *name)
{
	struct qv_console *c = kzalloc(sizeof(*c), GFP_KERNEL);
	struct page *pages;
	u32 i;

	if (!c)
		return NULL;
	pages = alloc_pages(GFP_KERNEL | __GFP_ZERO, CONSOLE_ORDER);
	if (!pages) {
		kfree(c);
		return NULL;
	}
	/* each page is freed when its last mapping is gone */
	split_page(pages, CONSOLE_ORDER);
	BUILD_BUG_ON(sizeof(c->pages) / sizeof(c->pages[0]) * PAGE_SIZE != QV_CONSOLE_LEN ||
		     QV_STREAM_GPA + QV_STREAM_LEN - QV_SCREEN_GPA != QV_CONSOLE_LEN ||
		     PAGE_SIZE << CONSOLE_ORDER != QV_CONSOLE_LEN);
	for (i = 0; i < ARRAY_SIZE(c->pages); i++)
		c->pages[i] = pages + i;
	c->comm = page_address(c->pages[COMM_PAGE]);
	kref_init(&c->kref);
	mutex_init(&c->lock);
	init_waitqueue_head(&c->wait);
	snprintf(c->misc_name, sizeof(c->misc_name), "qv-console-%s", name);
	snprintf(c->node, sizeof(c->node), "qv-cell/%s/console", name);
	return c;
}

static void console_clear(struct qv_console *c)
{
	u32 i;

	mutex_lock(&c->lock);
	for (i = 0; i < ARRAY_SIZE(c->pages); i++)
		clear_page(page_address(c->pages[i]));
	c->head = 0;
	mutex_unlock(&c->lock);
}

static void console_set_instance(struct qv_console *c, u32 instance)
{
	mutex_lock(&c->lock);
	c->instance = instance;
	mutex_unlock(&c->lock);
	wake_up_interruptible(&c->wait);
}

/*
 * Rings the cell's doorbell. Call with .lock held, after writing the data, so that the data of all
 * writers that wait for .lock need a single bell. Waits while the monitor limits the rate or
 * carries out another management call.
 */
static void console_ring(struct qv_console *c)
{
	u64 result = qv_manage(QV_HC_DOORBELL, c->instance);

	if (result == QV_ME_BUSY || result == QV_ME_RATE)
		qv_log_often("driver",
			     "the doorbell of %s was not rung: the monitor was asked for %u ms",
			     c->node, QV_DEADLINE_MS);
}

void qv_console_ring(struct qv_console *c)
{
	mutex_lock(&c->lock);
	if (c->instance)
		console_ring(c);
	mutex_unlock(&c->lock);
}

void qv_console_request(struct qv_console *c, u32 request)
{
	mutex_lock(&c->lock);
	WRITE_ONCE(c->comm->request, request);
	if (c->instance)
		console_ring(c);
	mutex_unlock(&c->lock);
}

static void console_destroy(struct qv_console *c)
{
	if (c->misc.name)
		misc_deregister(&c->misc);
	mutex_lock(&c->lock);
	c->gone = true;
	c->instance = 0;
	mutex_unlock(&c->lock);
	wake_up_interruptible(&c->wait);
	kref_put(&c->kref, console_release);
}

/* ---- file operations ---- */

/* An open file */
struct console_file {
	struct qv_console *console;
	u32 seen;			/* .stream_head when poll() last reported output */
};

static struct qv_console *console_of(struct file *file)
{
	const struct console_file *f = file->private_data;

	return f->console;
}

/* With O_EXCL, the file takes the keyboard from the file that has it. */
static int console_open(struct inode *inode, struct file *file)
{
	/* misc_open() holds the mutex that misc_deregister() needs, so the console still exists */
	struct qv_console *c = container_of(file->private_data, struct qv_console, misc);
	struct console_file *f = kzalloc(sizeof(*f), GFP_KERNEL);
	int error = 0;

	if (!f)
		return -ENOMEM;
	f->console = c;
	mutex_lock(&c->lock);
	if (file->f_mode & FMODE_WRITE) {
		if (c->keyboard && !(file->f_flags & O_EXCL))
			error = -EBUSY;
		else
			c->keyboard = f;
	}
	if (!error)
		kref_get(&c->kref);
	mutex_unlock(&c->lock);
	wake_up_interruptible(&c->wait);	/* the file that lost the keyboard */
	if (error)
		kfree(f);
	else
		file->private_data = f;
	return error;
}

static int console_close(struct inode *inode, struct file *file)
{
	struct console_file *f = file->private_data;
	struct qv_console *c = f->console;

	mutex_lock(&c->lock);
	if (c->keyboard == f)
		c->keyboard = NULL;
	mutex_unlock(&c->lock);
	kfree(f);
	kref_put(&c->kref, console_release);
	return 0;
}

static u32 console_room(struct qv_console *c)
{
	u32 waiting = c->head - READ_ONCE(c->comm->keys_tail);

	return waiting > QV_KEYS_LEN ? 0 : QV_KEYS_LEN - waiting;
}

static ssize_t console_put_keys(const struct console_file *f, const u8 *keys, size_t len)
{
	struct qv_console *c = f->console;
	ssize_t i, n = 0;

	mutex_lock(&c->lock);
	if (c->keyboard != f) {
		n = -EBUSY;
	} else if (c->instance) {
		n = min_t(size_t, len, console_room(c));
		for (i = 0; i < n; i++)
			c->comm->keys[(c->head + i) % QV_KEYS_LEN] = keys[i];
		c->head += n;
		smp_store_release(&c->comm->keys_head, c->head);
		if (n)
			console_ring(c);
	}
	mutex_unlock(&c->lock);
	return n;
}

static ssize_t console_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	struct qv_console *c = console_of(file);
	u8 keys[QV_KEYS_LEN];
	ssize_t n;

	len = min_t(size_t, len, sizeof(keys));
	if (!len)
		return 0;
	if (copy_from_user(keys, from, len))
		return -EFAULT;
	for (;;) {
		if (READ_ONCE(c->gone))
			return -ENODEV;
		if (!READ_ONCE(c->instance))
			return -EIO;
		n = console_put_keys(file->private_data, keys, len);
		if (n)
			return n;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		/* The inmate consumes keys without notifying Linux, so poll */
		if (wait_event_interruptible_timeout(c->wait, c->gone, HZ / 50 + 1) < 0)
			return -ERESTARTSYS;
	}
}

/*
 * Copies the screen as a VGA's frame buffer has it, from the file's position on. The inmate may
 * write it meanwhile.
 */
static ssize_t console_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	struct qv_console *c = console_of(file);

	BUILD_BUG_ON(QV_CONSOLE_SCREEN_LEN != QV_SCREEN_COLS * QV_SCREEN_ROWS * 2);
	if (READ_ONCE(c->gone))
		return -ENODEV;
	return simple_read_from_buffer(to, len, pos, page_address(c->pages[SCREEN_PAGE]),
				       QV_CONSOLE_SCREEN_LEN);
}

/* Only read() has a position: write() ignores it */
static loff_t console_seek(struct file *file, loff_t offset, int whence)
{
	return fixed_size_llseek(file, offset, whence, QV_CONSOLE_SCREEN_LEN);
}

static long console_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct qv_console *c = console_of(file);
	struct qv_cursor cursor = { 0 };
	u32 at;

	if (cmd != QV_IOC_CONSOLE_CURSOR)
		return -ENOTTY;
	if (READ_ONCE(c->gone))
		return -ENODEV;
	at = READ_ONCE(c->comm->cursor);
	if (at < QV_SCREEN_COLS * QV_SCREEN_ROWS) {
		cursor.visible = 1;
		cursor.row = at / QV_SCREEN_COLS;
		cursor.column = at % QV_SCREEN_COLS;
	}
	cursor.seq = READ_ONCE(c->comm->screen_seq);
	return copy_to_user((void __user *)arg, &cursor, sizeof(cursor)) ? -EFAULT : 0;
}

/*
 * EPOLLPRI: the file is open for writing, and another one has taken the keyboard.
 * EPOLLIN: the inmate has printed since a poll() last reported it to this file. watch.c wakes those
 * who wait, since the inmate prints without notifying Linux.
 */
static __poll_t console_poll(struct file *file, struct poll_table_struct *table)
{
	struct console_file *f = file->private_data;
	struct qv_console *c = f->console;
	u32 head = READ_ONCE(c->comm->stream_head);
	__poll_t events = 0;

	poll_wait(file, &c->wait, table);
	if (READ_ONCE(c->gone))
		return EPOLLHUP;
	if (poll_requested_events(table) & EPOLLIN && head != READ_ONCE(f->seen)) {
		WRITE_ONCE(f->seen, head);
		events |= EPOLLIN | EPOLLRDNORM;
	}
	if (file->f_mode & FMODE_WRITE && READ_ONCE(c->keyboard) != f)
		events |= EPOLLPRI;
	if (!READ_ONCE(c->instance))
		return events | EPOLLERR;
	return events | (console_room(c) ? EPOLLOUT | EPOLLWRNORM : 0);
}

static vm_fault_t console_fault(struct vm_fault *vmf)
{
	struct qv_console *c = console_of(vmf->vma->vm_file);

	if (vmf->pgoff >= ARRAY_SIZE(c->pages))
		return VM_FAULT_SIGBUS;
	vmf->page = c->pages[vmf->pgoff];
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct console_vm_ops = {
	.fault = console_fault,
};

static int console_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_clear(vma, VM_MAYWRITE);	/* mprotect() cannot add write access later */
#else
	vma->vm_flags &= ~VM_MAYWRITE;
#endif
	vma->vm_ops = &console_vm_ops;
	return 0;
}

static const struct file_operations console_fops = {
	.owner = THIS_MODULE,
	.open = console_open,
	.release = console_close,
	.read = console_read,
	.write = console_write,
	.poll = console_poll,
	.unlocked_ioctl = console_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = console_mmap,
	.llseek = console_seek,
};

static int console_publish(struct qv_console *c)
{
	int error;

	c->misc.minor = MISC_DYNAMIC_MINOR;
	c->misc.name = c->misc_name;
	c->misc.nodename = c->node;
	c->misc.fops = &console_fops;
	c->misc.mode = 0600;
	error = misc_register(&c->misc);
	if (error)
		c->misc.name = NULL;
	return error;
}

/* ---- the part ---- */

/* The pages exist even if the cell has no device for them */
static int console_take(struct qv_reply *r, struct qv_cell *cell)
{
	cell->console = console_create(cell->name);
	if (!cell->console || (cell->config->console && console_publish(cell->console)))
		return qv_refuse(r, QV_E_NO_MEMORY, "", "no console device could be made");
	return 0;
}

static void console_describe(const struct qv_cell *cell, struct qv_mon_create *m)
{
	m->console_pa = page_to_phys(cell->console->pages[0]);
}

static void console_show(const struct qv_cell *cell, struct qv_cell_info *info)
{
	info->console = cell->config->console;
	info->heartbeat = READ_ONCE(cell->console->comm->heartbeat);
	info->idle_cpus = READ_ONCE(cell->console->comm->idle_cpus);
	info->idle_cycles = READ_ONCE(cell->console->comm->idle_cycles);
}

static void console_begin(struct qv_cell *cell)
{
	console_set_instance(cell->console, cell->id);
}

static void console_end(struct qv_cell *cell)
{
	console_set_instance(cell->console, 0);
}

static int console_reset(struct qv_reply *r, struct qv_cell *cell)
{
	console_clear(cell->console);
	return 0;
}

static void console_give(struct qv_cell *cell)
{
	if (cell->console)
		console_destroy(cell->console);
	cell->console = NULL;
}

const struct qv_part qv_part_console = {
	.take = console_take,
	.describe = console_describe,
	.show = console_show,
	.begin = console_begin,
	.end = console_end,
	.reset = console_reset,
	.give = console_give,
};
