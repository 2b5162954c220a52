// SPDX-License-Identifier: GPL-2.0-only
/* Attacks of a program at CPL 3: some bytes of code, then a division by zero. */
#include <inmate/cpu.h>
#include "attack.h"

#define PAGE		0x3000u
#define IST_ANY		1

struct gate {
	uint16_t offset0, selector;
	uint8_t ist, type;
	uint16_t offset1;
	uint32_t offset2, reserved;
};

void storm_user(uint64_t rip, uint64_t rsp, uint64_t rflags);

/* Gives the gates a stack for exceptions at CPL 3, which the library does not use */
static void give_stacks(void)
{
	struct { uint16_t limit; uint64_t base; } __attribute__((packed)) idt;
	unsigned int vector;

	__asm__ volatile("sidt %0" : "=m"(idt));
	for (vector = 0; vector < 32; vector++)
		((struct gate *)idt.base)[vector].ist = IST_ANY;
}

void ins_user(uint64_t code, uint64_t length)
{
	/* bytes of `xor ecx, ecx; div ecx`: a division by zero */
	static const uint8_t end[] = { 0x31, 0xC9, 0xF7, 0xF1 };
	volatile uint8_t *page = window_flags(PAGE, 7);
	unsigned int i;

	for (i = 0; i < length; i++)
		page[i] = code >> 8 * i;
	for (i = 0; i < sizeof(end); i++)
		page[length + i] = end[i];
	give_stacks();
	storm_user((uintptr_t)page, (uintptr_t)page + 0xF00, 2);
}
