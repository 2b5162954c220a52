// SPDX-License-Identifier: GPL-2.0-only
/* Notifications of Linux: a CPU comes online, a panic, the machine goes down or to sleep. */
#include <linux/cpuhotplug.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/reboot.h>
#include <linux/suspend.h>
#include "abi/calls.h"
#include "qv.h"
#include "cells.h"
#include "cross.h"
#include "main.h"
#include "watch.h"
#include "cell/life.h"
#include "cell/steps.h"
#include "parts/cpus.h"

/* Before a CPU comes online: refuses it if a cell has it, or if it is outside the monitor */
static int notify_cpu(unsigned int cpu)
{
	const char *why = NULL;

	if (qv_cpu_in_cell(cpu))
		why = "a cell has it (qvctl cell list)";
	else if (READ_ONCE(qv_takeover.enabled) && qv_cpu_index(cpu) < 0)
		why = "it is outside the monitor (qvctl disable first)";
	if (!why)
		return qv_ipi_cpu_comes(cpu);
	qv_log("driver", "CPU %u stays offline: %s", cpu, why);
	pr_warn("qv: CPU %u stays offline: %s\n", cpu, why);
	return -EPERM;			/* not -EBUSY: after that errno Linux tries six times */
}

static int notify_cpu_went(unsigned int cpu)
{
	qv_ipi_cpu_went(cpu);
	return 0;
}

/*
 * Adds Linux's last event to the monitor's log, for the reader after the next boot. Callable from
 * any context
 */
static void notify_monitor(u64 note)
{
	if (qv_takeover_whole())
		qv_hypercall(QV_HC_NOTE, note);
}

static int notify_panic(struct notifier_block *nb, unsigned long action, void *data)
{
	notify_monitor(QV_NOTE_PANIC);
	return NOTIFY_DONE;
}

bool qv_end_all(struct qv_reply *r)
{
	while (!list_empty(&qv_cells)) {
		struct qv_cell *cell = list_first_entry(&qv_cells, struct qv_cell, list);

		if (qv_lock_check(r) || qv_cell_destroy(r, cell))
			return false;
	}
	qv_watch_now();
	return !qv_takeover.enabled || !qv_disable(r);
}

/*
 * Linux goes down under the monitor. If another kernel is to be executed now (`kexec -e`), resets
 * the machine instead: the new kernel could not end the monitor, and would not know the memory and
 * CPUs of the cells. @how is the text that kernel_kexec() passes to the notifiers.
 */
static void notify_kexec(const char *how)
{
	if (!how || strcmp(how, "kexec reboot"))
		return;
	pr_emerg("qv: no kexec under the monitor: the machine is reset\n");
	emergency_restart();
}

static int notify_reboot(struct notifier_block *nb, unsigned long action, void *data)
{
	struct qv_reply r = { 0 };

	mutex_lock(&qv_lock);
	qv_going_down = true;
	notify_monitor(action == SYS_RESTART ? QV_NOTE_RESTART :
		       action == SYS_HALT ? QV_NOTE_HALT : QV_NOTE_POWER_OFF);
	if (!qv_end_all(&r)) {
		pr_warn("qv: Linux goes down under the monitor: %s\n", r.text);
		notify_kexec(data);
	}
	mutex_unlock(&qv_lock);
	return NOTIFY_DONE;
}

/*
 * Refuses sleep, which would power off the CPUs of the monitor and the cells. An enable under way
 * ends before the decision, and none begins until Linux is awake again.
 */
static int notify_sleep(struct notifier_block *nb, unsigned long action, void *data)
{
	bool going = action == PM_SUSPEND_PREPARE || action == PM_HIBERNATION_PREPARE ||
		     action == PM_RESTORE_PREPARE, refused;

	mutex_lock(&qv_lock);
	refused = going && qv_takeover.enabled;
	qv_going_to_sleep = going && !refused;
	mutex_unlock(&qv_lock);
	if (!refused)
		return NOTIFY_DONE;
	pr_warn("qv: no sleep while QV is enabled: qvctl disable\n");
	return NOTIFY_BAD;
}

static struct notifier_block panic_nb = { .notifier_call = notify_panic };
static struct notifier_block reboot_nb = { .notifier_call = notify_reboot };
static struct notifier_block sleep_nb = { .notifier_call = notify_sleep };
static int hotplug_state;

int qv_notifiers_register(void)
{
	int error;

	hotplug_state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "qv:cells", notify_cpu,
						  notify_cpu_went);
	if (hotplug_state < 0)
		return hotplug_state;
	error = qv_ipi_register();
	if (error) {
		cpuhp_remove_state_nocalls(hotplug_state);
		return error;
	}
	register_reboot_notifier(&reboot_nb);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_nb);
	register_pm_notifier(&sleep_nb);
	return 0;
}

void qv_notifiers_unregister(void)
{
	unregister_pm_notifier(&sleep_nb);
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_nb);
	unregister_reboot_notifier(&reboot_nb);
	qv_ipi_unregister();
	cpuhp_remove_state_nocalls(hotplug_state);
}
