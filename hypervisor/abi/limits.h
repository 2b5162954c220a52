/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many there are at most. This folder is the interface between driver and monitor of one
 * build. It is not an ABI for others: both come in one module, so nothing here needs to be stable.
 * Each header has one idea: limits, layout (of a block), image, boot, linux_state, status, log,
 * mark, calls, errors, ports, create (a cell's request), test_hooks.
 */
#ifndef QV_ABI_LIMITS_H
#define QV_ABI_LIMITS_H

#define QV_MON_CPUS		64
#define QV_MON_RAM_RANGES	64
#define QV_MON_CELLS		16	/* instances; 0 is the front end */
#define QV_MON_RUNS		1024	/* pieces of one cell's memory */
#define QV_MON_PORTS		16
#define QV_MON_EXITS		16	/* slots: enum qv_exit */
#define QV_MON_DEVICES		8	/* PCI functions of one cell */
#define QV_MON_BARS		6	/* of one function */
#define QV_MON_IOAPICS		16
#define QV_MON_FIRMWARE_PORTS	16	/* ranges */
#define QV_MON_GUARDS		16
#define QV_MON_BELL_RATE_MAX	1000	/* a millisecond */

#endif
