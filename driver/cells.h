/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cell, and the list of cells. parts.h has the resources of a cell, cell/ its life. Both are used
 * with qv_lock held.
 */
#ifndef QV_DRIVER_CELLS_H
#define QV_DRIVER_CELLS_H

#include <linux/list.h>
#include <linux/qv.h>
#include "abi/create.h"
#include "abi/log.h"
#include "abi/status.h"
#include "parts.h"
#include "parts/memory.h"
#include "parts/pci.h"

struct qv_channel_dev;

/* A cell: the request that created it, its parts, its instance of the monitor, its present life */
struct qv_cell {
	struct list_head list;
	char name[QV_NAME_LEN];
	struct qv_cell_create *config;	/* copy of the request for the cell */
	void *image;			/* copy of its image */
	void *modules[QV_MAX_MODULES];	/* copies of its modules */

	/* ---- parts ---- */
	u32 num_cpus, cpus[QV_MAX_CPUS];
	u32 cpus_taken;			/* number of .cpus that have left Linux */
	struct qv_memory memory;
	/* memory of the cell's monitor instance: QV_BLOCK_CELL bytes */
	struct page *monitor_mem;
	u32 num_devices;		/* number of PCI functions that were taken from Linux */
	struct qv_pci_given devices[QV_MAX_DEVICES];
	struct qv_console *console;
	u32 num_channels;
	struct qv_channel_dev *channels[QV_MAX_CHANNELS];
	bool channels_begun;		/* a uevent has announced this life at its channels */
	u32 num_key_mem;		/* pages of 2 MiB for channels at run time */
	struct qv_channel_mem *key_mem[QV_MAX_CHANNELS];
	u32 rom_pages;			/* 2 MiB pages at the end of .memory: parts/standby.c */
	/* entry point of the loaded image; on standby, of the ROM */
	struct qv_mon_entry entry;

	/* ---- its instance ---- */
	/* number of the instance; 0 while the monitor does not have the cell */
	u32 id;
	/* true from start to stop in the monitor, even if the cell failed */
	bool in_monitor_running;
	u64 log_seen[QV_MON_LOG_RINGS];
	bool x2apic;			/* its APICs are in x2APIC mode */

	/* ---- its life ---- */
	u32 state;			/* enum qv_cell_state */
	bool forced;			/* stopped before it had halted by itself */
	u64 started_ns, start_tsc, first_entry_ns;
	/* failure of this life; failure of the last life that failed */
	struct qv_mon_failure failure, last_failure;
	u64 failed_ns, last_failed_ns;	/* CLOCK_BOOTTIME of both */
	u64 failures;
	/* on standby: how often it began again since its start, and how long that took at last */
	u32 restarts;
	u64 restart_ns;

	/* ---- what watch.c saw at its last look ---- */
	u64 beat;			/* heartbeat */
	u32 panicked_ms;		/* so long its comm page says that it panicked, and 1 */
	u32 still_ms;			/* for how many ms .beat has not changed */
	bool was_locked;
	bool stop_later;		/* the cell hangs: stop it when management is unlocked */
};

/* ---- cell/list.c ---- */
extern struct list_head qv_cells;
extern u32 qv_num_cells;

struct qv_cell *qv_cell_find(const char *name);	/* or NULL */
int qv_no_cell(struct qv_reply *r, const char *name);	/* refuses if no cell has that name */
struct qv_mon_status *qv_cell_status(struct qv_cell *cell);

#endif
