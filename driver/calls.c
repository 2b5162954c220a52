// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls of /dev/qv: one table of {number, flags, function}. The conditions under which a call
 * may begin are flags in the table: call_changes() decides whether the file must be open for
 * writing, and call_admit() all others. Every call runs under qv_lock, on a kernel copy of its
 * structure, whose first member is the reply.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>
#include "abi/image.h"
#include "abi/layout.h"
#include "qv.h"
#include "cells.h"
#include "cross.h"
#include "events.h"
#include "main.h"
#include "watch.h"
#include "cell/life.h"
#include "cell/steps.h"
#include "parts/channels.h"
#include "parts/kept.h"
#include "parts/pool.h"

/* ---- one function per ioctl; with CALL_CELL, @cell is the cell that the structure names ---- */

static int call_status(void *arg, struct qv_cell *cell)
{
	struct qv_status_info *s = arg;
	const struct qv_image_header *h = qv_virt_image();
	struct qv_reply obstacle = { 0 };
	u32 i;

	s->vendor = qv_virt_vendor();
	s->features = qv_virt_features();
	s->enabled = qv_takeover.enabled;
	s->num_cells = qv_num_cells;
	s->x2apic = !!(qv_rdmsr(QV_MSR_APIC_BASE) & 1 << 10);
	s->num_cpus = qv_takeover.num_cpus;
	for (i = 0; qv_takeover.enabled && i < qv_takeover.num_cpus; i++)
		s->lost_cpus += qv_cpu_lost(qv_takeover.cpu_of[i]);
	s->cpus_outside = qv_takeover.enabled ? qv_takeover.outside : 0;
	s->ipi_direct = qv_takeover.ipi_direct;
	s->dma_level = qv_iommu_level();
	strscpy(s->dma_obstacle, qv_iommu_why(), sizeof(s->dma_obstacle));
	s->tsc_khz = tsc_khz;
	s->monitor_text = h ? h->text_end - QV_VA_IMAGE : 0;
	if (!qv_takeover.enabled)
		qv_preflight(&obstacle);
	s->obstacle = obstacle.code;
	strscpy(s->obstacle_text, obstacle.text, sizeof(s->obstacle_text));
	strscpy(s->obstacle_remedy, obstacle.remedy, sizeof(s->obstacle_remedy));
	return 0;
}

#define IOMMU_FLAGS	(QV_ENABLE_IOMMU | QV_ENABLE_NO_IOMMU)	/* exclude each other */

static int call_enable(void *arg, struct qv_cell *cell)
{
	struct qv_enable *e = arg;

	if (e->flags & ~(QV_ENABLE_STRICT | QV_ENABLE_IPI_DIRECT | IOMMU_FLAGS) ||
	    (e->flags & IOMMU_FLAGS) == IOMMU_FLAGS)
		return qv_refuse(&e->reply, QV_E_ARGUMENT, "use QV_ENABLE_*, or none",
				 "flags %#x are not known, or exclude each other", e->flags);
	return qv_enable(&e->reply, e->flags);
}

static int call_disable(void *arg, struct qv_cell *cell)
{
	return qv_disable(arg);
}

static int call_pool(void *arg, struct qv_cell *cell)
{
	struct qv_pool *p = arg;
	int error = 0;

	if (p->flags & ~QV_POOL_SET)
		return qv_refuse(&p->reply, QV_E_ARGUMENT, "use QV_POOL_SET, or none",
				 "flags %#x are not known", p->flags);
	if (p->flags & QV_POOL_SET)
		error = qv_pool_set(&p->reply, p->size);
	qv_pool_show(p);
	return error;
}

static int call_pool_cpus(void *arg, struct qv_cell *cell)
{
	struct qv_pool_cpus *p = arg;
	int error = 0;

	if (p->flags & ~QV_POOL_SET)
		return qv_refuse(&p->reply, QV_E_ARGUMENT, "use QV_POOL_SET, or none",
				 "flags %#x are not known", p->flags);
	if (p->flags & QV_POOL_SET)
		error = qv_kept_set(p);
	qv_kept_show(p);
	return error;
}

static int call_create(void *arg, struct qv_cell *cell)
{
	return qv_cell_create(arg);
}

static int call_start(void *arg, struct qv_cell *cell)
{
	return qv_cell_start(arg, cell);
}

static int call_shutdown(void *arg, struct qv_cell *cell)
{
	const struct qv_cell_name *n = arg;

	return qv_cell_shutdown(arg, cell, n->timeout_ms);
}

