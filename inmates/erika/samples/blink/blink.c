// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* An alarm activates a task every half second, which sets an event of a second task. */
#include <inmate/console.h>
#include "os.h"

DeclareTask(Toggle);
DeclareTask(Lamp);
DeclareEvent(Toggled);
DeclareResource(State);

static int on;

TASK(Toggle)
{
	GetResource(State);
	on = !on;
	ReleaseResource(State);
	SetEvent(Lamp, Toggled);
	TerminateTask();
}

TASK(Lamp)
{
	unsigned int times;
	int now;

	for (times = 1;; times++) {
		WaitEvent(Toggled);
		ClearEvent(Toggled);
		GetResource(State);
		now = on;
		ReleaseResource(State);
		print("blink %u: %s\n", times, now ? "on" : "off");
	}
}
