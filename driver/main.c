// SPDX-License-Identifier: GPL-2.0-only
/* qv.ko as a module: how it is loaded and registered, and how it is unloaded. */
#include <linux/delay.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include "qv.h"
#include "cross.h"
#include "main.h"
#include "parts.h"
#include "parts/pool.h"

static struct miscdevice qv_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "qv",
	.fops = &qv_fops,
	.mode = 0600,
};

static int __init qv_init(void)
{
	int error;

	qv_log_init();
	qv_virt_choose();
	error = qv_notifiers_register();
	if (error)
		return error;
	error = qv_nmi_register();
	if (error)
		goto no_nmi;
	error = misc_register(&qv_misc);
	if (error)
		goto no_device;
	qv_log("driver", "qv.ko is loaded");
	mutex_lock(&qv_lock);
	qv_pool_load();
	mutex_unlock(&qv_lock);
	qv_previous_find();
	return 0;

no_device:
	qv_nmi_unregister();
no_nmi:
	qv_notifiers_unregister();
	return error;
}

/*
 * With rmmod -f cells may exist and files may be open. The module cannot refuse, but its code is
 * still needed. So this destroys the cells that it can, and waits for the rest: a locked cell that
 * must agree, a CPU that does not answer, an open file. No file can be opened meanwhile, since the
 * module is not live.
 */
static void qv_end_in_order(void)
{
	struct qv_reply r = { 0 }, said = { 0 };
	bool ended;

	for (;;) {
		mutex_lock(&qv_lock);
		ended = qv_end_all(&r);
		mutex_unlock(&qv_lock);
		if (ended && module_refcount(THIS_MODULE) <= 0)
			return;
		if (ended)
			strscpy(r.text, "a program has /dev/qv, a console or a channel open",
				sizeof(r.text));
		if (strcmp(r.text, said.text))
			pr_warn("qv: forced unloading waits: %s\n", r.text);
		said = r;
		schedule_timeout_idle(HZ / 10);
	}
}

static void __exit qv_exit(void)
{
	qv_end_in_order();
	qv_notifiers_unregister();
	misc_deregister(&qv_misc);
	qv_parts_unload();
	/* a CPU that missed a take-over still executes this code */
	while (qv_takeover_pending())
		msleep(10);
	qv_nmi_unregister();
	qv_previous_drop();
}

module_init(qv_init);
module_exit(qv_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("QV: real-time cells next to a running Linux");
MODULE_VERSION("0.3");
