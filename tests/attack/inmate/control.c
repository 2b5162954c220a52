// SPDX-License-Identifier: GPL-2.0-only
/* Control and debug registers, with every operand. */
#include <inmate/cpu.h>
#include "attack.h"

#define CR0_TS	8ull

static void try_cr0(uint64_t value)
{
	TRY("mov %0, %%cr0", : "r"(value) : "memory");
}

static void try_cr4(uint64_t value)
{
	TRY("mov %0, %%cr4", : "r"(value) : "memory");
}

void ins_cr0(uint64_t bits, uint64_t b)
{
	try_cr0(read_cr0() | bits);
	fault_ends();
	survived("reads %lx now", (unsigned long)read_cr0());
}

/* The guest must read back the value that it wrote */
void ins_cr0_toggle(uint64_t bits, uint64_t b)
{
	uint64_t old = read_cr0(), value = old ^ bits;
	unsigned int turn;

	for (turn = 0; turn < 4; turn++, value ^= bits) {
		try_cr0(value);
		fault_ends();
		if (read_cr0() != value)
			breach("wrote %lx, reads %lx", (unsigned long)value,
			       (unsigned long)read_cr0());
	}
	survived("reads %lx now", (unsigned long)read_cr0());
}

void ins_cr0_clear(uint64_t bits, uint64_t b)
{
	try_cr0(read_cr0() & ~bits);
	fault_ends();
	survived("reads %lx now", (unsigned long)read_cr0());
}

void ins_cr4(uint64_t bits, uint64_t b)
{
	try_cr4(read_cr4() | bits);
	fault_ends();
	survived("reads %lx now", (unsigned long)read_cr4());
}

void ins_cr4_clear(uint64_t bits, uint64_t b)
{
	try_cr4(read_cr4() & ~bits);
	fault_ends();
	survived("reads %lx now", (unsigned long)read_cr4());
}

void ins_cr4_sweep(uint64_t a, uint64_t b)
{
	uint64_t old = read_cr4(), taken = 0;
	int bit;

	for (bit = 0; bit < 64; bit++) {
		if (bit == 5)	/* PAE must stay set for the code below; another row clears it */
			continue;
		try_cr4(old ^ 1ull << bit);
		if (trapped < 0)
			taken |= 1ull << bit;
		try_cr4(old);
	}
	survived("taken: %lx", (unsigned long)taken);
}

/*
 * Writes from each register in turn, with alternating values, so that a wrong decoder is detected
 */
#define FROM(reg) do { \
	slot = old ^ (n++ & 1 ? 0 : CR0_TS); \
	__asm__ volatile("push %%" reg "; mov %0, %%" reg "; mov %%" reg ", %%cr0; pop %%" reg \
			 : : "m"(slot) : "memory"); \
	if (read_cr0() != slot) \
		breach("mov cr0 from %s gave %lx, not %lx", reg, \
		       (unsigned long)read_cr0(), (unsigned long)slot); \
} while (0)

void ins_cr0_registers(uint64_t a, uint64_t b)
{
	static uint64_t slot;
	uint64_t old = read_cr0() & ~CR0_TS, saved, value;
	unsigned int n = 0;

	FROM("rax"); FROM("rbx"); FROM("rcx"); FROM("rdx"); FROM("rsi"); FROM("rdi"); FROM("rbp");
	FROM("r8"); FROM("r9"); FROM("r10"); FROM("r11"); FROM("r12"); FROM("r13"); FROM("r14");
	FROM("r15");
	value = old | CR0_TS;
	__asm__ volatile("mov %%rsp, %0; mov %1, %%rsp; mov %%rsp, %%cr0; mov %0, %%rsp"
			 : "=&r"(saved) : "r"(value) : "memory");
	if (read_cr0() != value)
		breach("mov cr0 from rsp gave %lx", (unsigned long)read_cr0());
	__asm__ volatile("clts");
	if (read_cr0() & CR0_TS)
		breach("clts did nothing");
	__asm__ volatile("lmsw %w0" : : "r"((uint32_t)(old | CR0_TS)));
	if (!(read_cr0() & CR0_TS))
		breach("lmsw did nothing");
	__asm__ volatile("lmsw %w0" : : "r"((uint32_t)(old & ~1ull)));
	if (!(read_cr0() & 1))
		breach("lmsw left protected mode");
	survived("all sixteen, lmsw, clts");
}

void ins_cr8(uint64_t value, uint64_t b)
{
	TRY("mov %0, %%cr8", : "r"(value) : "memory");
	fault_ends();
	survived("closed");
}

void ins_dr7(uint64_t value, uint64_t b)
{
	uint64_t nowhere = 0x7FFFFFFFF000;

	__asm__ volatile("mov %0, %%dr0; mov %0, %%dr1; mov %0, %%dr2; mov %0, %%dr3"
			 : : "r"(nowhere));
	TRY("mov %0, %%dr7", : "r"(value) : "memory");
	fault_ends();
	survived("set");
}
