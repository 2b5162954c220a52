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
	if (os.now.held) {
		os_release_resources();
		os_report(OSServiceId_ISREnd, E_OS_RESOURCE, 0, 0, 0);
	}
}

/* Interrupts are off. On the stack for interrupts. */
static void serve(const void *argument)
{
	const struct os_isr_conf *isr = argument;
	struct os_context context = os.now;
	ISRType id = os.isr;

	os_trace(OS_TRACE_ENTER, isr->id, 0);
	os.now.where = OS_IN_ISR2;
	os.isr = isr->id;
	os.now.held = 0;
	if (OS_EXTENDED)
		os.now.isr_level = isr->level;
	if (isr->ack == OS_ACK_BEFORE) {
		os_set_level(isr->level);
		os_port_acknowledge();
	} else {
		os.now.level = isr->level;	/* the local APIC blocks the class until the end */
	}
	os_port_on();
	isr->entry();
	os_port_off();
	if (OS_EXTENDED)
		clean_up();
	if (isr->ack == OS_ACK_AFTER)
		os_port_acknowledge();
	os_trace(OS_TRACE_LEAVE, isr->id, 0);
	os.isr = id;
	os_set_level(context.level);
	os.now = context;
}

void os_isr2(const struct os_isr_conf *isr)
{
	if (os.now.where & OS_IN_ISR2) {
		serve(isr);
		return;
	}
	/* a task or idle is interrupted: other code runs with interrupts off */
	os_port_call(os_isr_stack.base + os_isr_stack.size, serve, isr);
	os_preempt();
}

ISRType GetISRID(void)
{
	return os.isr;
}

StatusType TriggerISR(ISRType isr)
{
	StatusType error = os_enter(OS_TASK_ISR2);

	if (error == E_OK && isr >= os_num_isrs)
		error = E_OS_ID;
	if (error == E_OK)
		os_port_trigger(os_isr_conf[isr].vector);
	return os_leave(OSServiceId_TriggerISR, error, isr, 0, 0);
}
