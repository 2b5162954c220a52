/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cells: each is a list of parts, a console, and a life. Functions are called with qv_lock held
 * unless their comment says otherwise.
 */
#ifndef QV_DRIVER_CELLS_H
#define QV_DRIVER_CELLS_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include "abi/create.h"
#include "abi/status.h"

#define QV_DOORBELL_VECTOR	0x21

/* ---- structures ---- */
struct qv_memory {			/* 2 MiB pages, ascending */
	u32 num;
	struct page **pages;
};
struct qv_pci_given {		/* a PCI function of a cell */
	struct pci_dev *pdev;
	struct pci_saved_state *saved;
	bool had_driver;
	char driver[QV_NAME_LEN];	/* the Linux driver that it had */
	u32 state;			/* QV_DEVICE_* */
	struct qv_mon_device monitor;
};
struct qv_console {
	struct kref kref;
	struct miscdevice misc;
	char misc_name[QV_NAME_LEN + 16], node[QV_NAME_LEN + 24];
	struct page *pages[8];
	struct qv_comm *comm;
	struct mutex lock;		/* of all below */
	wait_queue_head_t wait;
	/* copy of comm->keys_head, which the inmate may overwrite */
	u32 head;
	u32 instance;			/* instance to ring; 0: not running */
	bool gone, writer;
};
struct qv_cell {
	struct list_head list;
	char name[QV_NAME_LEN];
	u32 id;				/* of its instance; 0 while the monitor does not have it */
	u32 state;			/* enum qv_cell_state */
	/* started and not yet stopped in the monitor, even if it failed */
	bool in_monitor_running;
	u32 num_cpus, cpus[QV_MAX_CPUS];
	u32 cpus_taken;			/* how many of .cpus have left Linux */
	struct qv_cell_create *config;
	void *image;
	struct qv_memory memory;
	u32 num_devices;		/* how many functions are taken */
	struct qv_pci_given devices[QV_MAX_DEVICES];
	struct page *monitor_mem;	/* of its instance: QV_BLOCK_CELL */
	struct qv_console *console;	/* its pages exist even if there is no device for them */
	struct qv_mon_entry entry;
	u64 log_seen;
	u64 beat;			/* heartbeat at the last look */
	u32 still_ms;			/* how long .beat has not changed */
	bool was_locked;		/* at the last look */
	bool stop_later;		/* it hangs, and is stopped when management is unlocked */
	bool forced;			/* stopped before it had halted by itself */
	u64 started_ns, start_tsc, first_entry_ns;
	/* of this life; of the last life that failed */
	struct qv_mon_failure failure, last_failure;
	u64 failures;
};

/* ---- cell/list.c ---- */
extern struct list_head qv_cells;
extern u32 qv_num_cells;

struct qv_cell *qv_cell_find(const char *name);	/* or NULL */
int qv_no_cell(struct qv_reply *r, const char *name);	/* refuses, since none has that name */
struct qv_mon_status *qv_cell_status(struct qv_cell *cell);

/*
 * ---- parts: take from Linux, describe to the monitor, give back. After an error take() has kept
 * some ----
 */
int qv_cpus_take(struct qv_reply *r, struct qv_cell *cell);
void qv_cpus_describe(const struct qv_cell *cell, struct qv_mon_create *m);
void qv_cpus_give(struct qv_cell *cell);	/* all but those that are lost */
bool qv_cpu_in_cell(u32 linux_cpu);		/* without qv_lock as well */

int qv_memory_take(struct qv_reply *r, struct qv_cell *cell);
void qv_memory_describe(const struct qv_cell *cell, struct qv_mon_create *m);
void qv_memory_give(struct qv_cell *cell);
/* Copy to, and clear, guest-physical memory. Return false if some of it is outside */
bool qv_memory_write(struct qv_memory *m, u64 gpa, const void *from, u64 len);
bool qv_memory_zero(struct qv_memory *m, u64 gpa, u64 len);

/*
 * Does any cell but @self (NULL: none) have one of these ports? Returns 0 or an errno, with the
 * refusal in @r
 */
