// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/trap.h>
#include "../kernel/deferred.h"
#include "../kernel/userchannel.h"
#include "../kernel/wait.h"
#include "../user/include/quest/classes.h"
#include "bell.h"
#include "channel.h"

#define LOOK_US		1000		/* without a bell: time between two looks */

static volatile uint64_t rings[QV_INFO_MAX_CHANNELS];	/* number of bells that were served */
static volatile bool rang[QV_INFO_MAX_CHANNELS];	/* one has come since */
/* Threads of the kernel that wait for any bell. The I/O VCPU inherits their priority. */
static struct wait_queue waiting;

/* Runs on an I/O VCPU. Bells may have become one: the threads that wake look themselves. */
static void serve(void)
{
	bool irqs = irq_save();
	unsigned int n;

	for (n = 0; n < QV_INFO_MAX_CHANNELS; n++) {
		if (!rang[n])
			continue;
		rang[n] = false;
		rings[n]++;
		userchannel_rang(n);
	}
	wake_all(&waiting);
	irq_restore(irqs);
}

/* One thread serves all bells. Nothing masks a bell: the task priority holds its class. */
static struct deferred bells = {
	.source.hold = GATE_PRIORITY, .handler = serve, .io_class = IOVCPU_CLASS_ALL,
	.served = &waiting,
};

static void interrupt(struct trap_frame *frame)
{
	unsigned int n;

	for (n = 0; n < QV_INFO_MAX_CHANNELS; n++)
		if (cell_info()->bells[n].vector == frame->vector)
			rang[n] = true;
	deferred_raise(&bells);
}

bool bells_start(void)
{
	uint32_t vector;
	unsigned int n;

	for (n = 0; channel_nth(n); n++) {
		vector = cell_info()->bells[n].vector;
		if (vector > bells.source.vector)
			bells.source.vector = (uint8_t)vector;
	}
	if (!bells.source.vector)
		return true;
	if (!deferred_start(&bells, "bells"))
		return false;
	for (n = 0; channel_nth(n); n++)
		(void)cell_set_bell(n, interrupt);
	return true;
}

uint64_t bell_count(unsigned int n)
{
	return rings[n];
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
		in_time = wait_on_until(&waiting, at);
	irq_restore(irqs);
	return in_time;
}
