/* SPDX-License-Identifier: GPL-2.0-only */
/* What the driver's files share. Everything below runs under qv_lock unless it says otherwise. */
#ifndef QV_DRIVER_H
#define QV_DRIVER_H

#include <linux/kernel.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include <linux/qv.h>
#include <qv/cell.h>
#include <qv/monitor.h>

extern struct mutex qv_lock;

/* ---- calls.c: /dev/qv and its ioctls ---- */
extern const struct file_operations qv_fops;

/* ---- notifiers.c ---- */
int qv_notifiers_register(void);	/* an errno of Linux's */
void qv_notifiers_unregister(void);
bool qv_end_all(struct qv_reply *r);	/* destroys all cells and disables; false: @r says what prevents it */

/* ---- reply.c: reasons ---- */

/* Fill in the reason and return the errno that goes with it. @remedy may be "" */
int qv_refuse(struct qv_reply *r, u32 code, const char *remedy, const char *fmt, ...)
	__printf(4, 5);
/* The monitor said no: its sentence */
int qv_refuse_monitor(struct qv_reply *r, u64 error, const char *what);

/* ---- takeover.c ---- */
struct qv_takeover {
	bool enabled;
	struct page *block;		/* of the front end's instance */
	u32 num_cpus;
	u32 cpu_of[QV_MON_CPUS];	/* index -> Linux CPU */
	u32 x2apic;
	u32 text_len;
	u32 outside;			/* CPUs of the machine that are not under the monitor */
};
extern struct qv_takeover qv_takeover;
extern bool qv_going_down;	/* the machine is: what is in RAM may be wanted afterwards */

#define QV_MEET_MS	2000	/* deadline for CPUs to come together */
int qv_enable(struct qv_reply *r, bool strict);
int qv_disable(struct qv_reply *r);
/* A CPU that never answered the last enable may still come: true while one may */
int qv_nmi_register(void);		/* nmi.c; an errno of Linux's */
void qv_nmi_reset(void);		/* a new monitor counts from zero */
void qv_nmi_unregister(void);
bool qv_takeover_pending(void);
bool qv_takeover_whole(void);	/* every CPU is under the monitor: hypercalls may be made */
int qv_cpu_index(u32 linux_cpu);	/* index of a CPU under the monitor, or -1 */
bool qv_cpu_lost(u32 linux_cpu);	/* a cell's, and it does not answer the monitor */

/* ---- outside.c: CPUs that are offline at enable ---- */
void qv_outside_gather(void);	/* online, all that Linux lets come */
void qv_outside_return(void);	/* online again, those that gather() had brought */
void qv_outside_park(void);	/* offline, those that these two have brought */
u32 qv_outside_count(void);	/* CPUs that are not online */

/* ---- block.c: qv_takeover.block ---- */
int qv_block_make(struct qv_reply *r);	/* on error as well there may be a block */
void qv_block_free(void);

/* ---- preflight.c ---- */
/* Why enable would fail, 0 if nothing is known against it */
int qv_preflight(struct qv_reply *r);

/* ---- virt.c: the processor's virtualization; all that knows a vendor is in svm.c, vmx.c and their trampolines ---- */

/* One CPU on its way between Linux and the monitor */
struct qv_crossing {
	struct qv_linux_state *state;	/* in the CPU's area (monitor.h) */
	u64 area_pa, area_va;		/* the area: physical, and where the monitor sees it */
	u64 cr3, cr4, entry;		/* of the monitor */
	u64 gdt, idt;			/* the monitor's, where it sees them */
	const struct qv_mon_boot *boot;	/* as filled on the first CPU */
	bool spoil;			/* for tests: do a step that the processor refuses */
	char step[72];			/* out: what the processor refused; empty: nothing */
	u32 number;			/* out: VM-instruction error that came with it; 0: none */
};

struct qv_virt {
	const char *name, *feature, *kvm;	/* as people call it, as the CPU does, the module that would hold it */
	const char *no_virt_remedy;
	u32 vendor;			/* as in qv_status_info and qv_image_header */
	const u8 *image, *image_end;	/* the monitor; empty: this module was built without it */
	bool (*present)(void);
	u32 (*features)(void);		/* QV_FEATURE_*; only where it is present */
	int (*preflight)(struct qv_reply *r);	/* it is present: what of it is missing, or switched off? */
	bool (*in_use)(void);		/* on this CPU, by another hypervisor */
	void (*fill)(struct qv_mon_boot *b);	/* what the monitor must know of it */
	/* On a CPU with interrupts off: all that the processor may refuse; false: c->step says what */
	bool (*ready)(struct qv_crossing *c);
	void (*unready)(struct qv_crossing *c);		/* as before ready() */
	u64 (*enter)(struct qv_crossing *c);		/* 0: as a guest; else enum qv_mon_error, and as before ready() */
	u64 (*leave)(struct qv_crossing *c);		/* 0, or the monitor's refusal */
	u64 (*hypercall)(u64 nr, u64 a, u64 b);		/* QV_ME_CALL as well when it raised a fault */
};
extern const struct qv_virt qv_svm, qv_vmx;
extern const struct qv_virt *qv_virt;		/* this processor's; NULL: of a maker we do not know */

