// SPDX-License-Identifier: GPL-2.0-only
/* The same attacks from 32-bit code: the monitor must not think that all guests are in long mode. */
#include <inmate/cpu.h>
#include "attack.h"

#define HERE		0x87ull		/* 2 MiB page (PAE), 4 MiB page (plain): user, writable, present */
#define THERE_VA	0x40000000u

/* From modes_entry.S: leaves long mode, then code32(b, c) with CR3 and CR4 as given (0: no paging); never returns */
_Noreturn void mode_enter(const void *code32, uint32_t a, uint32_t b, uint64_t cr3_cr4);
extern const char code32_read[], code32_out[], code32_wrmsr[], code32_store[];

static uint64_t pae_top[4] __attribute__((aligned(32)));
static uint64_t pae_low[512] __attribute__((aligned(4096))), pae_high[512] __attribute__((aligned(4096)));
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
