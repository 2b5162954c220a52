// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The state of the CPU, and its level. */
#include "kernel.h"

struct os_state os = { .isr = INVALID_ISR };

void os_lock(void)
{
	bool on = os_port_off();

	os.now.lock_was_on = on;
}

StatusType os_unlock(void)
{
	if (os.now.lock_was_on)
		os_port_on();
	return E_OK;
}

void os_mask_level(unsigned int level)
{
	os_port_mask(os_class_of(level));
}

void os_set_level(unsigned int level)
{
	uint8_t old = os.now.level;

	os.now.level = level;
	if ((old | level) & OS_ISR_LEVELS)	/* one of both blocks a class */
		os_mask_level(level);
}
