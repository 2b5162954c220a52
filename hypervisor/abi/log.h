/* SPDX-License-Identifier: GPL-2.0-only */
/* The log of an instance. Linux reads it in the instance's open part. */
#ifndef QV_ABI_LOG_H
#define QV_ABI_LOG_H

#include "abi/types.h"

struct qv_mon_log_entry {
	u64 seq;		/* number of the entry in its ring, from 1; written last */
	u64 tsc;
	u32 cpu;		/* Linux number */
	u32 what;		/* enum qv_mon_event */
	u64 a, b;
	u64 pad[3];
};

/*
 * A guest can cause some events as often as it likes. They have a ring of their own, so that they
 * do not push the other ones out.
 */
enum qv_mon_log_ring {
	QV_MON_LOG_KEPT,	/* life, management, failures */
	QV_MON_LOG_OTHER,	/* denied accesses, dropped interrupts, refused calls */
	QV_MON_LOG_RINGS
};
#define QV_MON_LOG_ENTRIES 256	/* of a ring; the index is the low byte of .seq - 1 */
#define QV_MON_LOG_RING(what)	((what) >> 6)	/* the ring of an event */

struct qv_mon_log {
	u64 head[QV_MON_LOG_RINGS];	/* number of entries ever written */
	u64 pad[6];
	struct qv_mon_log_entry entries[QV_MON_LOG_RINGS][QV_MON_LOG_ENTRIES];
};

/* Events that the monitor logs: a name, and the sentence that the driver prints (with a, b) */
#define QV_MON_KEPT_EVENTS(X) \
	X(QV_LOG_ENTERED, \
	  "CPU is under the monitor (apic id %llu)") \
	X(QV_LOG_LEFT, \
	  "CPU goes back to bare Linux") \
	X(QV_LOG_CREATED, \
	  "cell instance %llu created, %llu pages of 2 MiB") \
	X(QV_LOG_STARTED, \
	  "cell instance %llu starts") \
	X(QV_LOG_STOPPED, \
	  "cell instance %llu stopped") \
	X(QV_LOG_RECLAIMED, \
	  "cell instance %llu destroyed, its memory is cleared and back") \
	X(QV_LOG_FAILED, \
	  "cell failed: reason %llu, address %#llx") \
	X(QV_LOG_FAILED_AT, \
	  "it was at RIP %#llx, exit %#llx") \
	X(QV_LOG_STUCK, \
	  "CPU with apic id %llu did not answer") \
	X(QV_LOG_NOT_CAUGHT, \
	  "CPU with apic id %llu was to move to a cell, but is not parked (phase %llu): it stays") \
	X(QV_LOG_MONITOR_FAULT, \
	  "fault in the monitor: vector %llu at %#llx") \
	X(QV_LOG_LINUX_ENDS, \
	  "Linux says that it goes down (%llu: 1 panic, 2 restart, 3 halt, 4 power-off)") \
	X(QV_LOG_SHUTDOWN, \
	  "Linux had a triple fault at %#llx: the machine goes down as without a monitor") \
	X(QV_LOG_IPI, \
	  "IPIs of Linux pass a filter: %llu (0: direct, they may reach cells)") \
	X(QV_LOG_DEVICE, \
	  "PCI function %#llx is given to the cell; bus mastering allowed: %llu") \
	X(QV_LOG_MOVED, \
	  "PCI function %#llx moved to cell instance %llu")
#define QV_MON_OTHER_EVENTS(X) \
	X(QV_LOG_REFUSED, \
	  "hypercall %llu refused, error %llu") \
	X(QV_LOG_TOUCH_READ, \
	  "Linux read memory that is not its own at %#llx: answered with ones") \
	X(QV_LOG_TOUCH_WRITE, \
	  "Linux wrote memory that is not its own at %#llx: dropped") \
	X(QV_LOG_MSR_DENIED, \
	  "access to MSR %#llx refused (value %#llx)") \
	X(QV_LOG_IPI_DENIED, \
	  "IPI %#llx to a CPU outside the cell dropped (destination %#llx)") \
	X(QV_LOG_INSTRUCTION, \
	  "instruction not allowed here: exit %#llx at %#llx") \
	X(QV_LOG_INIT, \
	  "an INIT signal from outside the cell was ignored") \
	X(QV_LOG_CONFIG, \
	  "PCI config access (function and register %#llx) refused, value %#llx") \
	X(QV_LOG_PORT, \
	  "Linux used port %#llx, which is not its own: ones, or dropped (value %#llx)") \
	X(QV_LOG_IOAPIC, \
	  "interrupt pin %llu was to reach a CPU outside Linux: masked (entry %#llx)") \
	X(QV_LOG_SMI, \
	  "Linux wrote %#llx to port %#llx: a system management interrupt stops every CPU") \
	X(QV_LOG_SLEEP, \
	  "Linux tried to put the machine to sleep by port %#llx: dropped (value %#llx)") \
	X(QV_LOG_EJECT, \
	  "Linux tried to eject hardware by port %#llx: dropped (value %#llx)") \
	X(QV_LOG_BOARD_DMA, \
	  "Linux tried to have the board write memory by port %#llx: dropped (value %#llx)") \
	X(QV_LOG_SMI_ENABLE, \
	  "Linux tried to enable more system management interrupts by port %#llx: " \
	  "dropped (value %#llx)") \
	X(QV_LOG_IOMMU, \
	  "Linux's write to register %#llx of the IOMMU refused, value or requests %#llx") \
	X(QV_LOG_DMA, \
	  "DMA of PCI function %#llx blocked: it does not own the memory at %#llx") \
	X(QV_LOG_IRTE, \
	  "interrupt of Linux refused: entry %llu of the IOMMU's table may not be %#llx") \
	X(QV_LOG_MESSAGE, \
	  "interrupt of PCI function %#llx blocked: it may not use entry %llu of the IOMMU's table")
#define QV_MON_EVENTS(X) QV_MON_KEPT_EVENTS(X) QV_MON_OTHER_EVENTS(X)
enum qv_mon_event {
#define X(name, text) name,
	QV_MON_KEPT_EVENTS(X)
	QV_LOG_BEFORE_OTHER = (QV_MON_LOG_OTHER << 6) - 1,
	QV_MON_OTHER_EVENTS(X)
#undef X
	QV_LOG_EVENTS
};

#endif
