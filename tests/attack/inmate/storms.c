// SPDX-License-Identifier: GPL-2.0-only
/* A CPU that halts, loops, or raises exceptions in handlers of exceptions. */
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include "attack.h"

#define IST_OF_DOUBLE_FAULT	1
#define INTERRUPT_GATE		0x8E
#define INTERRUPT_GATE_USER	0xEE
#define TASK_GATE		0x85

struct gate {
	uint16_t offset0, selector;
	uint8_t ist, type;
	uint16_t offset1;
	uint32_t offset2, reserved;
};

/* Labels in storms_entry.S */
extern const char storm_again_ud[], storm_again_int2[], storm_iret[], storm_loop[], storm_touch[];
extern const char user_code[], user_code_end[];
void storm_trap_flag(void);
void storm_shadow(void);
void storm_user(uint64_t rip, uint64_t rsp, uint64_t rflags);

static void set_gate(unsigned int vector, const void *entry, uint8_t ist, uint8_t type)
{
	struct { uint16_t limit; uint64_t base; } __attribute__((packed)) idt;
	uint64_t at = (uintptr_t)entry;

	__asm__ volatile("sidt %0" : "=m"(idt));
	((struct gate *)idt.base)[vector] = (struct gate){
		.offset0 = at & 0xFFFF, .offset1 = at >> 16 & 0xFFFF, .offset2 = at >> 32,
		.selector = 0x08, .ist = ist, .type = type,
	};
}

void ins_hlt_off(uint64_t a, uint64_t b)
{
	for (;;)
		__asm__ volatile("cli; hlt");
}

void ins_loop_off(uint64_t a, uint64_t b)
{
	silence();
}

void ins_triple(uint64_t a, uint64_t b)
{
	static const struct { uint16_t limit; uint64_t base; } __attribute__((packed)) none;

	__asm__ volatile("lidt %0; int3" : : "m"(none) : "memory");
}

/* A breakpoint on the first instruction of its handler, which resets the stack */
void ins_db_storm(uint64_t a, uint64_t b)
{
	set_gate(1, storm_loop, IST_OF_DOUBLE_FAULT, INTERRUPT_GATE);
	__asm__ volatile("mov %0, %%dr0; mov %1, %%dr7" : : "r"(storm_loop), "r"(0x402ull));
	__asm__ volatile("mov %0, %%dr1; mov %1, %%dr7" : : "r"(0x3000ull), "r"(0xD0040Aull));
	__asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq; nop; nop" : : : "memory");
	silence();
}

/* A program at level 3 makes unaligned accesses. The kernel's handler only returns to it */
void ins_ac_storm(uint64_t a, uint64_t b)
{
	volatile uint8_t *page = window_flags(0x3000, 7);
	const char *from = user_code;
	volatile uint8_t *to = page;

	while (from < user_code_end)
		*to++ = (uint8_t)*from++;
	set_gate(17, storm_iret + 0, IST_OF_DOUBLE_FAULT, INTERRUPT_GATE);
	__asm__ volatile("mov %0, %%cr0" : : "r"(read_cr0() | 1ull << 18));	/* AM */
	storm_user((uintptr_t)page, (uintptr_t)page + 0xF00, 1ull << 18 | 2);	/* AC */
}

void ins_pf_storm(uint64_t a, uint64_t b)
{
	set_gate(14, storm_touch, IST_OF_DOUBLE_FAULT, INTERRUPT_GATE);
	*(volatile uint64_t *)0x7F0000000000 = 1;
}

void ins_ud_storm(uint64_t a, uint64_t b)
{
	set_gate(6, storm_again_ud, IST_OF_DOUBLE_FAULT, INTERRUPT_GATE);
	__asm__ volatile("ud2");
}

void ins_int2_loop(uint64_t a, uint64_t b)
{
	set_gate(2, storm_again_int2, IST_OF_DOUBLE_FAULT, INTERRUPT_GATE);
	__asm__ volatile("int $2");
}

void ins_nmi_blocked(uint64_t a, uint64_t b)
{
	set_gate(2, storm_loop, IST_OF_DOUBLE_FAULT, INTERRUPT_GATE);
	ipi(0x44400, 0);	/* sends an NMI to the CPU itself */
	ipi_wait();
	silence();
}

void ins_sti_shadow(uint64_t a, uint64_t b)
{
	storm_shadow();
}

void ins_iret_loop(uint64_t a, uint64_t b)
{
	set_gate(1, storm_iret, 0, INTERRUPT_GATE);
	storm_trap_flag();
}

void ins_task_gate(uint64_t a, uint64_t b)
{
	set_gate(0x60, (void *)0, 0, TASK_GATE);
	TRY("int $0x60", : : "memory");
	fault_ends();
	survived("switched");
}
