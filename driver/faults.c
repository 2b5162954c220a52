// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the faults of PCI functions that get a line in the log. A unit of the IOMMU sends no
 * interrupts while the monitor owns it, so a function that faults all the time does not disturb
 * Linux; here it does not fill the log either. Used under qv_lock.
 */
#ifdef __KERNEL__
#include <linux/kernel.h>
#endif
#include "faults.h"

#define FAULT_FUNCTIONS	64	/* functions with a state: one for each number modulo this */

static struct {
	u32 bdf;
	u32 lines;		/* that it had since .start */
	u64 start;
	u64 silent;		/* faults without a line since its last line */
} faults[FAULT_FUNCTIONS];

bool qv_fault_line(u32 bdf, u64 tsc, u64 period, u64 *silent)
{
	u32 i = bdf % FAULT_FUNCTIONS;

	if (faults[i].bdf != bdf || tsc - faults[i].start >= period) {
		faults[i].silent = faults[i].bdf == bdf ? faults[i].silent : 0;
		faults[i].bdf = bdf;
		faults[i].lines = 0;
		faults[i].start = tsc;
	}
	if (faults[i].lines == QV_FAULT_LINES) {
		faults[i].silent++;
		return false;
	}
	faults[i].lines++;
	*silent = faults[i].silent;
	faults[i].silent = 0;
	return true;
}