void qv_virt_choose(void);			/* when the module comes */
u32 qv_virt_vendor(void);			/* as in qv_status_info */
u32 qv_virt_features(void);			/* QV_FEATURE_* */
const struct qv_image_header *qv_virt_image(void);	/* or NULL: there is none */
int qv_virt_preflight(struct qv_reply *r);
int qv_virt_refuse_in_use(struct qv_reply *r);
u64 qv_hypercall(u64 nr, u64 a);		/* enum qv_hypercall; only while enabled */
/* The same, patient while another call is under way. May sleep */
u64 qv_manage(u64 nr, u64 a);

/* ---- own accessors, so that one source serves all kernel versions ---- */
static inline u64 qv_rdmsr(u32 msr)
{
	u32 lo, hi;

	asm volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr));
	return (u64)hi << 32 | lo;
}

static inline void qv_wrmsr(u32 msr, u64 value)
{
	asm volatile("wrmsr" : : "c"(msr), "a"((u32)value), "d"((u32)(value >> 32)) : "memory");
}

static inline u64 qv_cr0(void)
{
	u64 value;

	asm volatile("mov %%cr0, %0" : "=r"(value));
	return value;
}

static inline u64 qv_cr4(void)
{
	u64 value;

	asm volatile("mov %%cr4, %0" : "=r"(value));
	return value;
}

struct qv_regs { u32 eax, ebx, ecx, edx; };

static inline struct qv_regs qv_cpuid(u32 leaf)
{
	struct qv_regs r;

	asm volatile("cpuid" : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
		     : "a"(leaf), "c"(0));
	return r;
}

/* This CPU's */
static inline u32 qv_apic_id(void)
{
	return qv_takeover.x2apic ? qv_rdmsr(0x802) : qv_cpuid(1).ebx >> 24;
}

static inline u64 qv_rdtsc(void)
{
	u32 lo, hi;

	asm volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (u64)hi << 32 | lo;
}

/* ---- log.c, events.c: callable from anywhere that may sleep ---- */
void qv_log(const char *source, const char *fmt, ...) __printf(2, 3);
int qv_log_read(struct qv_log *l);
/* One line to the reader: 1: put, 0: no room, else refused */
int qv_log_put(struct qv_log *l, u32 *used, u64 time_ns, const char *text);
/* @holder: the name of the cell that has an instance of the monitor, or NULL */
void qv_log_sentence(char *to, u32 len, const struct qv_mon_log_entry *e, const char *(*holder)(u64 instance));
void qv_log_holder(u64 instance, const char *name);	/* from now on @name has it */
const char *qv_failure_sentence(u32 reason);		/* enum qv_failure */
/* previous.c: the log that a warm reset left in RAM */
void qv_previous_find(void);	/* when the module comes */
void qv_previous_drop(void);
int qv_previous_read(struct qv_log *l);
void qv_log_drain(const char *source, struct page *block, u64 *seen);
void qv_event(u32 type, u32 state, const char *name, const char *fmt, ...) __printf(4, 5);

/* ---- memory.c ---- */
struct qv_memory {			/* 2 MiB pages, ascending */
	u32 num;
	struct page **pages;
};
int qv_memory_take(struct qv_memory *m, u32 num);
void qv_memory_give(struct qv_memory *m);
/* Guest-physical view: copy in, clear; false: outside */
bool qv_memory_write(struct qv_memory *m, u64 gpa, const void *from, u64 len);
bool qv_memory_zero(struct qv_memory *m, u64 gpa, u64 len);
/* Cleared pages for the front end's block, or NULL */
struct page *qv_memory_take_block(u32 order);

/* ---- console.c: lives until the last file on it is closed ---- */
struct qv_console {
	struct kref kref;
	struct miscdevice misc;
	char misc_name[QV_NAME_LEN + 16], node[QV_NAME_LEN + 24];
	struct page *pages[8];
	struct qv_comm *comm;
	struct mutex lock;		/* keys */
	wait_queue_head_t wait;
	u32 head;			/* our own copy of comm->keys_head */
	u32 instance;			/* to ring its doorbell; 0: not running */
	bool gone, writer;
};
struct qv_console *qv_console_create(const char *name);
int qv_console_publish(struct qv_console *c);
void qv_console_reset(struct qv_console *c);	/* before a start */
void qv_console_set_instance(struct qv_console *c, u32 instance);
void qv_console_destroy(struct qv_console *c);
bool qv_console_request(struct qv_console *c, u32 request);

