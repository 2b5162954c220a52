// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/cpu.h>

bool cell_set_bell(unsigned int n, void (*handler)(struct trap_frame *frame))
{
	const struct qv_info *info = cell_info();

	if (n >= info->num_channels || n >= QV_INFO_MAX_CHANNELS || !info->bells[n].vector)
		return false;
	trap_set_irq(info->bells[n].vector, handler);
	return true;
}

uint64_t cell_try_ring(unsigned int n)
{
	uint64_t turn = n;

	(void)cell_call_both(QV_CALL_BELL, &turn, 0);
	return turn;
}

void cell_ring(unsigned int n)
{
	uint64_t turn;

	while ((turn = cell_try_ring(n)))
		while ((int64_t)(turn - rdtsc()) > 0)
			cpu_relax();
}
