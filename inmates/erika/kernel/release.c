// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Undoes the locks of a task or ISR that ends: AUTOSAR OS, SWS_Os_00070, 00239, 00368, 00369. */
#include "kernel.h"

bool os_release_interrupts(void)
{
	bool any = os.disabled || os.suspended_all || os.suspended_os;

	os.disabled = 0;
	os.suspended_all = 0;
	if (os.suspended_os)
		os_mask_level(os.now.level);
	os.suspended_os = 0;
	return any;
}

bool os_release_resources(void)
{
	bool any = os.now.held;

	while (os.now.held)
		os_give_back(&os_resources[os.now.held - 1]);
	return any;
}
