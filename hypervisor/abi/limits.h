/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lengths of the tables that driver and monitor share. This folder is the interface between the
 * two. It need not be stable: both are built together, as one module. Each header has one subject:
 * limits, layout (of a block), image, boot, linux_state, status, log, mark, calls, errors, ports,
 * create (a cell's request), test_hooks.
 */
#ifndef QV_ABI_LIMITS_H
#define QV_ABI_LIMITS_H

#include <linux/qv.h>

/*
 * The limits that programs see are those of the uapi: QV_MAX_CPUS, QV_MAX_PORTS, QV_MAX_DEVICES,
 * QV_MAX_CHANNELS, QV_MAX_WITH, QV_EXIT_SLOTS, QV_BELL_RATE_MAX, QV_NAME_LEN. QV_INFO_MAX_* of
 * qv/cell.h, which includes no other header, agree with them: driver/cell/info.c,
 * driver/parts/channels.c.
 */
/* number of instances; instance 0 belongs to the front end */
#define QV_INSTANCES		(1 + QV_MAX_CELLS)
#define QV_MON_RAM_RANGES	64
#define QV_MON_RUNS		1024	/* physically contiguous pieces of one cell's memory */
#define QV_MON_BARS		6	/* BARs of one PCI function */
#define QV_MON_IOAPICS		16
#define QV_MON_FIRMWARE_PORTS	16	/* ranges */
#define QV_MON_GUARDS		16
#define QV_MON_CHANNELS		32	/* 2 MiB pages of all channels; each has one at least */
#define QV_MON_CHANNEL_PAGES	8	/* 2 MiB pages of one channel: QV_CHAN_MAX_LENGTH */

#endif
