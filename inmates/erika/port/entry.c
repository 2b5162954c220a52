// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The entries of interrupts. */
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/string.h>
#include <inmate/trap.h>
#include "../kernel/kernel.h"
#include "floats.h"
#include "x86.h"

#define TIMER_SLOT	15		/* the last vector of the timer's class */
#define TIMER_CLASS	14		/* if no counter is on the system timer */
#define FIRST_VECTOR	0x20
#define NUM_CLASSES	16

static uint8_t isr_of[TRAP_NUM_VECTORS];	/* row of os_isr_conf + 1 */
static trap_handler *handlers[TRAP_NUM_VECTORS];	/* that keep_floats() calls */
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
	os_isr2(&os_isr_conf[isr_of[frame->vector] - 1]);
}

static void doorbell_category2(struct trap_frame *frame)
{
	look();
	category2(frame);
}

/* The interrupted code has its registers of floating point again when it continues. */
static void keep_floats(struct trap_frame *frame)
{
	struct floats floats;

	floats_save(&floats);
	handlers[frame->vector](frame);
	floats_restore(&floats);
}

/* Sets the handler of a vector that runs code of the application. */
static void set_handler(uint8_t vector, trap_handler *handler)
{
	handlers[vector] = handler;
	if (handler == category1)
		trap_set_irq(vector, floats_used() ? keep_floats : handler);
	else
		trap_set_bare_irq(vector, floats_used() ? keep_floats : handler);
}

void entry_set_isr2(uint8_t vector, trap_handler *handler)
{
	set_handler(vector, handler);
}

static bool is_doorbell(uint8_t vector)
{
	return cell_present() && vector == cell_info()->doorbell_vector;
}

/*
 * Returns the channel of the cell whose bell has this vector on the first CPU, or NULL. The OIL
 * file need not have an object for each channel, so the compiler does not know these vectors.
 */
static const char *bell_with(uint8_t vector)
{
	const struct qv_info *info = cell_info();
	unsigned int n;

	for (n = 0; cell_present() && n < info->num_channels && n < QV_INFO_MAX_CHANNELS; n++)
		if (info->bells[n].vector == vector && !info->bells[n].cpu)
			return info->channels[n].name;
	return NULL;
}

/* Prints why an ISR cannot be installed, and stops this CPU. */
static _Noreturn void refuse(const struct os_isr_conf *isr, const char *channel, const char *why)
{
	print("\nISR %s: ", isr->name);
	if (channel)
		print("channel %s: ", channel);
	fault_stop(why);
}

static void install(ISRType id)
{
	const struct os_isr_conf *isr = &os_isr_conf[id];
	uint8_t vector = isr->vector;
	const char *refused = NULL, *channel;

	if (!vector && cell_present())
		vector = (uint8_t)cell_info()->doorbell_vector;
	if (!vector || (isr->source == OS_SOURCE_BELL && !cell_present()))
		return;			/* alone, there are no bells */
	if (isr->source == OS_SOURCE_BELL)
		refused = bell_route(isr, &vector);
	else if (isr->source != OS_SOURCE_NONE)
		refused = device_route(isr, &vector);
	if (refused)
		refuse(isr, NULL, refused);
	channel = isr->source == OS_SOURCE_BELL ? NULL : bell_with(vector);
	if (channel)
		refuse(isr, channel, "its bell has the vector of this ISR: give it another one in "
				     "the cell's file");
	if (isr_of[vector])
		refuse(isr, NULL, "another ISR has its vector");
	isr_of[vector] = (uint8_t)(id + 1);
	if (isr->category == 1)
		set_handler(vector, category1);
	else
		set_handler(vector, is_doorbell(vector) ? doorbell_category2 : category2);
}

static void ended(struct trap_frame *frame)
{
	(void)frame;
}

/*
 * ShutdownOS() may have been called in an ISR, so up to one interrupt of each class waits for its
 * acknowledgement.
 */
void entry_end(void)
{
	unsigned int vector, class;

	for (vector = FIRST_VECTOR; vector < TRAP_NUM_VECTORS; vector++)
		trap_set_irq(vector, ended);
	device_end();
	os_port_mask(0);
	for (class = 0; class < NUM_CLASSES; class++)
		os_port_acknowledge();
}

void os_port_start(void)
{
	uint8_t class = os_timer_isr.entry ? os_class_of(os_timer_isr.level) : TIMER_CLASS;
	ISRType id;

	if (!guard_stacks())
		fault_stop("the image is too large for guard pages");
	set_handler((uint8_t)(class << 4 | TIMER_SLOT), timer_interrupt);
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
