// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Services that switch interrupts on and off: OSEK OS 2.2.3, 13.3. They check no context. */
#include "kernel.h"

void DisableAllInterrupts(void)
{
	bool on = os_port_off();

	os.disabled = on ? OS_DISABLED_ON : OS_DISABLED_OFF;
}

void EnableAllInterrupts(void)
{
	uint8_t disabled = os.disabled;

	os.disabled = 0;
	if (disabled == OS_DISABLED_ON)
		os_port_on();
}

void SuspendAllInterrupts(void)
{
	bool on = os_port_off();

	if (!os.suspended_all++)
		os.was_on = on;
}

void ResumeAllInterrupts(void)
{
	if (os.suspended_all && !--os.suspended_all && os.was_on)
		os_port_on();
}

void SuspendOSInterrupts(void)
{
	os_lock();
	if (!os.suspended_os++)
		os_mask_level(os_isr2_level);
	os_unlock();
}

void ResumeOSInterrupts(void)
{
	os_lock();
	if (os.suspended_os && !--os.suspended_os)
		os_mask_level(os.now.level);
	os_unlock();
}
