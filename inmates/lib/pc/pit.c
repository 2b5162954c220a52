// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/median.h>
#include <inmate/pc.h>

#define PIT_CHANNEL2	0x42
#define PIT_COMMAND	0x43
#define PIT_GATE	0x61		/* bit 0: channel 2 counts; bit 1: speaker */

#define PIT_HZ		1193182ull
#define PIT_START	0xFFFF
#define PIT_WINDOW	(PIT_HZ / 50)	/* 20 ms: the counter does not wrap in that time */

/* control byte: counts down once, from a value of two bytes */
#define MODE0_CHANNEL2	0xB0
#define LATCH_CHANNEL2	0x80

static uint32_t counted(void)
{
	uint32_t lo, hi;

	outb(PIT_COMMAND, LATCH_CHANNEL2);
	lo = inb(PIT_CHANNEL2);
	hi = inb(PIT_CHANNEL2);
	return PIT_START - (hi << 8 | lo);
}

static uint64_t measure_once(void)
{
	uint8_t gate = inb(PIT_GATE) & ~3;
	uint64_t begin, end;
	uint32_t first, last;

	outb(PIT_GATE, gate);
	outb(PIT_COMMAND, MODE0_CHANNEL2);
	outb(PIT_CHANNEL2, PIT_START & 0xFF);
	outb(PIT_CHANNEL2, PIT_START >> 8);
	outb(PIT_GATE, gate | 1);
	first = counted();
	begin = rdtsc();
	do {
		last = counted();
		end = rdtsc();
	} while (last - first < PIT_WINDOW);
	outb(PIT_GATE, gate);
	return (end - begin) * PIT_HZ / (last - first) / 1000;
}

uint32_t pit_measure_tsc_khz(void)
{
	return median3(measure_once(), measure_once(), measure_once());
}
