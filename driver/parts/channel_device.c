// SPDX-License-Identifier: GPL-2.0-only
/* /dev/qv-channel/NAME: read(), write(), poll(), mmap() and ioctl() on Linux's end of a channel. */
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <linux/qv_channel.h>
#include "abi/layout.h"
#include "qv.h"
#include "parts/channels.h"

#define DEVICES		(QV_MAX_CELLS * QV_MAX_CHANNELS)
#define BELL_PAUSE_MS	100
#define FAULT_TRIES	100	/* to have the program's memory while an item is copied */

static dev_t first;
static DECLARE_BITMAP(minors, DEVICES);

/* ---- file operations ---- */

/* Adds the file to the files of the channel. Returns an errno */
static int device_join(struct qv_channel_file *f, struct file *file)
{
	struct qv_channel_dev *c = f->c;
	int error;

	if (c->gone)
		return -ENODEV;
	if (file->f_mode & FMODE_WRITE && c->writer)
		return -EBUSY;
	error = qv_channel_maps_open(f, file);
	if (!error && file->f_mode & FMODE_WRITE)
		c->writer = file;
	return error;
}

/* A file takes few bytes, and they are charged to the program */
static int device_open(struct inode *inode, struct file *file)
{
	struct qv_channel_dev *c = container_of(inode->i_cdev, struct qv_channel_dev, cdev);
	struct qv_channel_file *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	int error;

	if (!f)
		return -ENOMEM;
	f->c = c;
	mutex_lock(&c->lock);
	error = device_join(f, file);
	mutex_unlock(&c->lock);
	if (error) {
		kfree(f);
		return error;
	}
	get_device(&c->dev);
	file->private_data = f;
	file->f_pos = 1;	/* not that of pread() at offset 0: device_read() */
	return 0;
}

static int device_close(struct inode *inode, struct file *file)
{
	struct qv_channel_file *f = file->private_data;
	struct qv_channel_dev *c = f->c;

	mutex_lock(&c->lock);
	if (c->writer == file)
		c->writer = NULL;
	if (c->claimed == file) {
		c->claimed = NULL;
		c->attached = c->unanswered = false;	/* the program has changed the section */
		qv_channel_unclaimed(c);
	}
	qv_channel_maps_close(f);
	mutex_unlock(&c->lock);
	kfree(f);
	put_device(&c->dev);
	return 0;
}

/*
 * The longest sleep between two looks. A peer of a channel with bells may also ring none: it has
 * attached since the look, or it died
 */
static long device_pause(const struct qv_channel_dev *c)
{
	return c->irq ? msecs_to_jiffies(BELL_PAUSE_MS) : 1;
}

/*
 * Waits for news since @seen, which is .bells before the caller looked, or for a while. If the bell
 * must be armed for that, it only says that the caller must arm it and look again first. Returns an
 * errno to give up
 */
static int device_wait(struct qv_channel_dev *c, struct file *file, u32 seen, bool *armed)
{
	if (file->f_flags & O_NONBLOCK)
		return -EAGAIN;
	if (!*armed && c->page.flags & QV_CHAN_ONE_SHOT) {
		*armed = true;
		return 0;
	}
	*armed = false;
	return wait_event_interruptible_timeout(c->wait, atomic_read(&c->bells) != seen,
						device_pause(c)) < 0 ? -ERESTARTSYS : 0;
}

void qv_channel_news(struct qv_channel_dev *c)
{
	atomic_inc(&c->bells);
	wake_up_interruptible(&c->wait);
}

/*
 * Reads or writes an item. If the program's memory is not there, brings it and tries again, without
 * any lock: that may take any time. Memory that Linux brings but that cannot be copied, such as a
 * shadow stack, ends the tries
 */
static ssize_t device_item(struct qv_channel_file *f, struct qv_channel_move *m)
{
	int tries = FAULT_TRIES;
	size_t missing;
	ssize_t n;

	do {
		n = m->writes ? qv_channel_write(f, m) : qv_channel_read(f, m);
		if (n != -EFAULT)
			return n;
		if (signal_pending(current))
			return -ERESTARTSYS;
		missing = m->writes ? fault_in_readable(m->at, m->bytes) :
				      fault_in_safe_writeable(m->at, m->bytes);
	} while (!missing && --tries);
	return -EFAULT;
}

