// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A four-cylinder engine: tasks by the angle of the crankshaft, and tasks by time. */
#include <inmate/console.h>
#include "os.h"

#define WANTED	1200u		/* turns a minute */
#define STEP	10u		/* of the amount, in microlitres */

static struct {
	unsigned int amount;	/* for each injection, in microlitres */
	unsigned int total;
} fuel = { .amount = 300 };

static unsigned int injections, sparks, controls;

TASK(Inject)
{
	GetResource(Fuel);
	fuel.total += fuel.amount;
	ReleaseResource(Fuel);
	injections++;
	TerminateTask();
}

TASK(Ignite)
{
	for (;;) {
		WaitEvent(Spark);
		ClearEvent(Spark);
		sparks++;
	}
}

/* Gives more fuel while the engine is slower than wanted. Here it always turns at 1,000. */
TASK(Control)
{
	const unsigned int speed = 1000;

	GetResource(Fuel);
	if (speed < WANTED && fuel.amount < 500)
		fuel.amount += STEP;
	ReleaseResource(Fuel);
	controls++;
	TerminateTask();
}

TASK(Report)
{
	static unsigned int cycle;
	unsigned int amount;

	GetResource(Fuel);
	amount = fuel.amount;
	ReleaseResource(Fuel);
	print("engine: cycle %u, %u injections, %u sparks, %u controls, %u ul\n", ++cycle,
	      injections, sparks, controls, amount);
	TerminateTask();
}

void ErrorHook(StatusType error)
{
	print("engine: error %u in service %u\n", error, OSErrorGetServiceId());
}
