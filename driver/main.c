// SPDX-License-Identifier: GPL-2.0-only
/* qv.ko: module, /dev/qv and its ioctls. */
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/reboot.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>
#include "qv.h"
#include "events.h"

DEFINE_MUTEX(qv_lock);

/* ---- one function per ioctl; @arg is a kernel copy, the first member is the reply ---- */

static int on_status(void *arg)
{
	struct qv_status_info *s = arg;
	const struct qv_image_header *h = qv_virt_image();
	struct qv_reply obstacle = { 0 };
	u32 i;

	s->vendor = qv_virt_vendor();
	s->features = qv_virt_features();
	s->enabled = qv_takeover.enabled;
	s->num_cells = qv_num_cells;
	s->x2apic = !!(qv_rdmsr(0x1b) & 1 << 10);
	s->num_cpus = qv_takeover.num_cpus;
	for (i = 0; qv_takeover.enabled && i < qv_takeover.num_cpus; i++)
		s->lost_cpus += qv_cpu_lost(qv_takeover.cpu_of[i]);
	s->cpus_outside = qv_takeover.enabled ? qv_takeover.outside : 0;
	s->tsc_khz = tsc_khz;
	s->monitor_text = h ? h->text_end - QV_VA_IMAGE : 0;
	if (!qv_takeover.enabled)
		qv_preflight(&obstacle);
	s->obstacle = obstacle.code;
	strscpy(s->obstacle_text, obstacle.text, sizeof(s->obstacle_text));
	strscpy(s->obstacle_remedy, obstacle.remedy, sizeof(s->obstacle_remedy));
	return 0;
}

static int on_enable(void *arg)
{
	struct qv_enable *e = arg;
	int error;

	if (e->flags & ~QV_ENABLE_STRICT)
		return qv_refuse(&e->reply, QV_E_ARGUMENT, "use QV_ENABLE_STRICT, or none", "flags %#x are not known", e->flags);
	error = qv_enable(&e->reply, e->flags & QV_ENABLE_STRICT);
	if (error)
		return error;
	__module_get(THIS_MODULE);	/* no unloading while the monitor runs */
	qv_watch_start();
	qv_event(QV_EVENT_ENABLED, 0, "", "the monitor runs on %u CPUs", qv_takeover.num_cpus);
	return 0;
}

static int on_disable(void *arg)
{
	struct qv_reply *r = arg;
	int error;

	qv_watch_now();
	error = qv_disable(r);
	if (error)
		return error;
	qv_watch_stop();
	module_put(THIS_MODULE);
	qv_event(QV_EVENT_DISABLED, 0, "", "Linux has the machine to itself again");
	return 0;
}

static int on_create(void *arg)
{
	return qv_cell_create(arg);
}

static int on_start(void *arg)
{
	struct qv_cell_name *n = arg;

	return qv_cell_start(&n->reply, n->name);
}

static int on_shutdown(void *arg)
{
	struct qv_cell_name *n = arg;

	return qv_cell_shutdown(&n->reply, n->name, n->timeout_ms);
}

static int on_destroy(void *arg)
{
	struct qv_cell_name *n = arg;

	return qv_cell_destroy(&n->reply, n->name);
}

static int on_lock(void *arg)
{
	struct qv_cell_name *n = arg;

	return qv_cell_lock(&n->reply, n->name);
}

static int on_unlock(void *arg)
{
	struct qv_cell_name *n = arg;

	return qv_cell_unlock(&n->reply, n->name, n->timeout_ms);
}

static int on_list(void *arg)
{
	struct qv_cell_list *l = arg;
	struct qv_cell *cell;

	l->num_cells = 0;
	list_for_each_entry(cell, &qv_cells, list)
		strscpy(l->names[l->num_cells++], cell->name, QV_NAME_LEN);
	return 0;
}

static int on_info(void *arg)
{
	qv_watch_now();
	return qv_cell_info(arg);
}

static int on_sample(void *arg)
{
	qv_watch_now();
	return qv_cell_sample(arg);
}

static int on_stats(void *arg)
{
	return qv_stats_read(arg);
}

static int on_log(void *arg)
{
	qv_watch_now();
	return qv_log_read(arg);
}

static const struct call {
	u32 cmd;
	int (*act)(void *arg);
	bool held;		/* tell how long other CPUs were in the monitor meanwhile */
} calls[] = {
	{ QV_IOC_STATUS,	on_status },
	{ QV_IOC_ENABLE,	on_enable },
	{ QV_IOC_DISABLE,	on_disable },
	{ QV_IOC_CELL_CREATE,	on_create,	true },
	{ QV_IOC_CELL_START,	on_start,	true },
	{ QV_IOC_CELL_SHUTDOWN,	on_shutdown,	true },
	{ QV_IOC_CELL_DESTROY,	on_destroy,	true },
	{ QV_IOC_CELL_LOCK,	on_lock },
	{ QV_IOC_CELL_UNLOCK,	on_unlock },
	{ QV_IOC_CELL_LIST,	on_list },
	{ QV_IOC_CELL_INFO,	on_info },
	{ QV_IOC_CELL_SAMPLE,	on_sample },
	{ QV_IOC_STATS,		on_stats },
	{ QV_IOC_LOG,		on_log },
};

static int carry_out(const struct call *call, struct qv_reply *r)
{
	bool held = call->held && qv_takeover_whole();
	u64 start;
	int error;

	if (r->abi != QV_ABI_VERSION)
		return qv_refuse(r, QV_E_ABI, "install qvctl and qv.ko of one version",
				 "the caller speaks version %u of the interface, this module %u",
				 r->abi, QV_ABI_VERSION);
	memset(r, 0, sizeof(*r));
	r->abi = QV_ABI_VERSION;
	if (held)
		qv_held_begin();
	start = ktime_get_ns();
	error = call->act(r);
	r->duration_ns = ktime_get_ns() - start;
	if (held && qv_takeover.enabled)
		r->held_ns = qv_held_ns();
	return error;
}

