/* SPDX-License-Identifier: GPL-2.0-only */
/* The mark by which the driver finds a log in RAM. Linux reads it in the instance's open part. */
#ifndef QV_ABI_MARK_H
#define QV_ABI_MARK_H

#include "abi/limits.h"
#include "abi/types.h"

/*
 * Makes a log findable in RAM after a warm reset. It is at QV_OFF_MARK of a block, and blocks are
 * aligned to QV_HUGE. The driver writes the front end's mark. The manager copies it for each cell.
 * Afterwards the mark does not change.
 */
#define QV_MARK_MAGIC	0x32474F4C4D5651ull	/* "QVMLOG2": changes with struct qv_mon_log */
struct qv_mon_mark {
	u64 magic;		/* QV_MARK_MAGIC */
	u64 block_pa;		/* address of this block: a copy elsewhere is no valid mark */
	u64 session;		/* CLOCK_REALTIME in ns at enable: the same for all instances */
	u64 tsc;		/* TSC at the moment of .session */
	u64 boot_ns;		/* CLOCK_BOOTTIME in ns at the moment of .session */
	u64 tsc_khz;
	u64 id;			/* instance */
	u64 name[QV_NAME_LEN / 8];	/* name of the cell; the monitor does not read it */
	u64 sum;		/* checksum, as qv_mark_sum() computes it */
};

/* The complement of the sum of all words but the last */
static inline u64 qv_mark_sum(const struct qv_mon_mark *mark)
{
	const u64 *words = (const u64 *)mark;
	u64 sum = 0;
	u32 i;

	for (i = 0; i < sizeof(*mark) / sizeof(u64) - 1; i++)
		sum += words[i];
	return ~sum;
}

#endif
