/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For every file of the driver: replies, the log, events, whether the monitor runs, hypercalls.
 * cross.h is about enabling and disabling QV, cells.h and cell/ about cells, parts.h about their
 * resources. Functions are called with qv_lock held unless their comment says otherwise.
 *
 * Files depend on each other in one direction only: main; notifiers and calls; cross/enable,
 * cell/life, cell/agree and stats; watch; the other files of cell/; parts/parts; the other files of
 * parts/; cell/list, cell/multiboot2 and the other files of cross/; cross/state, events, log,
 * log_sentence, log_book and reply.
 */
#ifndef QV_DRIVER_H
#define QV_DRIVER_H

#include <linux/kernel.h>
#include <linux/io.h>
#include <linux/ktime.h>
#include <linux/mutex.h>

#include <linux/qv.h>
#include <qv/cell.h>
#include "abi/log.h"
#include "abi/status.h"

/* ---- reply.c: refusals; without qv_lock as well ---- */

/* Fills in the reason. @remedy may be "". Returns the errno that goes with @code */
int qv_refuse(struct qv_reply *r, u32 code, const char *remedy, const char *fmt, ...)
	__printf(4, 5);
/* The call succeeds, but could not do this besides */
void qv_reply_note(struct qv_reply *r, const char *remedy, const char *fmt, ...) __printf(3, 4);
/* Refuses with the sentence of @error, an enum qv_mon_error: the monitor did not do @what */
int qv_refuse_monitor(struct qv_reply *r, u64 error, const char *what);

/* ---- log.c, events.c: callable without qv_lock ---- */
void qv_log_init(void);
/* @source: "driver", or the name of a cell. Such lines are kept: see log_book.h */
void qv_log(const char *source, const char *fmt, ...) __printf(2, 3);
/* The same for a line that a program or a guest can cause at will */
void qv_log_often(const char *source, const char *fmt, ...) __printf(2, 3);
/* The driver says something about @cell ("": about itself): it pushes out lines of @cell only */
void qv_log_event(const char *cell, bool often, const char *fmt, ...) __printf(3, 4);
/* From now on the cell exists, or no longer: as long as it does, it has lines of its own */
void qv_log_live(const char *cell, bool live);
int qv_log_read(struct qv_log *l);
/* Copies one line to the reader. Returns 1: copied, 0: no room, negative: refused */
int qv_log_put(struct qv_log *l, u32 *used, u64 time_ns, const char *text);
/* from now on, the log gives the instance @instance the name @name */
void qv_log_holder(u64 instance, const char *name);
/*
 * Adds what an instance, whose memory is @monitor_mem, has logged since @seen, a number for each
 * ring. Needs qv_lock
 */
void qv_log_drain(const char *source, struct page *monitor_mem, u64 seen[QV_MON_LOG_RINGS]);
void qv_event(u32 type, u32 state, const char *name, const char *fmt, ...) __printf(4, 5);

/* ---- log_sentence.c ---- */
/*
 * Translates @e. @holder returns the name of the cell that has an instance of the monitor, or NULL
 */
void qv_log_sentence(char *to, u32 len, const struct qv_mon_log_entry *e,
		     const char *(*holder)(u64 instance));
/* Returns true if .a of @e is the number of an instance */
bool qv_log_of_instance(const struct qv_mon_log_entry *e);
const char *qv_failure_sentence(u32 reason);		/* enum qv_failure */

/* ---- previous.c: the log that a warm reset left in RAM ---- */
void qv_previous_find(void);	/* called when the module is loaded */
void qv_previous_drop(void);
int qv_previous_read(struct qv_log *l);

/* ---- cross/state.c ---- */
/* held during every call, and while watch.c looks at the instances */
extern struct mutex qv_lock;

struct qv_takeover {
	bool enabled;
	/* memory of the front end's instance: QV_BLOCK_FRONT_END bytes */
	struct page *monitor_mem;
	u32 num_cpus;
	u32 cpu_of[QV_MAX_CPUS];	/* index -> Linux CPU */
	u32 x2apic;			/* Linux runs its APICs in x2APIC mode */
	/* each CPU has x2APIC mode with its present APIC id, so a cell may use this mode */
	u32 offers_x2apic;
	u32 text_len;
	u32 outside;			/* CPUs of the machine that are not under the monitor */
	bool ipi_asked;			/* enable was asked for direct IPIs of Linux */
	bool iommu_asked;		/* enable may take the IOMMU: no --no-iommu */
	bool iommu;			/* the monitor owns the IOMMU: cross/iommu.c */
	bool iommu_amd;			/* it is AMD-Vi */
	bool iommu_remaps;		/* every unit remaps interrupts */
	const char *iommu_trusts;	/* why Linux's tables of devices are trusted, or NULL */
	/* a unit did not answer and may use the monitor's tables: no cell, no disable */
	bool iommu_lost;
	bool ipi_direct;		/* Linux's IPIs are direct by choice: cross/ipi.c */
};
extern struct qv_takeover qv_takeover;
/* true: the machine goes down, and the log in RAM may be wanted afterwards */
extern bool qv_going_down;
extern bool qv_going_to_sleep;		/* from the decision on, until Linux is awake again */

/* call only while qv_takeover.monitor_mem is set */
const struct qv_mon_status *qv_front_status(void);
int qv_cpu_index(u32 linux_cpu);	/* returns the index of a CPU under the monitor, or -1 */
/* the CPU belongs to a cell and does not answer the monitor */
bool qv_cpu_lost(u32 linux_cpu);

/* ---- cross/virt.c: hypercalls, while QV is enabled ---- */
#define QV_DEADLINE_MS	2000	/* longest wait for CPUs, or for the monitor (law 5) */

/* @nr: enum qv_hypercall. Returns 0, enum qv_mon_error, or the call's value */
u64 qv_hypercall(u64 nr, u64 a);
/*
 * The same, repeated while the monitor is busy with another call. May sleep; callable without
 * qv_lock
 */
u64 qv_manage(u64 nr, u64 a);
/* The same for a function that makes the hypercall */
u64 qv_manage_by(u64 (*try)(void *with), void *with);

/* ---- cross/iommu.c ---- */
void qv_iommu_look(void);	/* brings DMA that was blocked into the monitor's log */
int qv_iommu_refuse_lost(struct qv_reply *r);	/* call if qv_takeover.iommu_lost */
u32 qv_iommu_level(void);		/* enum qv_dma_level, of the whole machine */
const char *qv_iommu_why(void);		/* why it is not QV_LEVEL_FULL; empty if it is */

/* ---- accessors of registers: Linux's own differ between kernel versions ---- */
#define QV_MSR_APIC_BASE	0x1b
#define QV_MSR_PAT		0x277
#define QV_MSR_X2APIC_ID	0x802
#define QV_MSR_EFER		0xc0000080

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

#define CPUID_X2APIC	(1u << 21)	/* leaf 1, ECX */
#define CPUID_TOPOLOGY	0xbu		/* leaf: EDX is the id in x2APIC mode */

/* The APIC id of this CPU */
static inline u32 qv_apic_id(void)
{
	return qv_takeover.x2apic ? qv_rdmsr(QV_MSR_X2APIC_ID) : qv_cpuid(1).ebx >> 24;
}

static inline u64 qv_rdtsc(void)
{
	u32 lo, hi;

	asm volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (u64)hi << 32 | lo;
}

#endif
