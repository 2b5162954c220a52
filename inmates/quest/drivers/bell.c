// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/trap.h>
#include "../kernel/deferred.h"
#include "../kernel/dispatch.h"
#include "../kernel/wait.h"
#include "../user/include/quest/classes.h"
#include "bell.h"
#include "channel.h"

#define LOOK_US		1000		/* without a bell: time between two looks */
#define FIRST_VECTOR	32
/* the class of bells at run time, if the cell's file has no bells: below those of devices */
#define KEY_VECTORS	0x3F

static volatile uint64_t rings[QV_INFO_MAX_CHANNELS];	/* number of bells that were served */
static volatile bool rang[QV_INFO_MAX_CHANNELS];	/* one has come since */
static void (*hooks[QV_INFO_MAX_CHANNELS])(void);
static uint8_t vectors[QV_INFO_MAX_CHANNELS];	/* of the bells; 0: none */
/* Threads that wait for the bell of a channel. The I/O VCPU inherits their priority. */
static struct wait_queue waiting[QV_INFO_MAX_CHANNELS];
static bool trying;		/* bell_try() waits for a bell that it rang itself */
static struct wait_queue trial;

/* Runs on an I/O VCPU. Bells may have become one: the threads that wake look themselves. */
static void serve(void)
{
	bool irqs = irq_save(), tried = trying;
	unsigned int n;

	trying = false;		/* first: others run meanwhile, and may try again */
	for (n = 0; n < QV_INFO_MAX_CHANNELS; n++) {
		if (!rang[n])
			continue;
		rang[n] = false;
		rings[n]++;
		if (hooks[n])
			hooks[n]();
		wake_many(&waiting[n]);
		let_interrupts_in();
	}
	if (tried)
		wake_many(&trial);
	irq_restore(irqs);
}

/* One thread serves all bells. Nothing masks a bell: the task priority holds its class. */
static struct deferred bells = {
	.source.hold = GATE_PRIORITY, .handler = serve, .io_class = IOVCPU_CLASS_ALL,
};

/* Each bell has a vector of its own, so the VCPU inherits from those who wait for this bell. */
static void interrupt(struct trap_frame *frame)
{
	unsigned int n;

	for (n = 0; n < QV_INFO_MAX_CHANNELS; n++) {
		if (vectors[n] != frame->vector)
			continue;
		rang[n] = true;
		bells.served = &waiting[n];
	}
	deferred_raise(&bells);
}

bool bells_start(void)
{
	unsigned int n;

	for (n = 0; channel_nth(n); n++) {
		vectors[n] = (uint8_t)cell_info()->bells[n].vector;
		if (vectors[n] > bells.source.vector)
			bells.source.vector = vectors[n];
	}
	if (!bells.source.vector && cell_present() && cell_info()->dynamic)
		bells.source.vector = KEY_VECTORS;
	if (!bells.source.vector)
		return true;
	if (!deferred_start(&bells, "bells"))
		return false;
	for (n = 0; channel_nth(n); n++)
		(void)cell_set_bell(n, interrupt);
	return true;
}

static bool in_use(uint32_t vector)
{
	const struct qv_info *info = cell_info();
	unsigned int n;

	for (n = 0; n < QV_INFO_MAX_CHANNELS; n++)
		if (vectors[n] == vector)
			return true;
	for (n = 0; n < info->num_devices && n < QV_INFO_MAX_DEVICES; n++)
		if (info->devices[n].vector == vector)
			return true;
	return vector == info->doorbell_vector;
}

/*
 * The task priority that holds the class of the bells also holds all lower classes. It is below
 * that of the timer, as main.c checks.
 */
uint8_t bell_free_vector(void)
{
	uint32_t vector = bells.source.vector | 15;

	while (vector >= FIRST_VECTOR && in_use(vector))
		vector--;
	if (vector < FIRST_VECTOR)
		return 0;
	trap_set_irq(vector, interrupt);
	return (uint8_t)vector;
}

void bell_set_vector(unsigned int n, uint8_t vector)
{
	vectors[n] = vector;
}

void bell_set_hook(unsigned int n, void (*hook)(void))
{
	hooks[n] = hook;
}

struct wait_queue *bell_waiters(unsigned int n)
{
	return &waiting[n];
}

uint64_t bell_count(unsigned int n)
{
	return rings[n];
}

int bell_vcpu(void)
{
	return bells.source.vector ? bells.vcpu : SCHED_NO_VCPU;
}

uint64_t bell_try(void)
{
	bool irqs = irq_save();
	uint64_t begin;

	while (trying)
		wait_on(&trial);
	begin = rdtsc();
	trying = true;
	bells.served = &trial;
	deferred_raise(&bells);
	while (trying)
		wait_on(&trial);
	begin = rdtsc() - begin;
	irq_restore(irqs);
	return begin;
}

bool bell_wait(unsigned int n, uint64_t seen, uint64_t at)
{
	bool irqs, in_time = true;

	if (!channel_has_bell(n)) {
		thread_sleep_us(LOOK_US);
		return rdtsc() < at;
	}
	irqs = irq_save();
	while (rings[n] == seen && in_time)
		in_time = wait_on_until(&waiting[n], at);
	irq_restore(irqs);
	return in_time;
}
