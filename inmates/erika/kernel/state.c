// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The state of the CPU, and its level. */
#include "kernel.h"

struct os_state os = { .isr = INVALID_ISR };

void os_mask_level(uint8_t level)
{
	os_port_mask(os_class_of(level));
}

void os_set_level(uint8_t level)
{
	uint8_t old = os.level;

	os.level = level;
	if (os_class_of(old) != os_class_of(level))
		os_mask_level(level);
}
