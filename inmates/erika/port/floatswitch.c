// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The switch between tasks with FLOATINGPOINT = TRUE, in place of that of x86.c. The tables of the
 * application refer to os_floats, so that the linker takes this file.
 *
 * A task keeps its control words while it calls a service, as the ABI says of all functions.
 */
#include <inmate/context.h>
#include "../kernel/kernel.h"
#include "floats.h"
#include "x86.h"

/* Rounding, and which exceptions are masked */
struct control {
	uint32_t mxcsr;
	uint16_t x87;
};

const bool os_floats = true;

static void save_control(struct control *control)
{
	__asm__ volatile("stmxcsr %0; fnstcw %1" : "=m"(control->mxcsr), "=m"(control->x87));
}

/* An exception of the x87 that another task has left pending must not come here. */
static void restore_control(const struct control *control)
{
	__asm__ volatile("fnclex; fldcw %1; ldmxcsr %0" : : "m"(control->mxcsr), "m"(control->x87));
}

void os_port_switch(uint64_t *save, uint64_t load)
{
	struct control control;

	save_control(&control);
	switch_context(save, load);
	restore_control(&control);
}

void os_port_begin(uint64_t *save, uint8_t *top, void (*entry)(void))
{
	struct control control;

	save_control(&control);
	floats_first();
	os_stack_begin(save, top, entry);
	restore_control(&control);
}
