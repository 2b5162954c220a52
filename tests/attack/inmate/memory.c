// SPDX-License-Identifier: GPL-2.0-only
/* Accesses to memory outside the cell, of each kind. */
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "attack.h"

#define PTE_PRESENT	1ull
#define PTE_WRITE	2ull
#define PTE_USER	4ull
#define PTE_LARGE	0x80ull
/* first address that the second entry of the highest table maps */
#define WINDOW_VA	(1ull << 39)
#define PAGE		4096ull
#define IMAGE_START	0x100000ull
#define PATTERN		0x5EEDFACECAFEBEEFull

extern char image_end[];
static uint64_t tables[3][512] __attribute__((aligned(4096)));

static uint64_t *top(void)
{
	return (uint64_t *)(uintptr_t)(read_cr3() & ~0xFFFull);
}

volatile uint8_t *window_flags(uint64_t pa, uint64_t flags)
{
	tables[0][0] = (uintptr_t)tables[1] | PTE_PRESENT | PTE_WRITE | PTE_USER;
	tables[1][0] = (uintptr_t)tables[2] | PTE_PRESENT | PTE_WRITE | PTE_USER;
	tables[2][0] = (pa & ~(PAGE - 1)) | flags;
	tables[2][1] = ((pa & ~(PAGE - 1)) + PAGE) | flags;
	top()[1] = (uintptr_t)tables[0] | PTE_PRESENT | PTE_WRITE | PTE_USER;
	write_cr3(read_cr3());
	return (volatile uint8_t *)(WINDOW_VA + (pa & (PAGE - 1)));
}

volatile uint8_t *window(uint64_t pa)
{
	return window_flags(pa, PTE_PRESENT | PTE_WRITE);
}

static uint64_t from_end(uint64_t a)
{
	return cell_info()->memory + a;
}

void mem_read(uint64_t pa, uint64_t unused)
{
	uint64_t found;

	found = *(volatile uint64_t *)window(pa);
	breach("read %lx", (unsigned long)found);
}

void mem_write(uint64_t pa, uint64_t value)
{
	*(volatile uint64_t *)window(pa) = value;
	breach("written");
}

/* Fills a page that is its own */
void mem_fill(uint64_t pa, uint64_t byte)
{
	volatile uint8_t *at = window(pa);
	uint32_t i;

	for (i = 0; i < PAGE; i++)
		at[i] = (uint8_t)byte;
}

void mem_read_past_end(uint64_t a, uint64_t b)
{
	mem_read(from_end(a), b);
}

void mem_write_past_end(uint64_t a, uint64_t b)
{
	mem_write(from_end(a), b);
}

/* An access of eight bytes that straddles the end of RAM */
void mem_straddle_end(uint64_t a, uint64_t b)
{
	mem_write(from_end(0) - a, b);
}

/* Writes a page table entry. On reserved bits the processor itself faults. */
void mem_entry(uint64_t pa, uint64_t flags)
{
	uint64_t found = *(volatile uint64_t *)window_flags(pa, flags);

	breach("read %lx", (unsigned long)found);
}

/* Loads any address into CR3, so that the processor reads its page tables there */
void mem_cr3(uint64_t pa, uint64_t unused)
{
	write_cr3(pa);
	breach("runs with tables that are not its own");
}

void mem_table(uint64_t pa, uint64_t level)
{
	volatile uint8_t *at = window(0);

	tables[level][0] = pa | PTE_PRESENT | PTE_WRITE | PTE_USER;
	write_cr3(read_cr3());
	breach("read %x through foreign tables", *at);
}

/* Puts the interrupt table outside the cell. Each exception then reads it */
void mem_idt(uint64_t pa, uint64_t unused)
{
	struct { uint16_t limit; uint64_t base; } __attribute__((packed)) idt = {
		0xFFF, (uintptr_t)window(pa)
	};

	__asm__ volatile("lidt %0; int3" : : "m"(idt) : "memory");
	breach("the exception went somewhere");
}

void mem_stack(uint64_t pa, uint64_t unused)
{
	volatile uint8_t *at = window(pa);

	__asm__ volatile("movq %0, %%rsp; pushq %%rax" : : "r"(at + 0x800) : "memory");
	breach("pushed");
}

void mem_execute(uint64_t pa, uint64_t unused)
{
	volatile uint8_t *at = window(pa);

	__asm__ volatile("callq *%0" : : "r"(at) : "memory", "rax");
	breach("came back from there");
}

/* Writes a return instruction into a page shared with Linux and executes it */
void mem_execute_shared(uint64_t pa, uint64_t unused)
{
	*window(pa) = 0xC3;
	mem_execute(pa, 0);
}

void mem_atomic(uint64_t pa, uint64_t unused)
{
	volatile uint64_t *at = (volatile uint64_t *)window(pa);

	__asm__ volatile("lock; incq %0" : "+m"(*at));
	breach("counted there");
}

void mem_string(uint64_t pa, uint64_t bytes)
{
	volatile uint8_t *at = window(pa);

	__asm__ volatile("rep; stosb" : "+D"(at), "+c"(bytes) : "a"(0x5A) : "memory");
	breach("filled");
}

/* RAM is zero at the start, except for the image and the loader's information */
static uint64_t not_zero(uint64_t from, uint64_t to)
{
	const volatile uint64_t *at = (const volatile uint64_t *)from;
	uint64_t found = 0;

	for (; at < (const volatile uint64_t *)to; at++)
		found += *at != 0;
	return found;
}

void mem_zeros(uint64_t a, uint64_t b)
{
	uint64_t end = ((uint64_t)(uintptr_t)image_end + PAGE - 1) & ~(PAGE - 1), found;

	found = not_zero(end, cell_info()->memory);
	if (found)
		breach("%lu words are somebody's", (unsigned long)found);
	survived("%lu KiB are zero", (unsigned long)(cell_info()->memory - end) >> 10);
}

/* Writes a pattern that the next cell must not find. Then `a` == 0: continues; 1: fails */
void mem_leave_pattern(uint64_t fail, uint64_t b)
{
	uint64_t *at = (uint64_t *)(((uintptr_t)image_end + PAGE - 1) & ~(PAGE - 1));

	for (; (uintptr_t)at < cell_info()->memory; at++)
		*(volatile uint64_t *)at = PATTERN;
	if (fail)
		mem_read_past_end(0, 0);
}

/* A guest may set the cache mode of its pages. Uncached writes stay in its memory. */
void mem_types(uint64_t a, uint64_t b)
{
	uint64_t flags, i;

	for (i = 0; i < 8; i++) {
		flags = (i & 1) << 3 | (i & 2) << 3 | (i & 4) << 5;
		*(volatile uint64_t *)window_flags(0x3000, flags | PTE_PRESENT | PTE_WRITE) = i;
		if (*(volatile uint64_t *)0x3000 != i)
			breach("type %lu loses writes", (unsigned long)i);
	}
}
