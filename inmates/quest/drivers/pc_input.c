// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/apic.h>
#include <inmate/pc.h>
#include <inmate/trap.h>
#include "../arch/vectors.h"
#include "input.h"
#include "pc_input.h"

static void serial_interrupt(struct trap_frame *frame)
{
	int c;

	(void)frame;
	while ((c = serial_read()) >= 0)
		input_put((uint8_t)c);
}

static void ps2_interrupt(struct trap_frame *frame)
{
	uint8_t bytes[3];
	int n, i;

	(void)frame;
	while ((n = ps2_read(bytes)) >= 0)
		for (i = 0; i < n; i++)
			input_put(bytes[i]);
}

void pc_input_init(void)
{
	trap_set_irq(VECTOR_SERIAL, serial_interrupt);
	trap_set_irq(VECTOR_PS2, ps2_interrupt);
	ioapic_init();
	ioapic_route(SERIAL_IRQ, VECTOR_SERIAL, apic_id());
	ioapic_route(PS2_IRQ, VECTOR_PS2, apic_id());
	ps2_init();
	serial_enable_irq();
}