static int call_destroy(void *arg, struct qv_cell *cell)
{
	return qv_cell_destroy(arg, cell);
}

static int call_lock(void *arg, struct qv_cell *cell)
{
	return qv_cell_lock(arg, cell);
}

static int call_unlock(void *arg, struct qv_cell *cell)
{
	const struct qv_cell_name *n = arg;

	return qv_cell_unlock(arg, cell, n->timeout_ms);
}

static int call_list(void *arg, struct qv_cell *unused)
{
	struct qv_cell_list *l = arg;
	struct qv_cell *cell;

	l->num_cells = 0;
	list_for_each_entry(cell, &qv_cells, list)
		strscpy(l->names[l->num_cells++], cell->name, QV_NAME_LEN);
	return 0;
}

static int call_info(void *arg, struct qv_cell *cell)
{
	qv_cell_info(arg, cell);
	return 0;
}

static int call_sample(void *arg, struct qv_cell *cell)
{
	return qv_cell_sample(arg, cell);
}

static int call_memory(void *arg, struct qv_cell *cell)
{
	return qv_cell_memory(arg, cell);
}

static int call_key_open(void *arg, struct qv_cell *cell)
{
	return qv_key_open(arg, cell);
}

static int call_key_close(void *arg, struct qv_cell *cell)
{
	return qv_key_close(arg, cell);
}

static int call_stats(void *arg, struct qv_cell *cell)
{
	return qv_stats_read(arg);
}

static int call_log(void *arg, struct qv_cell *cell)
{
	struct qv_log *l = arg;

	return l->which == QV_LOG_PREVIOUS ? qv_previous_read(l) : qv_log_read(l);
}

/* ---- the table ---- */

enum {
	/* before the call, record what happened in the cells until now */
	CALL_WATCH	= 1 << 0,
	CALL_ENABLED	= 1 << 1,	/* the call is refused while QV is not enabled */
	/* the call is refused unless the cell that the structure names exists */
	CALL_CELL	= 1 << 2,
	CALL_UNLOCKED	= 1 << 3,	/* the call is refused while a cell has locked management */
	/* the reply says how long other CPUs were in the monitor meanwhile */
	CALL_HELD	= 1 << 4,
	CALL_FROZEN	= 1 << 5,	/* callers of all versions of the ABI may make the call */
	/* a file that is open for reading may make the call: see call_changes() */
	CALL_LOOKS	= 1 << 6,
};

static const struct call {
	u32 number, flags;
	int (*function)(void *arg, struct qv_cell *cell);
} calls[] = {
	{ QV_IOC_STATUS,	CALL_LOOKS,				call_status },
	{ QV_IOC_ENABLE,	0,					call_enable },
	{ QV_IOC_DISABLE,	CALL_WATCH | CALL_UNLOCKED | CALL_FROZEN, call_disable },
	{ QV_IOC_POOL,		CALL_LOOKS | CALL_FROZEN,		call_pool },
	{ QV_IOC_POOL_CPUS,	CALL_LOOKS,				call_pool_cpus },
	{ QV_IOC_CELL_CREATE,	CALL_ENABLED | CALL_UNLOCKED | CALL_HELD, call_create },
	{ QV_IOC_CELL_START,	CALL_CELL | CALL_UNLOCKED | CALL_HELD,	call_start },
	{ QV_IOC_CELL_SHUTDOWN,	CALL_CELL | CALL_UNLOCKED | CALL_HELD,	call_shutdown },
	{ QV_IOC_CELL_DESTROY,	CALL_CELL | CALL_UNLOCKED | CALL_HELD | CALL_FROZEN,
	  call_destroy },
	{ QV_IOC_CELL_LOCK,	CALL_CELL,				call_lock },
	{ QV_IOC_CELL_UNLOCK,	CALL_CELL,				call_unlock },
	{ QV_IOC_CELL_LIST,	CALL_LOOKS,				call_list },
	{ QV_IOC_CELL_INFO,	CALL_LOOKS | CALL_WATCH | CALL_CELL,	call_info },
	{ QV_IOC_CELL_SAMPLE,	CALL_WATCH | CALL_CELL,			call_sample },
	{ QV_IOC_CELL_MEMORY,	CALL_WATCH | CALL_CELL | CALL_UNLOCKED,	call_memory },
	{ QV_IOC_CHANNEL_OPEN,	CALL_WATCH | CALL_CELL,			call_key_open },
	{ QV_IOC_CHANNEL_CLOSE,	CALL_WATCH | CALL_CELL,			call_key_close },
	{ QV_IOC_STATS,		CALL_LOOKS | CALL_ENABLED,		call_stats },
	{ QV_IOC_LOG,		CALL_LOOKS | CALL_WATCH,		call_log },
};

