// SPDX-License-Identifier: GPL-2.0-only
/* Counts its timer interrupts and records the worst gap between two of them. */
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/console.h>
#include <inmate/timer.h>
#include <inmate/trap.h>
#include "attack.h"

#define VECTOR		0x40
#define BEAT_US		1000

static uint64_t last, next;

static volatile struct witness_page *shown(void)
{
	return (volatile struct witness_page *)WITNESS_GPA;
}

static void beat(struct trap_frame *frame)
{
	uint64_t now = rdtsc();
	uint8_t keys[16];

	(void)frame;
	timer_fired();
	if (now - last > shown()->worst)
		shown()->worst = now - last;
	if (cell_take_keys(keys, sizeof(keys))) {
		shown()->worst = 0;
		shown()->resets++;
	}
	last = now;
	shown()->beats++;
	cell_beat();
	do
		next += timer_from_us(BEAT_US);
	while (next <= now);
	timer_arm(next, now);
}

_Noreturn void witness(void)
{
	bool has_channels;

	shown()->beats = shown()->worst = shown()->resets = 0;
	shown()->tsc_khz = cell_info()->tsc_khz;
	timer_init(VECTOR, cell_info()->tsc_khz, cpuid(1, 0).ecx >> 24 & 1);
	trap_set_irq(VECTOR, beat);
	print("witness\n");
	has_channels = peer_begin();
	last = rdtsc();
	next = last + timer_from_us(BEAT_US);
	timer_arm(next, last);
	for (;;) {
		irq_wait();
		if (has_channels)
			peer_check();
		irq_disable();
		if (cell_request() == QV_REQUEST_SHUTDOWN) {
			cell_set_state(QV_INMATE_HALTED);
			cpu_stop();
		}
	}
}
