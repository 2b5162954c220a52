// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/apic.h>
#include <inmate/console.h>
#include <inmate/pc.h>
#include <inmate/trap.h>
#include "../arch/vectors.h"
#include "../kernel/deferred.h"
#include "../user/include/quest/classes.h"
#include "input.h"
#include "pc_input.h"

#define FULL_US		1000		/* a port of 115200 baud sends about 12 bytes in it */

/*
 * Takes received bytes and sends queued bytes until the port has nothing pending, since its pin is
 * edge-triggered.
 */
static void serve_serial(void)
{
	int c;

	do {
		while ((c = serial_read()) >= 0)
			input_put((uint8_t)c);
		input_wake();
		serial_pump();
	} while (serial_pending());
}

/*
 * Waits while the port's queue is full. It sends bytes itself, since the caller may be the
 * interrupt handler, and since an interrupt may be lost.
 */
static void wait_for_serial(void)
{
	serial_pump();
	thread_sleep_us(FULL_US);
}

static void take_ps2(void)
{
	uint8_t bytes[3];
	int n, i;

	while ((n = ps2_read(bytes)) >= 0)
		for (i = 0; i < n; i++)
			input_put(bytes[i]);
	input_wake();
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
	.source = { GATE_EDGE, .vector = VECTOR_SERIAL },
	.mask = mask_serial, .handler = serve_serial, .io_class = IOVCPU_CLASS_INPUT,
};
static struct deferred ps2 = {
	.source = { GATE_EDGE, .vector = VECTOR_PS2 }, .mask = mask_ps2, .handler = take_ps2,
	.io_class = IOVCPU_CLASS_INPUT,
};

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
	if (!deferred_start(d, name))
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
	console_when_full(wait_for_serial);
	serial_enable_irq();
	return true;
}