static long qv_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	const struct call *call = NULL;
	void *copy;
	int error;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].cmd == cmd)
			call = &calls[i];
	if (!call)
		return -ENOTTY;
	copy = memdup_user((void __user *)arg, _IOC_SIZE(cmd));
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	if (mutex_lock_interruptible(&qv_lock)) {
		kfree(copy);
		return -ERESTARTSYS;
	}
	error = carry_out(call, copy);
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

static struct miscdevice qv_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "qv",
	.fops = &qv_fops,
	.mode = 0600,
};

/* ---- what else in Linux concerns us ---- */

/* Before a CPU comes online: not one that a cell has, nor one the monitor does not know */
static int cpu_prepare(unsigned int cpu)
{
	const char *why = NULL;

	if (qv_cpu_in_cell(cpu))
		why = "a cell has it (qvctl cell list)";
	else if (READ_ONCE(qv_takeover.enabled) && qv_cpu_index(cpu) < 0)
		why = "it is outside the monitor (qvctl disable first)";
	if (!why)
		return 0;
	qv_log("driver", "CPU %u stays offline: %s", cpu, why);
	pr_warn("qv: CPU %u stays offline: %s\n", cpu, why);
	return -EPERM;			/* Linux repeats what fails by -EBUSY six times */
}

/* For who reads the log after the next boot. From any context */
static void last_word(u64 note)
{
	if (qv_takeover_whole())
		qv_hypercall(QV_HC_NOTE, note);
}

static int on_panic(struct notifier_block *nb, unsigned long action, void *data)
{
	last_word(QV_NOTE_PANIC);
	return NOTIFY_DONE;
}

/* Cells end, Linux leaves the monitor. False: @r says what is in the way */
static bool end_all(struct qv_reply *r)
{
	while (!list_empty(&qv_cells))
		if (qv_cell_destroy(r, list_first_entry(&qv_cells, struct qv_cell, list)->name))
			return false;
	return !qv_takeover.enabled || !on_disable(r);
}

static int on_reboot(struct notifier_block *nb, unsigned long action, void *data)
{
	struct qv_reply r = { 0 };

	mutex_lock(&qv_lock);
	qv_going_down = true;
	last_word(action == SYS_RESTART ? QV_NOTE_RESTART : action == SYS_HALT ? QV_NOTE_HALT : QV_NOTE_POWER_OFF);
	if (!end_all(&r))
		pr_warn("qv: Linux goes down under the monitor: %s\n", r.text);
	mutex_unlock(&qv_lock);
	return NOTIFY_DONE;
}

/* Sleep would power the CPUs down under the monitor and the cells */
static int on_sleep(struct notifier_block *nb, unsigned long action, void *data)
{
	bool going = action == PM_SUSPEND_PREPARE || action == PM_HIBERNATION_PREPARE;

	if (!going || !READ_ONCE(qv_takeover.enabled))
		return NOTIFY_DONE;
	pr_warn("qv: no sleep while QV is enabled: qvctl disable\n");
	return NOTIFY_BAD;
}

static struct notifier_block panic_block = { .notifier_call = on_panic };
static struct notifier_block reboot_block = { .notifier_call = on_reboot };
static struct notifier_block sleep_block = { .notifier_call = on_sleep };
static int hotplug_state;

static int __init qv_init(void)
{
	int error;

	qv_virt_choose();
	hotplug_state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "qv:cells", cpu_prepare, NULL);
	if (hotplug_state < 0)
		return hotplug_state;
	error = qv_nmi_register();
	if (error)
		goto no_nmi;
	error = misc_register(&qv_misc);
	if (error)
		goto no_device;
	register_reboot_notifier(&reboot_block);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	register_pm_notifier(&sleep_block);
	qv_log("driver", "qv.ko is loaded");
	qv_previous_find();
	return 0;

no_device:
	qv_nmi_unregister();
no_nmi:
	cpuhp_remove_state_nocalls(hotplug_state);
	return error;
}

/*
 * rmmod -f comes here while cells live and files are open. This code must not go before them, and
 * cannot refuse: it ends what may be ended, and waits for the rest (a locked cell that must agree, a CPU
 * that does not answer, an open file). No file can be opened meanwhile: the module is not live.
 */
static void end_in_order(void)
{
	struct qv_reply r = { 0 }, said = { 0 };
	bool ended;

	for (;;) {
		mutex_lock(&qv_lock);
		ended = end_all(&r);
		mutex_unlock(&qv_lock);
		if (ended && module_refcount(THIS_MODULE) <= 0)
			return;
		if (ended)
			strscpy(r.text, "a program has /dev/qv or a console open", sizeof(r.text));
		if (strcmp(r.text, said.text))
			pr_warn("qv: forced unloading waits: %s\n", r.text);
		said = r;
		schedule_timeout_idle(HZ / 10);
	}
}

static void __exit qv_exit(void)
{
	end_in_order();
	unregister_pm_notifier(&sleep_block);
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
	unregister_reboot_notifier(&reboot_block);
	misc_deregister(&qv_misc);
	cpuhp_remove_state_nocalls(hotplug_state);
	qv_pci_exit();
	while (qv_takeover_pending())	/* a CPU that missed a rendezvous would run our code */
		msleep(10);
	qv_nmi_unregister();
	qv_previous_drop();
}

module_init(qv_init);
module_exit(qv_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("QV: real-time cells beside a running Linux");
MODULE_VERSION("0.1");
