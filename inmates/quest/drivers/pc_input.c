// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/apic.h>
#include <inmate/pc.h>
#include <inmate/trap.h>
#include "../arch/vectors.h"
#include "../kernel/deferred.h"
#include "../kernel/iovcpu.h"
#include "../user/include/quest/classes.h"
#include "input.h"
#include "pc_input.h"

static void take_serial(void)
{
	int c;

	while ((c = serial_read()) >= 0)
		input_put((uint8_t)c);
}

static void take_ps2(void)
{
	uint8_t bytes[3];
	int n, i;

	while ((n = ps2_read(bytes)) >= 0)
		for (i = 0; i < n; i++)
			input_put(bytes[i]);
}

static void take_both(void)
{
	take_serial();
	take_ps2();
}

static struct deferred input = { .handler = take_both };

static void input_interrupt(struct trap_frame *frame)
{
	(void)frame;
	deferred_raise(&input);
}

bool pc_input_start(void)
{
	input.served = input_readers();
	if (!deferred_start(&input, "input", iovcpu_select(IOVCPU_CLASS_INPUT)))
		return false;
	trap_set_irq(VECTOR_SERIAL, input_interrupt);
	trap_set_irq(VECTOR_PS2, input_interrupt);
	ioapic_init();
	ioapic_route(SERIAL_IRQ, VECTOR_SERIAL, apic_id());
	ioapic_route(PS2_IRQ, VECTOR_PS2, apic_id());
	ps2_init();
	serial_enable_irq();
	return true;
}
