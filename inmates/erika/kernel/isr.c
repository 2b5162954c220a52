// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Interrupts of category 2: OSEK OS 2.2.3 chapter 6. */
#include "kernel.h"

/*
 * A handler that ends with interrupts disabled or with resources is cleaned up, as AUTOSAR OS says
 * in SWS_Os_00368 and 00369.
 */
static void clean_up(void)
{
	if (os_release_interrupts())
		os_report(OSServiceId_ISREnd, E_OS_DISABLEDINT, 0, 0, 0);
	if (os.held) {
		os_release_resources();
		os_report(OSServiceId_ISREnd, E_OS_RESOURCE, 0, 0, 0);
	}
}

/* Interrupts are off. On the stack for interrupts. */
static void serve(const void *argument)
{
	const struct os_isr_conf *isr = argument;
	uint8_t level = os.level, isr_level = os.isr_level;
	uint32_t held = os.held;
	uint16_t where = os.where;
	ISRType id = os.isr;

	os.where = OS_IN_ISR2;
	os.isr = isr->id;
	os.held = 0;
	os.isr_level = isr->level;
	if (isr->ack == OS_ACK_BEFORE) {
		os_set_level(isr->level);
		os_port_acknowledge();
	} else {
		os.level = isr->level;	/* the local APIC blocks the class until the end */
	}
	os_port_on();
	isr->entry();
	os_port_off();
	if (OS_EXTENDED)
		clean_up();
	if (isr->ack == OS_ACK_AFTER)
		os_port_acknowledge();
	os.where = where;
	os.isr = id;
	os.held = held;
	os.isr_level = isr_level;
	os_set_level(level);
}

void os_isr2(const struct os_isr_conf *isr)
{
	if (os.where & OS_IN_ISR2) {
		serve(isr);
		return;
	}
	os_port_call(os_isr_stack.base + os_isr_stack.size, serve, isr);
	if (os.where & (OS_IN_TASK | OS_IN_IDLE))
		os_preempt();
}

ISRType GetISRID(void)
{
	return os.isr;
}

StatusType TriggerISR(ISRType isr)
{
	bool on = os_lock();
	StatusType error = os_caller_error(OS_TASK_ISR2);

	if (error == E_OK && isr >= os_num_isrs)
		error = E_OS_ID;
	if (error == E_OK)
		os_port_trigger(os_isr_conf[isr].vector);
	return os_leave(on, OSServiceId_TriggerISR, error, isr, 0, 0);
}
