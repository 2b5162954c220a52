// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Descriptor tables. AMD64 manual volume 2, chapter 4. */
#include <inmate/trap.h>

#define SEL_KERNEL_DATA	0x10
#define SEL_TSS		0x28	/* 0x18 is user data, and 0x20 is user code */

#define STUB_SIZE	16	/* length in bytes of an entry point in trap_entry.S */
#define IST_STACK	4096

extern const char trap_stubs[];

/* A double fault, an NMI or a machine check must not use the current stack. */
enum { IST_NONE, IST_DOUBLE_FAULT, IST_NMI, IST_MACHINE_CHECK, IST_COUNT };

struct tss {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	uint64_t ist[7];
	uint64_t reserved2;
	uint16_t reserved3, io_map;
} __attribute__((packed));

struct gate {
	uint16_t offset0, selector;
	uint8_t ist, type;
	uint16_t offset1;
	uint32_t offset2, reserved;
};

struct table_register {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

static uint8_t ist_stacks[IST_COUNT][IST_STACK] __attribute__((aligned(16)));
static struct tss tss;
static struct gate idt[TRAP_NUM_VECTORS] __attribute__((aligned(16)));
static uint64_t gdt[7] __attribute__((aligned(16))) = {
	[1] = 0x00AF9B000000FFFF,	/* kernel code */
	[2] = 0x00CF93000000FFFF,	/* kernel data */
	[3] = 0x00CFF3000000FFFF,	/* user data */
	[4] = 0x00AFFB000000FFFF,	/* user code */
};

static void set_tss(void)
{
	uint64_t base = (uintptr_t)&tss, limit = sizeof(tss) - 1;
	int i;

	for (i = 1; i < IST_COUNT; i++)
		tss.ist[i - 1] = (uintptr_t)ist_stacks[i] + IST_STACK;
	tss.io_map = sizeof(tss);
	gdt[5] = limit | (base & 0xFFFFFF) << 16 | 0x89ull << 40 | (base >> 24 & 0xFF) << 56;
	gdt[6] = base >> 32;
}

/* Loads the GDT, and the TSS with its emergency stacks. */
static void load_gdt(void)
{
	struct table_register r = { sizeof(gdt) - 1, (uintptr_t)gdt };

	set_tss();
	__asm__ volatile("lgdt %0\n\t"
			 "pushq %1\n\t"
			 "leaq 1f(%%rip), %%rax\n\t"
			 "pushq %%rax\n\t"
			 "lretq\n"
			 "1:\n\t"
			 "movl %2, %%eax\n\t"
			 "movl %%eax, %%ds\n\t"
			 "movl %%eax, %%es\n\t"
			 "movl %%eax, %%ss\n\t"
			 "movl %3, %%eax\n\t"
			 "ltr %%ax"
			 : : "m"(r), "i"(TRAP_KERNEL_CS), "i"(SEL_KERNEL_DATA), "i"(SEL_TSS)
			 : "rax", "memory");
}

static uint8_t stack_of(unsigned int vector)
{
	switch (vector) {
	case 2:
		return IST_NMI;
	case 8:
		return IST_DOUBLE_FAULT;
	case 18:
		return IST_MACHINE_CHECK;
	default:
		return IST_NONE;
	}
}

/* Sets the entry point of `vector` to its stub in trap_entry.S, with interrupts off. */
static void set_gate(unsigned int vector)
{
	uint64_t at = (uintptr_t)trap_stubs + vector * STUB_SIZE;

	idt[vector] = (struct gate){
		.offset0 = at & 0xFFFF,
		.offset1 = at >> 16 & 0xFFFF,
		.offset2 = at >> 32,
		.selector = TRAP_KERNEL_CS,
		.ist = stack_of(vector),
		.type = 0x8E,		/* type byte: present, interrupt gate */
	};
}

static void load_idt(void)
{
	struct table_register r = { sizeof(idt) - 1, (uintptr_t)idt };

	__asm__ volatile("lidt %0" : : "m"(r) : "memory");
}

void trap_init(void)
{
	unsigned int i;

	load_gdt();
	for (i = 0; i < TRAP_NUM_VECTORS; i++)
		set_gate(i);
	load_idt();
}

void trap_set_kernel_stack(uint64_t top)
{
	tss.rsp[0] = top;
}
