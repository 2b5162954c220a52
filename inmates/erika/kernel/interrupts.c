// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Services that switch interrupts on and off: OSEK OS 2.2.3, 13.3. They check no context. */
#include "kernel.h"

void DisableAllInterrupts(void)
{
	bool on = os_port_off();

	os.disable_was_on = on;
	os.disabled = true;
}

void EnableAllInterrupts(void)
{
	if (!os.disabled)
		return;
	os.disabled = false;
	os_unlock(os.disable_was_on);
}

void SuspendAllInterrupts(void)
{
	bool on = os_port_off();

	if (!os.suspended_all++)
		os.was_on = on;
}

void ResumeAllInterrupts(void)
{
	if (os.suspended_all && !--os.suspended_all)
		os_unlock(os.was_on);
}

void SuspendOSInterrupts(void)
{
	bool on = os_lock();

	if (!os.suspended_os++)
		os_mask_level(os_isr2_level);
	os_unlock(on);
}

void ResumeOSInterrupts(void)
{
	bool on = os_lock();

	if (os.suspended_os && !--os.suspended_os)
		os_mask_level(os.level);
	os_unlock(on);
}
