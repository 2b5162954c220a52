// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/trap.h>
#include "../kernel/deferred.h"
#include "../kernel/thread.h"
#include "../kernel/vcpu/vcpu.h"
#include "../net/net.h"
#include "../user/include/quest/classes.h"
#include "doorbell.h"
#include "input.h"
#include "lock.h"

#define BEAT_US		250000

static _Noreturn void shut_down(void)
{
	print("\nshutting down\n");
	cell_set_state(QV_INMATE_HALTED);
	cpu_stop();
}

static void take_keys(void)
{
	uint8_t keys[QV_KEYS_LEN];
	size_t room = input_room(), n, i;

	if (room > sizeof(keys))
		room = sizeof(keys);
	n = room ? cell_take_keys(keys, room) : 0;
	for (i = 0; i < n; i++)
		input_put(keys[i]);
	if (n)
		input_wake();
}

void doorbell_look(void)
{
	bool irqs = irq_save();
	uint32_t request = cell_request();	/* read once */

	if (request == QV_REQUEST_SHUTDOWN)
		shut_down();
	if (request == QV_REQUEST_UNLOCK)
		lock_asked();
	take_keys();
	net_look();
	irq_restore(irqs);
}

/*
 * Nothing masks the doorbell. Its priority class is the lowest of all vectors of the cell, so a
 * flood of doorbells delays no device.
 */
static struct deferred doorbell = {
	.source.hold = GATE_PRIORITY, .handler = doorbell_look, .io_class = IOVCPU_CLASS_INPUT,
};

static void doorbell_interrupt(struct trap_frame *frame)
{
	(void)frame;
	deferred_raise(&doorbell);
}

bool doorbell_start(void)
{
	doorbell.source.vector = cell_info()->doorbell_vector;
	doorbell.served = input_readers();
	if (!deferred_start(&doorbell, "doorbell"))
		return false;
	trap_set_irq(cell_info()->doorbell_vector, doorbell_interrupt);
	return true;
}

static void beat(void *arg)
{
	(void)arg;
	for (;;) {
		if (cell_present()) {
			cell_idle(1, thread_idle_cycles());
			cell_beat();
			doorbell_look();
		}
		thread_sleep_us(BEAT_US);
	}
}

bool heartbeat_start(void)
{
	return thread_create("heartbeat", SYSTEM_VCPU, beat, NULL) >= 0;
}
