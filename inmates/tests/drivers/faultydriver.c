// SPDX-License-Identifier: GPL-2.0-only
/*
 * faultydriver: the network driver of Quest's samples, which has a fault when a frame of type
 * 0x88B5 comes. Its next byte says which one (faults[]).
 */
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../quest/user/drivers/serve.h"

#define TYPE_AT		12
#define KIND_AT		14
#define LEAK		(2l << 20)
#define KERNEL		0x200000ul	/* in the kernel's part of the address space */

static const struct quest_nic *nic;

static volatile struct quest_nic_in *in(void)
{
	return (volatile struct quest_nic_in *)nic->in;
}

static void crash(void) { *(volatile int *)0 = 1; }
static void to_kernel(void) { *(volatile int *)KERNEL = 1; }
static void to_out(void) { ((volatile struct quest_nic_out *)nic->out)->taken = 7; }
static void leave(void) { exit(3); }

static void hang(void)
{
	for (;;)
		;
}

static void stall(void)
{
	for (;;)
		(void)usleep(1000000);
}

static void leak(void) { (void)quest_sbrk(LEAK); }
static void more_frames(void) { in()->put += QUEST_NIC_RECEIVED + 100; }
static void more_sent(void) { in()->taken += 5; }

static void long_frame(void)
{
	in()->slots[in()->put % QUEST_NIC_RECEIVED].length = 100000;
	in()->put++;
}

/* All that it may write, but not the registers: DMA to anywhere is not kept from the cell. */
static void wild(void)
{
	memset((void *)nic->in, 0xA5, sizeof(struct quest_nic_in));
}

static void (*const faults[])(void) = {
	crash, to_kernel, to_out, leave, hang, stall, more_frames, more_sent, long_frame, wild,
	leak,
};

static void look(const struct quest_nic *map, const volatile uint8_t *frame, size_t length)
{
	unsigned int kind;

	nic = map;
	if (length <= KIND_AT || frame[TYPE_AT] != 0x88 || frame[TYPE_AT + 1] != 0xB5)
		return;
	kind = frame[KIND_AT];
	if (kind < sizeof(faults) / sizeof(faults[0]))
		faults[kind]();
}

int main(void)
{
	printf("faultydriver: %s\n", serve(look));
	return 1;
}