/* Moves an item, and waits until that can be done */
static ssize_t device_item_wait(struct file *file, struct qv_channel_move *m)
{
	struct qv_channel_file *f = file->private_data;
	struct qv_channel_dev *c = f->c;
	bool armed = false;
	int error = 0;
	ssize_t n;
	u32 seen;

	do {
		seen = atomic_read(&c->bells);
		if (armed)
			qv_channel_arm(c);
		n = device_item(f, m);
		if (n == -EAGAIN)
			error = device_wait(c, file, seen, &armed);
	} while (n == -EAGAIN && !error);
	if (m->rings)
		qv_channel_ring(c);
	return error ?: n;
}

/* Of a four-slot, offset 0 asks for the last value again. The file's own position is never 0 */
static ssize_t device_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	struct qv_channel_move m = { .at = to, .again = !*pos };
	const struct qv_channel_file *f = file->private_data;
	ssize_t n;

	if (f->c->page.type == QV_CHAN_MEMORY)
		return -EOPNOTSUPP;
	if (len < f->c->page.item)
		return -EINVAL;
	n = device_item_wait(file, &m);
	if (n > 0)
		*pos += n;
	return n;
}

static ssize_t device_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	struct qv_channel_move m = { .at = (char __user *)from, .bytes = len, .writes = true };
	const struct qv_channel_file *f = file->private_data;

	if (f->c->page.type == QV_CHAN_MEMORY)
		return -EOPNOTSUPP;
	return len > f->c->page.item ? -EINVAL : device_item_wait(file, &m);
}

/*
 * While programs sleep in poll(), they look again after each pause. A program that has claimed the
 * end waits for bells only, so an end that attaches counts as a bell
 */
static void device_look(struct work_struct *work)
{
	struct qv_channel_dev *c = container_of(to_delayed_work(work), struct qv_channel_dev, look);

	if (wq_has_sleeper(&c->wait) && !READ_ONCE(c->gone)) {
		if (qv_channel_attaches(c))
			atomic_inc(&c->bells);
		wake_up_interruptible(&c->wait);
		schedule_delayed_work(&c->look, device_pause(c));
	}
}

static __poll_t device_poll(struct file *file, struct poll_table_struct *table)
{
	struct qv_channel_file *f = file->private_data;
	struct qv_channel_dev *c = f->c;
	__poll_t ready;

	poll_wait(file, &c->wait, table);
	ready = qv_channel_ready(f);
	/* Also if it is ready: an edge-triggered epoll does not call this again */
	schedule_delayed_work(&c->look, device_pause(c));
	return ready;
}

static long device_state(struct qv_channel_dev *c, void __user *to)
{
	struct qv_channel_state now = { .ends = c->page.ends, .end = c->self };
	u32 i;

	BUILD_BUG_ON(QV_CHANNEL_ENDS != ARRAY_SIZE(c->page.end));
	for (i = 0; i < now.ends; i++)
		now.life[i] = qv_channel_life(c, i);
	return copy_to_user(to, &now, sizeof(now)) ? -EFAULT : 0;
}

