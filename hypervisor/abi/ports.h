/* SPDX-License-Identifier: GPL-2.0-only */
/* Ranges of I/O ports, and rules for writes by Linux to some of them. */
#ifndef QV_ABI_PORTS_H
#define QV_ABI_PORTS_H

#include "abi/types.h"

/* A range of I/O ports, both ends included */
struct qv_mon_ports { u16 first, last; };

/*
 * Bytes of a board's registers that Linux may not write freely. A write that sets a bit of @bits
 * (0: any write) passes only if its bits @mask are @value.
 */
struct qv_mon_guard {
	u16 first, last;	/* first and last port, both included */
	u8 bits, mask, value, reserved;
	u32 what;		/* enum qv_mon_event that logs a dropped write */
};

#endif
