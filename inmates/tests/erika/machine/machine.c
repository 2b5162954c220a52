// SPDX-License-Identifier: GPL-2.0-only
/*
 * An application that shows the port of inmates/erika on a machine: real interrupts of both
 * categories, nesting, acknowledgement, the timer (mode 0); a stack that is exhausted (mode 1). In
 * the fake cell it first uses a channel.
 */
#include <inmate/console.h>
#include <inmate/string.h>
#include "erika/channel.h"
#include "os.h"

static volatile bool nest, again, by_timer;

ISR(Low)
{
	print("low begins in ISR %u\n", GetISRID());
	if (nest)
		TriggerISR(Mid);
	if (nest)
		ActivateTask(High);
	print("low ends\n");
}

ISR(Mid)
{
	print("mid begins\n");
	if (again) {
		again = false;
		TriggerISR(Mid);
	}
	print("mid ends\n");
}

ISR(One)
{
	print("one\n");
}

TASK(High)
{
	print("high, ISR %d\n", (int)GetISRID());
	by_timer = true;
	TerminateTask();
}

static void interrupts(void)
{
	GetResource(Shared);
	TriggerISR(Low);
	print("has the resource\n");
	ReleaseResource(Shared);

	SuspendOSInterrupts();
	TriggerISR(Mid);
	TriggerISR(One);
	print("suspended\n");
	ResumeOSInterrupts();

	nest = true;
	TriggerISR(Low);
	nest = false;
	again = true;
	TriggerISR(Mid);
}

static void timer(void)
{
	TickType before, now;

	by_timer = false;
	GetCounterValue(Millisecond, &before);
	SetRelAlarm(Later, 20, 0);
	while (!by_timer)
		;
	GetCounterValue(Millisecond, &now);
	print("timer: %s\n", now - before >= 20 ? "after 20 ms" : "early");
}

/* The fake cell has both ends of a ring of 4 items of 8 bytes. */
static void channels(void)
{
	static ChannelType in, out, none;
	uint64_t item, sum = 0, i;

	if (channel_open(&in, "vshm-3") || channel_open(&out, "vshm-4"))
		return;
	print("channels: %d %d %d\n", channel_open(&none, "none"), channel_read(&none, &item, 8),
	      channel_write(&none, &item, 8));
	print("empty: %d\n", channel_read(&out, &item, sizeof(item)));
	for (i = 1; !channel_write(&in, &i, sizeof(i)); i++)
		;
	print("full: %d after %d\n", channel_write(&in, &i, sizeof(i)), (int)i - 1);
	while (channel_read(&out, &item, sizeof(item)) == sizeof(item))
		sum += item;
	print("sum: %d, %s\n", (int)sum, qv_chan_sentence(channel_read(&in, &item, 8)));
}

TASK(Main)
{
	channels();
	interrupts();
	timer();
	print("stack: %s\n", os_stack_unused(Main) > 0 && os_stack_unused(Main) < 8192 &&
	      os_stack_unused(Deep) == 4096 && os_isr_stack_unused() < 8192 ? "measured" : "wrong");
	ShutdownOS(E_OK);
}

static unsigned int deeper(volatile unsigned int *below)
{
	volatile unsigned int here = *below + 1;

	return deeper(&here) + here;
}

TASK(Deep)
{
	volatile unsigned int zero = 0;

	print("%u\n", deeper(&zero));
	TerminateTask();
}