int qv_ports_check(struct qv_reply *r, const struct qv_cell *self, u32 first, u32 last);
void qv_ports_describe(const struct qv_cell *cell, struct qv_mon_create *m);

int qv_pci_take(struct qv_reply *r, struct qv_cell *cell);
void qv_pci_describe(const struct qv_cell *cell, struct qv_mon_create *m);
/* describes them to the inmate */
void qv_pci_info(const struct qv_cell *cell, struct qv_info *info);
void qv_pci_reset(struct qv_cell *cell);	/* before each life of the cell */
void qv_pci_give(struct qv_cell *cell);
void qv_pci_exit(void);

/* ---- cell/console.c: lives until the last file on it is closed; callable without qv_lock ---- */
struct qv_console *qv_console_create(const char *name);
int qv_console_publish(struct qv_console *c);
void qv_console_reset(struct qv_console *c);	/* before a start */
void qv_console_set_instance(struct qv_console *c, u32 instance);
void qv_console_destroy(struct qv_console *c);
bool qv_console_request(struct qv_console *c, u32 request);

/* ---- cell/lock.c ---- */
bool qv_cell_locked(struct qv_cell *cell);	/* it is running and has locked management */
struct qv_cell *qv_lock_holder(void);		/* or NULL */
int qv_lock_check(struct qv_reply *r);		/* refuses if there is one */

/* ---- cell/failure.c ---- */
void qv_failure_record(struct qv_cell *cell, const struct qv_mon_failure *f, const char *more);
void qv_failure_lost(struct qv_cell *cell, u32 cpu);	/* @cpu of it does not answer the monitor */
int qv_failure_refuse_lost(struct qv_reply *r, const struct qv_cell *cell);

/* ---- cell/check.c, cell/load.c, cell/handover.c: steps of a cell's life ---- */
int qv_cell_check(struct qv_cell_create *q);
int qv_cell_load(struct qv_reply *r, struct qv_cell *cell);
int qv_handover_create(struct qv_reply *r, struct qv_cell *cell);
int qv_handover_start(struct qv_reply *r, struct qv_cell *cell);
/* its CPUs no longer run the inmate */
int qv_handover_stop(struct qv_reply *r, struct qv_cell *cell);
/* memory and CPUs; the cell must not run */
int qv_handover_reclaim(struct qv_reply *r, struct qv_cell *cell);

/* ---- watch.c: looks at running cells and at the logs ---- */
void qv_watch_start(void);
void qv_watch_stop(void);
void qv_watch_now(void);		/* records what happened until now */

/* ---- cell/agree.c ---- */
/*
 * Drops qv_lock until @what holds of a running cell. Returns false at the timeout, or if a signal
 * came
 */
bool qv_cell_await(const char *name, u32 timeout_ms, bool (*what)(struct qv_cell *cell));
int qv_cell_lock(struct qv_reply *r, struct qv_cell *cell);
int qv_cell_unlock(struct qv_reply *r, struct qv_cell *cell, u32 timeout_ms);

/* ---- cell/life.c, cell/info.c, stats.c: the calls; arguments as in uapi/linux/qv.h ---- */
int qv_cell_create(struct qv_cell_create *q);
int qv_cell_start(struct qv_reply *r, struct qv_cell *cell);
int qv_cell_shutdown(struct qv_reply *r, struct qv_cell *cell, u32 timeout_ms);
int qv_cell_destroy(struct qv_reply *r, struct qv_cell *cell);
void qv_cell_info(struct qv_cell_info *info, struct qv_cell *cell);
int qv_cell_sample(struct qv_cell_sample *s, struct qv_cell *cell);
int qv_stats_read(struct qv_stats *s);
/* longest stay of a CPU in the monitor since qv_held_begin() */
u64 qv_held_ns(void);
void qv_held_begin(void);		/* statistics keep what was measured before */

/* ---- calls.c, notifiers.c: registered by main.c ---- */
extern const struct file_operations qv_fops;
int qv_notifiers_register(void);	/* returns an errno */
void qv_notifiers_unregister(void);
/* destroys all cells and disables; false: @r says what prevents it */
bool qv_end_all(struct qv_reply *r);

#endif
