// SPDX-License-Identifier: GPL-2.0-only
/* Attacks from 32-bit code: the monitor must not assume that all guests are in long mode. */
#include <inmate/cpu.h>
#include "attack.h"

/* 2 MiB page (PAE), 4 MiB page (plain): user, writable, present */
#define HERE		0x87ull
#define THERE_VA	0x40000000u

/*
 * From modes_entry.S: leaves long mode, then code32(b, c) with CR3 and CR4 as given (0: no paging).
 * Never returns
 */
_Noreturn void mode_enter(const void *code32, uint32_t a, uint32_t b, uint64_t cr3_cr4);
extern const char code32_read[], code32_out[], code32_wrmsr[], code32_store[], code32_task[],
	code32_new_task[];
extern uint64_t gdt32[];

static uint64_t pae_top[4] __attribute__((aligned(32)));
static uint64_t pae_low[512] __attribute__((aligned(4096)));
static uint64_t pae_high[512] __attribute__((aligned(4096)));
static uint32_t plain_top[1024] __attribute__((aligned(4096)));

static uint64_t both(const void *cr3, uint32_t cr4)
{
	return (uint64_t)(uintptr_t)cr3 | (uint64_t)cr4 << 32;
}

void mode_legacy_memory(uint64_t pa, uint64_t b)
{
	mode_enter(code32_read, pa, 0, 0);
}

void mode_legacy_port(uint64_t port, uint64_t value)
{
	mode_enter(code32_out, port, value, 0);
}

void mode_legacy_msr(uint64_t msr, uint64_t value)
{
	mode_enter(code32_wrmsr, msr, value, 0);
}

void mode_legacy_icr(uint64_t low, uint64_t dest)
{
	apic_raw(0x310, dest << 24);
	mode_enter(code32_store, 0xFEE00300, low, 0);
}

/* AMD64 manual volume 2, figure 12-6 */
struct tss32 {
	uint32_t link, stacks[6], cr3, eip, eflags;
	uint32_t eax, ecx, edx, ebx, esp, ebp, esi, edi, es, cs, ss, ds, fs, gs, ldt, io_map;
};

static uint64_t tss_descriptor(const struct tss32 *tss)
{
	uint64_t base = (uintptr_t)tss;

	return (sizeof(*tss) - 1) | (base & 0xFFFFFF) << 16 | 0x89ull << 40 |
	       (base >> 24 & 0xFF) << 56;
}

/* A hardware task switch: by a far jump to a TSS, or by a task gate */
void mode_task(uint64_t gate, uint64_t b)
{
	static struct tss32 old, new;
	static uint64_t idt[0x61] __attribute__((aligned(8)));
	static struct { uint16_t limit; uint32_t base; } __attribute__((packed)) idt_register;

	idt[0x60] = 0x28ull << 16 | 0x85ull << 40;
	idt_register.limit = sizeof(idt) - 1;
	idt_register.base = (uintptr_t)idt;
	new = (struct tss32){
		.eip = (uintptr_t)code32_new_task, .eflags = 2, .esi = 0xFEC00000,
		.cs = 0x18, .es = 0x10, .ss = 0x10, .ds = 0x10, .io_map = sizeof(new)
	};
	gdt32[4] = tss_descriptor(&old);
	gdt32[5] = tss_descriptor(&new);
	mode_enter(code32_task, (uintptr_t)&idt_register, gate, 0);
}

void mode_pae_memory(uint64_t pa, uint64_t b)
{
	unsigned int i;

	for (i = 0; i < 512; i++)
		pae_low[i] = (uint64_t)i << 21 | HERE;
	pae_high[0] = (pa & ~0x1FFFFFull) | HERE;
	pae_top[0] = (uintptr_t)pae_low | 1;
	pae_top[1] = (uintptr_t)pae_high | 1;
	mode_enter(code32_read, THERE_VA + (pa & 0x1FFFFF), 0, both(pae_top, 0x20));
}

void mode_pae_cr3(uint64_t pa, uint64_t b)
{
	mode_enter(code32_read, 0x1000, 0, pa | 0x20ull << 32);
}

void mode_plain_memory(uint64_t pa, uint64_t b)
{
	unsigned int i;

	for (i = 0; i < 256; i++)
		plain_top[i] = i << 22 | HERE;
	plain_top[THERE_VA >> 22] = (pa & ~0x3FFFFFull) | HERE;
	mode_enter(code32_read, THERE_VA + (pa & 0x3FFFFF), 0, both(plain_top, 0x10));
}