/*
 * Decides whether @call may begin, and finds its cell. Returns 0, or an errno with the refusal in
 * the reply
 */
static int call_admit(const struct call *call, struct qv_reply *r, struct qv_cell **cell)
{
	const char *name = (const char *)(r + 1);

	BUILD_BUG_ON(offsetof(struct qv_cell_name, name) != sizeof(*r) ||
		     offsetof(struct qv_cell_info, name) != sizeof(*r) ||
		     offsetof(struct qv_cell_sample, name) != sizeof(*r) ||
		     offsetof(struct qv_cell_memory, name) != sizeof(*r) ||
		     offsetof(struct qv_channel_key, name) != sizeof(*r));
	if (call->flags & CALL_WATCH)
		qv_watch_now();
	if (call->flags & CALL_ENABLED && !qv_takeover.enabled)
		return qv_refuse(r, QV_E_NOT_ENABLED, "qvctl enable", "QV is not enabled");
	if (call->flags & CALL_CELL) {
		*cell = qv_cell_find(name);
		if (!*cell)
			return qv_no_cell(r, name);
	}
	return call->flags & CALL_UNLOCKED ? qv_lock_check(r) : 0;
}

static int call_run(const struct call *call, struct qv_reply *r)
{
	bool held = call->flags & CALL_HELD && qv_takeover_whole();
	struct qv_cell *cell = NULL;
	u64 start;
	int error;

	if (r->abi != QV_ABI_VERSION && !(call->flags & CALL_FROZEN))
		return qv_refuse(r, QV_E_ABI, "install qvctl and qv.ko of one version",
				 "the caller has version %u of the interface, this module %u",
				 r->abi, QV_ABI_VERSION);
	memset(r, 0, sizeof(*r));
	r->abi = QV_ABI_VERSION;
	if (held)
		qv_held_begin();
	start = ktime_get_ns();
	error = call_admit(call, r, &cell);
	if (!error)
		error = call->function(r, cell);
	r->duration_ns = ktime_get_ns() - start;
	if (held && qv_takeover.enabled)
		r->held_ns = qv_held_ns();
	return error;
}

/* Returns true if @call changes or interrupts something: its file must be open for writing */
static bool call_changes(const struct call *call, const void *arg)
{
	if (call->number == QV_IOC_POOL)
		return ((const struct qv_pool *)arg)->flags & QV_POOL_SET;
	if (call->number == QV_IOC_POOL_CPUS)
		return ((const struct qv_pool_cpus *)arg)->flags & QV_POOL_SET;
	if (call->number == QV_IOC_STATS)
		return ((const struct qv_stats *)arg)->reset_held;
	return !(call->flags & CALL_LOOKS);
}

static long qv_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	const struct call *call = NULL;
	void *copy;
	int error;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].number == cmd)
			call = &calls[i];
	if (!call)
		return -ENOTTY;
	copy = memdup_user((void __user *)arg, _IOC_SIZE(cmd));
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	if (!(file->f_mode & FMODE_WRITE) && call_changes(call, copy)) {
		kfree(copy);
		return -EPERM;
	}
	if (mutex_lock_interruptible(&qv_lock)) {
		kfree(copy);
		return -ERESTARTSYS;
	}
	error = call_run(call, copy);
	mutex_unlock(&qv_lock);
	if (copy_to_user((void __user *)arg, copy, _IOC_SIZE(cmd)) && !error)
		error = -EFAULT;
	kfree(copy);
	return error;
}

static int qv_open(struct inode *inode, struct file *file)
{
	u64 *seen = kmalloc(sizeof(*seen), GFP_KERNEL);

	if (!seen)
		return -ENOMEM;
	*seen = qv_events_now();
	file->private_data = seen;
	return 0;
}

static int qv_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static ssize_t qv_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	return qv_events_read(file->private_data, to, len, !(file->f_flags & O_NONBLOCK));
}

static __poll_t qv_poll(struct file *file, struct poll_table_struct *table)
{
	return qv_events_poll(*(u64 *)file->private_data, file, table);
}

const struct file_operations qv_fops = {
	.owner = THIS_MODULE,
	.open = qv_open,
	.release = qv_release,
	.read = qv_read,
	.poll = qv_poll,
	.unlocked_ioctl = qv_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};
