// SPDX-License-Identifier: GPL-2.0-only
/*
 * driver/parts/pci_heir.c and driver/watch.c: the times of looks for a cell that has failed, and
 * the events and lines of the log after a move
 */
#include <linux/pci.h>
#include <linux/workqueue.h>
#include <string.h>
#include "qv.h"
#include "cells.h"
#include "watch.h"
#include "abi/calls.h"
#include "cell/steps.h"
#include "parts/console.h"
#include "unit.h"

static u64 move_result;
static u32 next_look;			/* in jiffies of 4 ms */
static bool locked;			/* another call holds qv_lock */
static char said[1024];			/* all events */

static void say(const char *fmt, ...)
{
	size_t n = strlen(said);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said + n, sizeof(said) - n, fmt, ap);
	va_end(ap);
	strncat(said, "\n", sizeof(said) - strlen(said) - 1);
}

static u64 manage(u64 nr, u64 a)
{
	return nr == QV_HC_MOVE ? move_result : 0;
}

static struct qv_mon_status *status_of(struct qv_cell *cell)
{
	static struct qv_mon_status statuses[2];

	return &statuses[cell->id - 1];
}

static int stop(struct qv_reply *r, struct qv_cell *cell)
{
	cell->in_monitor_running = false;
	return 0;
}

static int refuse(struct qv_reply *r, u64 error)
{
	snprintf(r->text, sizeof(r->text), "error %llu", error);
	return -EINVAL;
}

/* The functions of the driver that these two files call, except those of PCI */
#define qv_event(type, state, name, ...)	say(__VA_ARGS__)
#define qv_manage				manage
#define qv_cell_status				status_of
#define qv_handover_stop			stop
#define qv_refuse_monitor(r, error, what)	refuse(r, error)
#define qv_lock_holder()			NULL
#define qv_cell_locked(cell)			false
#define qv_console_ring(console)		((void)0)
#define qv_log_drain(name, mem, seen)		((void)0)
#define qv_iommu_look()				((void)0)
#define qv_parts_end(cell)			((void)0)
#define qv_failure_record(cell, f, more)	((cell)->state = QV_STATE_FAILED)
#define qv_failure_again(cell, f, n, at, more)	((void)(more))
#undef schedule_delayed_work
#define schedule_delayed_work(work, jiffies)	((void)(work), next_look = (jiffies))
#define mutex_trylock(m)			(!locked)
#undef mutex_unlock
#define mutex_unlock(m)				((void)(m))
#include "../../../driver/parts/pci_heir.c"
#include "../../../driver/watch.c"

static struct pci_dev function;
static struct qv_console console;
static struct qv_comm comm;
static struct qv_cell_create config;
static struct qv_cell first, heir;

static void add(struct qv_cell *cell, const char *name, u32 id, u32 dma)
{
	memset(cell, 0, sizeof(*cell));
	strcpy(cell->name, name);
	cell->id = id;
	cell->state = QV_STATE_RUNNING;
	cell->config = &config;
	cell->console = &console;
	cell->in_monitor_running = true;
	cell->num_devices = 1;
	cell->devices[0] = (struct qv_pci_given){ .pdev = &function, .dma = dma };
	status_of(cell)->state = QV_MON_RUNNING;
	list_add_tail(&cell->list, &qv_cells);
}

/* Both run, and the second one waits for the function of the first */
static void both_run(u32 dma)
{
	INIT_LIST_HEAD(&qv_cells);
	console.comm = &comm;
	move_result = 0;
	locked = false;
	said[0] = 0;
	qv_log_init();
	add(&first, "first", 1, dma);
	add(&heir, "heir", 2, dma);
	heir.devices[0].monitor.flags = QV_MON_DEVICE_HEIR;
	qv_takeover.enabled = true;
	qv_watch_start();
}

static void fails(void)
{
	status_of(&first)->state = QV_MON_FAILED;
	watch_periodically(NULL);
	INIT_LIST_HEAD(&qv_cells);
}

/* Returns true if the log has these words */
static bool logged(const char *words)
{
	static char text[4096];
	struct qv_log l = { .buf = (uintptr_t)text, .len = sizeof(text) - 1 };

	memset(text, 0, sizeof(text));
	CHECK_EQ(qv_log_read(&l), 0);
	return strstr(text, words);
}

/* Other calls take the lock as often as programs make them */
static void looks(void)
{
	both_run(QV_DMA_PROTECTED);
	watch_periodically(NULL);
	CHECK_EQ(next_look, msecs_to_jiffies(WATCH_HEIRS_MS));
	locked = true;
	watch_periodically(NULL);
	CHECK_EQ(next_look, msecs_to_jiffies(WATCH_HEIRS_MS));
	locked = false;
	heir.num_devices = 0;
	watch_periodically(NULL);
	CHECK_EQ(next_look, msecs_to_jiffies(WATCH_PERIOD_MS));
	fails();
}

static void moved(void)
{
	both_run(QV_DMA_PROTECTED);
	fails();
	CHECK(qv_pci_waits(&first.devices[0]) && !qv_pci_waits(&heir.devices[0]));
	CHECK(strstr(said, "moved from cell first") && !strstr(said, "does not answer"));
	CHECK(!logged("unsafe-dma"));
}

static void unsafe(void)
{
	both_run(QV_DMA_UNSAFE);
	fails();
	CHECK(logged("unsafe-dma: PCI function 0000:00:05.0, inherited by cell heir, "
		     "can read and write all memory"));
}

/* The function has moved nevertheless */
static void silent(void)
{
	both_run(QV_DMA_PROTECTED);
	move_result = QV_ME_SILENT;
	fails();
	CHECK(!qv_pci_waits(&heir.devices[0]) && strstr(said, "moved from cell first"));
	CHECK(strstr(said, "DMA of PCI function 0000:00:05.0 may be blocked: "
			   "a unit of the IOMMU does not answer"));
}

static void refused(void)
{
	both_run(QV_DMA_PROTECTED);
	move_result = QV_ME_IOMMU;
	fails();
	CHECK(qv_pci_waits(&heir.devices[0]) && logged("stays with cell first, not heir"));
}

UNIT_SUITE(heir) = {
	{ "heir: the driver looks as often while another call is under way", looks },
	{ "heir: an event tells of a move", moved },
	{ "heir: the log says that the heir's function can reach all memory", unsafe },
	{ "heir: the log says that DMA may be blocked after a move", silent },
	{ "heir: the log says that a function stays", refused },
	{ 0 }
};
