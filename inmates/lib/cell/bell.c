// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/cell.h>

bool cell_set_bell(unsigned int n, void (*handler)(struct trap_frame *frame))
{
	const struct qv_info *info = cell_info();

	if (n >= info->num_channels || n >= QV_INFO_MAX_CHANNELS || !info->bells[n].vector)
		return false;
	trap_set_irq(info->bells[n].vector, handler);
	return true;
}

void cell_ring(unsigned int n)
{
	cell_call_with(QV_CALL_BELL, n, 0);
}
