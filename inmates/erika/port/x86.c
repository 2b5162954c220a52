// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The kernel's port to an inmate: the processor, idle, the end. */
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/context.h>
#include <inmate/cpu.h>
#include "../kernel/kernel.h"
#include "x86.h"

#define SELF_IPI	0x3F		/* x2APIC only */
#define ICR_LOW		0x300
#define ICR_SELF	(1u << 18)

static void (*at_end)(void);
static void (*after_end)(const void *);

void os_stack_call(uint8_t *top, void (*function)(const void *), const void *argument);

bool os_port_off(void)
{
	return irq_save();
}

void os_port_on(void)
{
	irq_enable();
}

void os_port_mask(unsigned int class)
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

/* With FLOATINGPOINT = TRUE, floatswitch.c has these two. */
__attribute__((weak)) void os_port_switch(uint64_t *save, uint64_t load)
{
	switch_context(save, load);
}

__attribute__((weak)) void os_port_begin(uint64_t *save, uint8_t *top, void (*entry)(void))
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

void port_after_end(void (*act)(const void *))
{
	after_end = act;
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
	if (after_end)
		os_port_call(os_isr_stack.base + os_isr_stack.size, after_end, NULL);
	cpu_stop();
}
