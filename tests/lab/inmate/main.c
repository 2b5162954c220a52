// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests a fault inside its monitor (QV_CALL_FAULT). The command line is the kind, a digit. If
 * the module was loaded without test_hooks=1, the call raises #UD, and the inmate then sends
 * heartbeats. On any other result it stops without a heartbeat.
 */
#include <inmate/boot.h>
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/trap.h>
#include "abi/test_hooks.h"

static _Noreturn void live_on(void)
{
	for (;;) {
		cell_beat();
		if (cell_request() == QV_REQUEST_SHUTDOWN)
			cell_set_state(QV_INMATE_HALTED);
		cpu_relax();
	}
}

static void exception(struct trap_frame *frame)
{
	if (frame->vector == 6)
		live_on();
	cpu_stop();
}

_Noreturn void inmate_main(uint32_t magic, uint32_t boot_address);

_Noreturn void inmate_main(uint32_t magic, uint32_t boot_address)
{
	(void)magic;
	(void)boot_address;
	trap_init();
	trap_set_exception(exception);
	if (!cell_detect())
		cpu_stop();
	cell_set_state(QV_INMATE_RUNNING);
	cell_call_with(QV_CALL_FAULT, cell_info()->cmdline[0] - '0', 0);
	cpu_stop();
}