static long device_ioctl(struct file *file, unsigned int nr, unsigned long arg)
{
	struct qv_channel_file *f = file->private_data;
	struct qv_channel_dev *c = f->c;
	struct qv_channel_window w = { QV_CHANNEL_ABI, c->self, c->page.length };
	long error = 0;

	if (nr == QV_CHANNEL_WINDOW)
		return copy_to_user((void __user *)arg, &w, sizeof(w)) ? -EFAULT : 0;
	if (nr == QV_CHANNEL_STATE)
		return device_state(c, (void __user *)arg);
	if (nr == QV_CHANNEL_ARM) {
		WRITE_ONCE(f->armed, atomic_read(&c->bells));
		return 0;
	}
	if (nr == QV_CHANNEL_RING && file->f_mode & FMODE_WRITE) {
		qv_channel_ring(c);
		return 0;
	}
	if (nr != QV_CHANNEL_CLAIM)
		return -ENOTTY;
	mutex_lock(&c->lock);
	if (!(file->f_mode & FMODE_WRITE))
		error = -EPERM;
	else if (c->claimed && c->claimed != file)
		error = -EBUSY;
	else
		c->claimed = file;
	mutex_unlock(&c->lock);
	return error;
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_close,
	.read = device_read,
	.write = device_write,
	.poll = device_poll,
	.mmap = qv_channel_mmap,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

/* ---- the device ---- */

/* devtmpfs makes the node with this owner and mode, and udev keeps them */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
static char *device_node(const struct device *dev, umode_t *mode, kuid_t *uid, kgid_t *gid)
#else
static char *device_node(struct device *dev, umode_t *mode, kuid_t *uid, kgid_t *gid)
#endif
{
	const struct qv_channel_dev *c = container_of(dev, struct qv_channel_dev, dev);

	if (mode)
		*mode = c->mode ?: QV_CHANNEL_MODE;
	if (uid)
		*uid = KUIDT_INIT(c->uid);
	if (gid)
		*gid = KGIDT_INIT(c->gid);
	return kasprintf(GFP_KERNEL, "qv-channel/%s", dev_name(dev));
}

static struct class device_class = {
	.name = "qv-channel",
};

static const struct device_type device_type = {
	.name = "qv-channel",
	.groups = qv_channel_groups,
	.devnode = device_node,
};

static void device_release(struct device *dev)
{
	struct qv_channel_dev *c = container_of(dev, struct qv_channel_dev, dev);

	cancel_delayed_work_sync(&c->look);
	qv_channel_memory_give(c);
	kfree(c);
}

void qv_channel_init(struct qv_channel_dev *c)
{
	device_initialize(&c->dev);
	c->dev.release = device_release;
	mutex_init(&c->lock);
	INIT_LIST_HEAD(&c->nodes);
	init_waitqueue_head(&c->wait);
	INIT_DELAYED_WORK(&c->look, device_look);
	raw_spin_lock_init(&c->bell_lock);
}

static int device_first(void)
{
	int error;

	if (first)
		return 0;
	error = alloc_chrdev_region(&first, 0, DEVICES, "qv-channel");
	if (error)
		return error;
	error = class_register(&device_class);
	if (error) {
		unregister_chrdev_region(first, DEVICES);
		first = 0;
	}
	return error;
}

int qv_channel_publish(struct qv_channel_dev *c)
{
	int error = device_first();
	u32 minor = find_first_zero_bit(minors, DEVICES);

	if (error || minor == DEVICES)
		return error ?: -ENOSPC;
	c->dev.class = &device_class;
	c->dev.type = &device_type;
	c->dev.devt = first + minor;
	cdev_init(&c->cdev, &device_fops);
	c->cdev.owner = THIS_MODULE;
	error = c->page.flags & QV_CHAN_BELL ? qv_channel_bell_make(c) : 0;
	if (!error)
		error = dev_set_name(&c->dev, "%s", c->page.name) ?:
			cdev_device_add(&c->cdev, &c->dev);
	if (error) {
		qv_channel_bell_free(c);
		c->dev.devt = 0;
		return error;
	}
	set_bit(minor, minors);
	return 0;
}

void qv_channel_withdraw(struct qv_channel_dev *c)
{
	if (!c->dev.devt)
		return;
	cdev_device_del(&c->cdev, &c->dev);
	clear_bit(c->dev.devt - first, minors);
	mutex_lock(&c->lock);
	c->gone = true;			/* from now on, no program uses the channel's memory */
	qv_channel_maps_end(c);
	mutex_unlock(&c->lock);
	cancel_delayed_work_sync(&c->look);
	qv_channel_bell_free(c);
	qv_channel_news(c);
}

void qv_channel_unload(void)
{
	if (!first)
		return;
	class_unregister(&device_class);
	unregister_chrdev_region(first, DEVICES);
	qv_channel_bell_unload();
}
