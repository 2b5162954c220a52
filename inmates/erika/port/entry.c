// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The entries of interrupts. */
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/string.h>
#include <inmate/trap.h>
#include "../kernel/kernel.h"
#include "x86.h"

#define TIMER_SLOT	15		/* the last vector of the timer's class */
#define TIMER_CLASS	14		/* if no counter is on the system timer */

static uint8_t isr_of[TRAP_NUM_VECTORS];	/* row of os_isr_conf + 1 */
static void (*console_keys)(void), (*console_beat)(void);

void entry_set_console(void (*keys)(void), void (*beat)(void))
{
	console_keys = keys;
	console_beat = beat;
}

/* In a cell: shows that the kernel runs, and carries out Linux's requests. */
static void look(void)
{
	cell_beat();
	if (cell_request() == QV_REQUEST_SHUTDOWN)
		ShutdownOS(E_OK);
	if (console_keys)
		console_keys();
}

static void timer_interrupt(struct trap_frame *frame)
{
	(void)frame;
	if (hwclock_fired()) {
		look();
		if (console_beat)
			console_beat();
	}
	if (os_timer_isr.entry)
		os_isr2(&os_timer_isr);
	else
		os_port_acknowledge();
}

static void doorbell_interrupt(struct trap_frame *frame)
{
	(void)frame;
	look();
}

static void category1(struct trap_frame *frame)
{
	os_isr_conf[isr_of[frame->vector] - 1].entry();
}

static void category2(struct trap_frame *frame)
{
	if (cell_present() && frame->vector == cell_info()->doorbell_vector)
		look();
	os_isr2(&os_isr_conf[isr_of[frame->vector] - 1]);
}

static void install(ISRType id)
{
	const struct os_isr_conf *isr = &os_isr_conf[id];
	uint8_t vector = isr->vector;
	const char *refused = NULL;

	if (!vector && cell_present())
		vector = (uint8_t)cell_info()->doorbell_vector;
	if (!vector)
		return;			/* alone, there is no doorbell */
	if (isr->source != OS_SOURCE_NONE)
		refused = device_route(isr, &vector);
	if (!refused && isr_of[vector])
		refused = "another ISR has its vector";
	if (refused) {
		print("\nISR %s: ", isr->name);
		fault_stop(refused);
	}
	isr_of[vector] = (uint8_t)(id + 1);
	if (isr->category == 2)
		trap_set_bare_irq(vector, category2);
	else
		trap_set_irq(vector, category1);
}

void os_port_start(void)
{
	uint8_t class = os_timer_isr.entry ? os_class_of(os_timer_isr.level) : TIMER_CLASS;
	ISRType id;

	if (!guard_stacks())
		fault_stop("the image is too large for guard pages");
	trap_set_bare_irq(class << 4 | TIMER_SLOT, timer_interrupt);
	if (cell_present()) {
		trap_set_irq(cell_info()->doorbell_vector, doorbell_interrupt);
		cell_set_state(QV_INMATE_RUNNING);
		look();
	}
	hwclock_start(class << 4 | TIMER_SLOT);
	memset(isr_of, 0, sizeof(isr_of));	/* the conformance suite starts the kernel again */
	for (id = 0; id < os_num_isrs; id++)
		install(id);
}
