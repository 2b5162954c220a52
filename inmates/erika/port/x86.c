// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The kernel's port to an inmate: interrupts, the clock, idle, the end. */
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/context.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include <inmate/trap.h>
#include "../kernel/kernel.h"
#include "boot.h"
#include "x86.h"

#define TIMER_SLOT	15		/* the last vector of the timer's class */
#define TIMER_CLASS	14		/* if no counter is on the system timer */
#define ICR_LOW		0x300
#define ICR_SELF	(1u << 18)

void os_stack_begin(uint64_t *save, uint8_t *top, void (*entry)(void));
void os_stack_call(uint8_t *top, void (*function)(const void *), const void *argument);

static uint64_t next_beat = TIMER_NEVER, wanted = TIMER_NEVER;

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
		wrmsr(MSR_X2APIC + (ICR_LOW >> 4), ICR_SELF | vector);
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

uint64_t os_port_cycles(void)
{
	return rdtsc();
}

uint32_t os_port_khz(void)
{
	return boot_khz();
}

void os_port_arm(uint64_t cycles)
{
	wanted = cycles;
	timer_arm(wanted < next_beat ? wanted : next_beat, rdtsc());
}

/* Every BEAT_US, shows that the kernel runs, and looks for requests without a doorbell. */
static void beat(void)
{
	uint64_t now = rdtsc();

	if (now < next_beat)
		return;
	cell_look();
	next_beat = now + timer_from_us(BEAT_US);
}

static void timer_interrupt(struct trap_frame *frame)
{
	(void)frame;
	timer_fired();
	beat();
	os_port_arm(wanted);
	os_systimer_interrupt();
}

static void doorbell_interrupt(struct trap_frame *frame)
{
	(void)frame;
	cell_look();
}

static uint8_t isr_of[TRAP_NUM_VECTORS];	/* row of os_isr_conf + 1 */

static void category1(struct trap_frame *frame)
{
	os_isr_conf[isr_of[frame->vector] - 1].entry();
}

static void category2(struct trap_frame *frame)
{
	ISRType id = isr_of[frame->vector] - 1u;

	if (cell_present() && frame->vector == cell_info()->doorbell_vector)
		cell_look();
	os_isr2(&os_isr_conf[id], id);
}

static void install(ISRType id)
{
	const struct os_isr_conf *isr = &os_isr_conf[id];
	uint8_t vector = isr->vector;

	if (!vector && cell_present())
		vector = (uint8_t)cell_info()->doorbell_vector;
	if (!vector)
		return;			/* alone, there is no doorbell */
	isr_of[vector] = (uint8_t)(id + 1);
	if (isr->category == 2)
		trap_set_bare_irq(vector, category2);
	else
		trap_set_irq(vector, category1);
}

void os_port_start(void)
{
	uint8_t class = os_timer_level ? os_class_of(os_timer_level) : TIMER_CLASS;
	ISRType id;

	if (!guard_stacks())
		fault_stop("the image is too large for guard pages");
	trap_set_bare_irq(class << 4 | TIMER_SLOT, timer_interrupt);
	timer_init(class << 4 | TIMER_SLOT, boot_khz(), boot_deadline());
	if (cell_present()) {
		trap_set_irq(cell_info()->doorbell_vector, doorbell_interrupt);
		cell_set_state(QV_INMATE_RUNNING);
		cell_look();
		next_beat = rdtsc() + timer_from_us(BEAT_US);
		os_port_arm(TIMER_NEVER);
	}
	for (id = 0; id < os_num_isrs; id++)
		install(id);
}

void os_port_idle(void)
{
	irq_wait();
	irq_disable();
}

_Noreturn void os_port_stop(StatusType error)
{
	irq_disable();
	console_poll();
	print("erika: shut down, status %u\n", error);
	if (cell_present())
		cell_set_state(QV_INMATE_HALTED);
	cpu_stop();
}

void cell_look(void)
{
	cell_beat();
	if (cell_request() == QV_REQUEST_SHUTDOWN)
		ShutdownOS(E_OK);
}
