// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/apic.h>
#include <inmate/cpu.h>
#include <inmate/median.h>
#include <inmate/timer.h>

#define LVT_TSC_DEADLINE	(2u << 17)
#define DIVIDE_BY_1		0xB
#define MEASURE_MS		5
#define LEAD_ROUNDS		8
#define NEAR_US			1000	/* us: at most one early interrupt comes in this time */

static bool deadline_mode;
static uint32_t tsc_khz;
static uint64_t armed_at = TIMER_NEVER;
static uint64_t ratio;		/* counter ticks per TSC cycle, times 2^32 */
/* smallest number of cycles from reading the TSC to the start of the counter */
static uint64_t lead;
/* in cycles: good_enough() keeps an armed time only if it is further away than this */
static uint64_t near;

const char *timer_mode(void)
{
	return deadline_mode ? "TSC deadline" : "one-shot";
}

uint32_t timer_khz(void)
{
	return (uint64_t)tsc_khz * ratio >> 32;
}

uint64_t timer_from_us(uint64_t us)
{
	return us / 1000 * tsc_khz + us % 1000 * tsc_khz / 1000;
}

uint64_t timer_to_us(uint64_t cycles)
{
	return cycles / tsc_khz * 1000 + cycles % tsc_khz * 1000 / tsc_khz;
}

uint64_t timer_from_ns(uint64_t ns)
{
	return ns / 1000000 * tsc_khz + ns % 1000000 * tsc_khz / 1000000;
}

uint64_t timer_to_ns(uint64_t cycles)
{
	return cycles / tsc_khz * 1000000 + cycles % tsc_khz * 1000000 / tsc_khz;
}

static uint64_t measure_once(void)
{
	uint64_t begin, now;
	uint32_t left;

	apic_write(APIC_TIMER_INITIAL, UINT32_MAX);
	begin = rdtsc();
	do {
		cpu_relax();
		now = rdtsc();
	} while (now - begin < (uint64_t)tsc_khz * MEASURE_MS);
	left = apic_read(APIC_TIMER_CURRENT);
	apic_write(APIC_TIMER_INITIAL, 0);
	return ((uint64_t)(UINT32_MAX - left) << 32) / (now - begin);
}

/*
 * Measures the time from a reading of the TSC to the start of the counter. In a cell in xAPIC mode,
 * the write that starts it causes an exit. Most of the exit's time passes before the start. Reads
 * cause no exit.
 */
static uint64_t measure_lead_once(void)
{
	uint64_t begin = rdtsc(), counted, took;

	apic_write(APIC_TIMER_INITIAL, UINT32_MAX);
	counted = UINT32_MAX - apic_read(APIC_TIMER_CURRENT);
	took = rdtsc() - begin;
	apic_write(APIC_TIMER_INITIAL, 0);
	counted = (counted << 32) / ratio;
	return took > counted ? took - counted : 0;
}

/*
 * Returns the minimum, which warm caches give. A larger value would make interrupts come too early.
 */
static uint64_t measure_lead(void)
{
	uint64_t least = UINT64_MAX, once;
	int i;

	for (i = 0; i < LEAD_ROUNDS; i++) {
		once = measure_lead_once();
		if (once < least)
			least = once;
	}
	return least;
}

void timer_init(unsigned int vector, uint32_t khz, bool deadline)
{
	tsc_khz = khz;
	deadline_mode = deadline;
	near = TIMER_NEVER;
	if (deadline_mode) {
		apic_write(APIC_LVT_TIMER, vector | LVT_TSC_DEADLINE);
		/* the mode must take effect before the first deadline is written */
		__asm__ volatile("mfence" : : : "memory");
		return;
	}
	apic_write(APIC_TIMER_DIVIDE, DIVIDE_BY_1);
	ratio = median3(measure_once(), measure_once(), measure_once());
	if (!ratio)
		ratio = 1;
	lead = measure_lead();
	apic_write(APIC_LVT_TIMER, vector);
	near = apic_is_x2apic() ? TIMER_NEVER : timer_from_us(NEAR_US);
}

static uint32_t ticks_until(uint64_t at)
{
	uint64_t now = rdtsc() + lead;
	unsigned __int128 ticks;

	if (at <= now)
		return 1;
	ticks = (unsigned __int128)(at - now) * ratio >> 32;
	if (ticks > UINT32_MAX)
		return UINT32_MAX;
	return (uint32_t)ticks + 1;
}

/*
 * Returns true if the armed time may stay. While threads wake each other, each switch changes the
 * time of the next decision, mostly to a later time. So an earlier armed time may stay: one early
 * interrupt replaces many writes. If the armed time is near, write the new one, since the early
 * interrupt would certainly come.
 */
static bool good_enough(uint64_t at, uint64_t now)
{
	return at == armed_at || (at > armed_at && armed_at > now && armed_at - now > near);
}

void timer_arm(uint64_t at, uint64_t now)
{
	if (good_enough(at, now))
		return;
	armed_at = at;
	if (deadline_mode)
		wrmsr(MSR_TSC_DEADLINE, at == TIMER_NEVER ? 0 : at);
	else
		apic_write(APIC_TIMER_INITIAL, at == TIMER_NEVER ? 0 : ticks_until(at));
}

void timer_fired(void)
{
	armed_at = TIMER_NEVER;
}
