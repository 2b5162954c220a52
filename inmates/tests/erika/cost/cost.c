// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures what services and interrupts cost, under the field's names. test_erika_cost.py makes its
 * OIL file, and fillers.h: FILLERS(X) is X(F1) X(F2) ... for each task between Low and Main.
 *
 * Low activates Main again and again. Main activates all fillers, which have lower priorities, and
 * causes interrupts. Then Main ends, and the fillers run.
 */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include "os.h"
#include "fillers.h"

#define ROUNDS		64
#define ALARMS		32

uint32_t os_port_khz(void);

enum { ACT, ACTL, INTDISABLE, INTENABLE, ISRENTRY, ISREXIT, ISR2ENTRY, ISR2EXIT, ISTENTRY, ISTEXIT,
	TERML, ALARM, NUM_COSTS };

static const char *const names[NUM_COSTS] = {
	"act", "actl", "intdisable", "intenable", "isrentry", "isrexit", "isr2entry", "isr2exit",
	"istentry", "istexit", "terml", "alarm",
};

static struct cost {
	uint64_t samples, least, sum, most;
} costs[NUM_COSTS];

static volatile uint64_t begun, left, ended, expired;

static void sample(unsigned int which, uint64_t cycles)
{
	struct cost *cost = &costs[which];

	if (!cost->samples++ || cycles < cost->least)
		cost->least = cycles;
	if (cycles > cost->most)
		cost->most = cycles;
	cost->sum += cycles;
}

static void end(void)
{
	ended = rdtsc();
	TerminateTask();
}

#define FILLER(name) \
	TASK(name) { uint64_t now = rdtsc(); sample(TERML, now - ended); end(); }
FILLERS(FILLER)

#define IDENTIFIER(name)	name,
static const TaskType fillers[] = { FILLERS(IDENTIFIER) };

ISR(One)
{
	sample(ISRENTRY, rdtsc() - begun);
	left = rdtsc();
}

ISR(Two)
{
	sample(ISR2ENTRY, rdtsc() - begun);
	left = rdtsc();
}

ISR(Wakes)
{
	ActivateTask(High);
	left = rdtsc();
}

TASK(High)
{
	sample(ISTENTRY, rdtsc() - left);
	left = rdtsc();
	TerminateTask();
}

/* The interrupt is pending before the clock is read. */
static void cause(ISRType isr, unsigned int back)
{
	irq_disable();
	TriggerISR(isr);
	begun = rdtsc();
	irq_enable();
	cpu_relax();
	sample(back, rdtsc() - left);
}

static void disable_and_enable(void)
{
	uint64_t begin = rdtsc(), now;

	DisableAllInterrupts();
	now = rdtsc();
	sample(INTDISABLE, now - begin);
	begin = rdtsc();
	EnableAllInterrupts();
	now = rdtsc();
	sample(INTENABLE, now - begin);
}

TASK(Main)
{
	uint64_t now = rdtsc();
	unsigned int i;

	sample(ACT, now - begun);
	for (i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++) {
		uint64_t begin = rdtsc();

		ActivateTask(fillers[i]);
		now = rdtsc();
		sample(ACTL, now - begin);
	}
	disable_and_enable();
	cause(One, ISREXIT);
	cause(Two, ISR2EXIT);
	cause(Wakes, ISTEXIT);
	end();
}

ALARMCALLBACK(expire)
{
	uint64_t now = rdtsc(), period = os_port_khz(), passed = now - expired;

	if (expired)
		sample(ALARM, passed > period ? passed - period : period - passed);
	expired = now;
}

TASK(Low)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		begun = rdtsc();
		ActivateTask(Main);
	}
	SetRelAlarm(EveryMillisecond, 1, 1);
	while (((volatile struct cost *)costs)[ALARM].samples < ALARMS)
		cpu_relax();
	CancelAlarm(EveryMillisecond);
	for (i = 0; i < NUM_COSTS; i++)
		print("cost %s samples=%lu min=%lu mean=%lu max=%lu\n", names[i], costs[i].samples,
		      costs[i].least, costs[i].sum / costs[i].samples, costs[i].most);
	ShutdownOS(E_OK);
}
