/* SPDX-License-Identifier: GPL-2.0-only */
/* The request for a cell. */
#ifndef QV_ABI_CREATE_H
#define QV_ABI_CREATE_H

#include "abi/layout.h"
#include "abi/limits.h"
#include "abi/ports.h"
#include "abi/types.h"
#include <qv/cell.h>
#include <qv/channel.h>

/* Entry state of a cell's boot CPU: flat 32-bit protected mode, paging off */
struct qv_mon_entry {
	u32 eip, eax, ebx, reserved;
};

/* A PCI function of a cell. The monitor reads from the function itself all that it can */
struct qv_mon_device {
	u32 bdf;			/* bus << 8 | device << 3 | function */
	u32 flags;			/* QV_MON_DEVICE_* */
	/* IOAPIC of the interrupt line: index in qv_mon_boot.ioapics; QV_MON_NO_PIN: no line */
	u32 ioapic, pin;
	u32 vector;			/* vector of the pin's interrupt, 32..254 */
	/* virtual function (SR-IOV): bdf of its physical function (else 0), and its number there */
	u16 physical, number;
	struct qv_mon_bar {
		u64 base, len;		/* memory: whole pages; ports: below 64 Ki; len 0: none */
		u32 ports;		/* 1: I/O ports, 0: memory */
		u32 reserved;
	} bars[QV_MON_BARS];
};
/* may be a bus master: if the monitor owns the IOMMU, of the cell's memory, else of all memory */
#define QV_MON_DEVICE_MASTER	(1u << 0)
#define QV_MON_DEVICE_HIGH	(1u << 1)	/* the pin is active high (else low) */
/* the cell does not have the function, but may inherit it from the cell that has it: QV_HC_MOVE */
#define QV_MON_DEVICE_HEIR	(1u << 2)
#define QV_MON_NO_PIN		(~0u)

/*
 * A channel of a cell: memory that all cells share whose requests name these addresses. It begins
 * at pa[0] and continues at pa[1], and so on: pages of 2 MiB that no other channel uses. Words that
 * are not needed are 0.
 */
struct qv_mon_channel {
	u64 pa[QV_MON_CHANNEL_PAGES];
	u32 end;			/* the end of this cell, an index into page.end */
	/* bells to this end: vector, 32..255 or 0 for none; index in .cpus of the CPU */
	u16 bell_vector, bell_cpu;
	/* The life page, the same for all ends. The manager sets the words session and life */
	struct qv_chan_page page;
};

_Static_assert(QV_CHANNEL_LEN <= QV_MON_CHANNEL_PAGES * QV_HUGE, "pages of the longest channel");

/* Returns the number of the channel's pages */
static inline u32 qv_mon_channel_pages(const struct qv_mon_channel *c)
{
	return (c->page.length + QV_HUGE - 1) / QV_HUGE;
}

/* Returns the address of the byte @at of the channel */
static inline u64 qv_mon_channel_at(const struct qv_mon_channel *c, u64 at)
{
	return c->pa[at / QV_HUGE] + at % QV_HUGE;
}

struct qv_mon_create {
	u64 block_pa;			/* QV_BLOCK_CELL bytes, aligned to 2 MiB */
	u64 console_pa;			/* 8 pages shared with Linux; page 1 is not used */
	u32 num_cpus, num_runs, num_ports;
	u32 doorbell_vector;		/* 32..255 */
	u32 lock;			/* enum qv_lock of the uapi */
	/* limit of doorbells per millisecond: 1..QV_BELL_RATE_MAX */
	u32 bell_rate;
	/* 1: its APICs are in x2APIC mode, 0: in the mode of Linux's APICs */
	u32 x2apic;
	u32 ipi_direct;			/* not 0: its interrupt commands pass no filter */
	u64 name[QV_NAME_LEN / 8];	/* for the mark */
	u32 cpus[QV_MAX_CPUS];		/* indices into qv_mon_boot.cpus; the first one boots */
	struct qv_mon_ports ports[QV_MAX_PORTS];
	u32 num_devices;
	/* 1: Linux may see its CPUs' registers while it runs, and after it its RAM, not cleared */
	u32 debug;
	struct qv_mon_device devices[QV_MAX_DEVICES];
	/*
	 * The last .num_dynamic entries of .channels are memory for channels at run time: .pa is
	 * one page of 2 MiB, and .page is 0 except for its length, 2 MiB.
	 */
	u32 num_channels, num_dynamic;
	struct qv_mon_channel channels[QV_MAX_CHANNELS];
	/*
	 * .rom_runs: the last so many of .runs are a ROM, which its CPUs can only read and execute.
	 * .standby: how often, at most, it begins again at its entry within .standby_ms after
	 * failures, 0..QV_STANDBY_MAX, 0 if .num_dynamic is not. The entry must restore its memory
	 */
	u32 num_with, rom_runs, standby, standby_ms;
	u64 with[QV_MAX_WITH][QV_NAME_LEN / 8];	/* ends with which it may share them */
	struct qv_mon_entry entry;
	struct qv_mon_run {
		u64 pa;			/* aligned to 2 MiB, strictly ascending */
		u64 count;		/* number of 2 MiB pages */
	} runs[QV_MON_RUNS];
};

/* The number of the first window for channels at run time */
static inline u32 first_dynamic(const struct qv_mon_create *q)
{
	return q->num_channels - q->num_dynamic;
}

/* The guest-physical address of window @i. The windows are the last 2 MiB pages of the range */
static inline u64 channel_window(const struct qv_mon_create *q, u32 i)
{
	return QV_CHANNEL_GPA + (u64)QV_CHANNEL_LEN - (q->num_channels - i) * (u64)QV_HUGE;
}

#endif
