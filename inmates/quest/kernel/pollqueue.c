// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include "pollqueue.h"
#include "wait.h"

static struct wait_queue networks, others;
static int mixed;			/* number of polls in `networks` */

struct wait_queue *poll_queue(bool network)
{
	return network ? &networks : &others;
}

void poll_mixed(int change)
{
	mixed += change;
}

void poll_wake(void)
{
	bool irqs = irq_save();

	if (others.head)
		wake_many(&others);
	if (mixed)
		wake_many(&networks);
	irq_restore(irqs);
}