/* ---- cell.c ---- */
struct qv_given {			/* a PCI function of a cell; pci.c */
	struct pci_dev *pdev;
	struct pci_saved_state *saved;
	bool had_driver;
	char driver[QV_NAME_LEN];	/* of Linux */
	u32 state;			/* QV_DEVICE_* */
	struct qv_mon_device monitor;
};
struct qv_cell {
	struct list_head list;
	char name[QV_NAME_LEN];
	u32 id;				/* instance, while the monitor knows it */
	u32 state;			/* enum qv_cell_state */
	bool in_monitor_running;	/* started and not yet stopped there, failed or not */
	u32 num_cpus, cpus[QV_MAX_CPUS];
	u32 cpus_taken;			/* how many of them have left Linux */
	struct qv_cell_create *config;
	void *image;
	struct qv_memory memory;
	u32 num_devices;		/* taken so far */
	struct qv_given devices[QV_MAX_DEVICES];
	struct page *block;
	struct qv_console *console;	/* its pages exist even when no console is shown */
	struct qv_mon_entry entry;
	u64 log_seen;
	u64 beat;			/* heartbeat at the last look ... */
	u32 still_ms;			/* ... and how long it has not moved */
	bool was_locked;		/* at the last look */
	bool stop_later;		/* it hangs, and a lock forbids to stop it */
	bool forced;			/* shut down, and not by itself */
	u64 started_ns, start_tsc, first_entry_ns;
	struct qv_mon_failure failure, last_failure;	/* of this life; of the last that failed */
	u64 failures;
};
extern struct list_head qv_cells;
extern u32 qv_num_cells;

struct qv_cell *qv_cell_find(const char *name);
int qv_cell_check(struct qv_cell_create *q);	/* cell_check.c */
/* No cell but @self (NULL: none) has one of these ports. 0 or an errno, with the refusal in @r */
int qv_check_ports(struct qv_reply *r, const struct qv_cell *self, u32 first, u32 last);
int qv_cell_create(struct qv_cell_create *q);
int qv_cell_start(struct qv_reply *r, struct qv_cell *cell);
int qv_cell_shutdown(struct qv_reply *r, struct qv_cell *cell, u32 timeout_ms);
int qv_cell_destroy(struct qv_reply *r, struct qv_cell *cell);
void qv_cell_info(struct qv_cell_info *info, struct qv_cell *cell);	/* cell_info.c */
int qv_cell_sample(struct qv_cell_sample *s, struct qv_cell *cell);
int qv_cell_stop(struct qv_cell *cell);		/* its CPUs run the inmate no more; a refusal is logged */
int qv_no_cell(struct qv_reply *r, const char *name);
/* Give up the lock until @what holds of a cell that runs, or the time is over, or a signal came */
bool qv_cell_await(const char *name, u32 timeout_ms, bool (*what)(struct qv_cell *cell));
bool qv_cpu_in_cell(u32 linux_cpu);
struct qv_mon_status *qv_cell_status(struct qv_cell *cell);

/* ---- lock.c ---- */
bool qv_cell_locked(struct qv_cell *cell);	/* it runs, and has locked management */
struct qv_cell *qv_lock_holder(void);		/* or NULL */
int qv_lock_check(struct qv_reply *r);		/* refuses when there is one */
int qv_cell_lock(struct qv_reply *r, struct qv_cell *cell);
int qv_cell_unlock(struct qv_reply *r, struct qv_cell *cell, u32 timeout_ms);
/* ---- pci.c ---- */
int qv_pci_take(struct qv_reply *r, struct qv_cell *cell);	/* all in cell->config; what was taken stays on error */
void qv_pci_give(struct qv_cell *cell);
void qv_pci_reset(struct qv_cell *cell);	/* before each life of the cell */
bool qv_irqs_remapped(void);		/* interrupts of Linux's go through an IOMMU's table */
void qv_pci_info(const struct qv_cell *cell, struct qv_info *info);
void qv_pci_request(const struct qv_cell *cell, struct qv_mon_create *m);
void qv_pci_exit(void);

/* ---- firmware.c: from ACPI tables ---- */
struct qv_firmware { u64 ecam_pa, ecam_len; u32 num_ioapics; };
extern struct qv_firmware qv_firmware;	/* as in qv_mon_boot; valid while enabled */
void qv_firmware_read(struct qv_mon_boot *b);
u32 qv_firmware_cpus(void);		/* that may run, as the MADT lists them; 0: there is none */

/* ---- watch.c: looks after running cells and the logs ---- */
void qv_watch_start(void);
void qv_watch_stop(void);
void qv_watch_now(void);		/* takes note of what happened until now */
void qv_watch_lost(struct qv_cell *cell, u32 cpu);	/* @cpu of it does not answer the monitor */

/* ---- stats.c ---- */
int qv_stats_read(struct qv_stats *s);
u64 qv_held_ns(void);			/* longest stay of a CPU in the monitor since qv_held_begin() */
void qv_held_begin(void);		/* what was measured until now stays in the statistics */

#endif
