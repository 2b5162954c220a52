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

static void mask_serial(bool masked)
{
	ioapic_mask(SERIAL_IRQ, masked);
}

static void mask_ps2(bool masked)
{
	ioapic_mask(PS2_IRQ, masked);
}

static struct deferred serial = {
	.source = { GATE_EDGE, .vector = VECTOR_SERIAL }, .mask = mask_serial, .handler = take_serial,
};
static struct deferred ps2 = { .source = { GATE_EDGE, .vector = VECTOR_PS2 }, .mask = mask_ps2, .handler = take_ps2 };

static void serial_interrupt(struct trap_frame *frame)
{
	(void)frame;
	deferred_raise(&serial);
}

static void ps2_interrupt(struct trap_frame *frame)
{
	(void)frame;
	deferred_raise(&ps2);
}

static bool start(struct deferred *d, const char *name, trap_handler *interrupt)
{
	d->served = input_readers();
	if (!deferred_start(d, name, iovcpu_select(IOVCPU_CLASS_INPUT)))
		return false;
	trap_set_irq(d->source.vector, interrupt);
	return true;
}

bool pc_input_start(void)
{
	if (!start(&serial, "serial", serial_interrupt) || !start(&ps2, "keyboard", ps2_interrupt))
		return false;
	ioapic_init();
	ioapic_route(SERIAL_IRQ, VECTOR_SERIAL, apic_id());
	ioapic_route(PS2_IRQ, VECTOR_PS2, apic_id());
	ps2_init();
	serial_enable_irq();
	return true;
}
