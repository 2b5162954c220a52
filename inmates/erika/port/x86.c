// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The kernel's port to an inmate: the processor, idle, the end. */
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/context.h>
#include <inmate/cpu.h>
#include "../kernel/port.h"
#include "x86.h"

#define SELF_IPI	0x3F		/* x2APIC only */
#define ICR_LOW		0x300
#define ICR_SELF	(1u << 18)

static void (*at_end)(void);

void os_stack_begin(uint64_t *save, uint8_t *top, void (*entry)(void));
void os_stack_call(uint8_t *top, void (*function)(const void *), const void *argument);

bool os_port_off(void)
{
	return irq_save();
}

void os_port_on(void)
{
	irq_enable();
}

void os_port_mask(uint8_t class)
{
	write_cr8(class);
}

void os_port_acknowledge(void)
{
	apic_eoi();
}

void os_port_trigger(uint8_t vector)
{
	if (apic_is_x2apic())
		wrmsr(MSR_X2APIC + SELF_IPI, vector);	/* causes no exit of a cell */
	else
		apic_write(ICR_LOW, ICR_SELF | vector);
}

void os_port_switch(uint64_t *save, uint64_t load)
{
	switch_context(save, load);
}

void os_port_begin(uint64_t *save, uint8_t *top, void (*entry)(void))
{
	os_stack_begin(save, top, entry);
}

void os_port_call(uint8_t *top, void (*function)(const void *), const void *argument)
{
	os_stack_call(top, function, argument);
}

void os_port_idle(void)
{
	irq_wait();
	irq_disable();
}

void port_at_end(void (*act)(void))
{
	at_end = act;
}

_Noreturn void os_port_stop(StatusType error)
{
	irq_disable();
	console_poll();
	if (at_end)
		at_end();
	print("erika: shut down, status %u\n", error);
	if (cell_present())
		cell_set_state(QV_INMATE_HALTED);
	cpu_stop();
}
