// SPDX-License-Identifier: GPL-2.0-only
/* Instructions that a cell must not execute, or that must have no effect outside it. */
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include <inmate/trap.h>
#include "attack.h"

/* Executes an instruction with an address in RAX and possibly an operand in RCX */
#define WITH_RAX(name, code) \
	void name(uint64_t rax, uint64_t rcx) \
	{ \
		TRY(code, "+a"(rax) : "c"(rcx), "d"(0) : "memory", "cc"); \
		fault_ends(); \
		survived("rax is %lx", (unsigned long)rax); \
	}

WITH_RAX(ins_vmrun, "vmrun")
WITH_RAX(ins_vmload, "vmload")
WITH_RAX(ins_vmsave, "vmsave")
WITH_RAX(ins_stgi, "stgi")
WITH_RAX(ins_clgi, "clgi")
WITH_RAX(ins_skinit, "skinit %%eax")
WITH_RAX(ins_invlpga, "invlpga")
WITH_RAX(ins_invlpgb, ".byte 0x0f, 0x01, 0xfe")
WITH_RAX(ins_tlbsync, ".byte 0x0f, 0x01, 0xff")
WITH_RAX(ins_vmcall, "vmcall")
WITH_RAX(ins_vmmcall, "vmmcall")
WITH_RAX(ins_invd, "invd")
WITH_RAX(ins_rdpmc, "mov %%rax, %%rcx; rdpmc")

static bool intel(void)
{
	static int known;	/* 0: the value was not read yet */

	if (!known)
		known = cpuid(0, 0).ebx == 0x756E6547 ? 2 : 1;	/* "Genu" */
	return known == 2;
}

uint64_t call(uint64_t number, uint64_t a, uint64_t b)
{
	if (intel())
		TRY("vmcall", "+a"(number) : "D"(a), "S"(b) : "memory", "cc");
	else
		TRY("vmmcall", "+a"(number) : "D"(a), "S"(b) : "memory", "cc");
	return number;
}

void ins_call(uint64_t number, uint64_t argument)
{
	call(number, argument, 0);
	fault_ends();
	survived("answered");
}

/* Releases the lock if the call locked, so that the suite can continue */
void ins_call_lock(uint64_t a, uint64_t b)
{
	uint64_t result = call(QV_CALL_LOCK, 0, 0);

	fault_ends();
	call(QV_CALL_UNLOCK, 0, 0);
	breach("locked: %lx", (unsigned long)result);
}

void ins_call_sweep(uint64_t a, uint64_t b)
{
	uint64_t n, faults = 0, shift;

	for (n = 0; n < 4096; n++) {
		if (n == QV_CALL_LOCK)
			continue;
		call(n, 1, 0x100000);
		faults += trapped >= 0;
	}
	for (shift = 12; shift < 64; shift++) {
		call(1ull << shift, ~0ull, ~0ull);
		faults += trapped >= 0;
	}
	survived("%lu of 4147 fault", (unsigned long)faults);
}

void ins_wbinvd_loop(uint64_t times, uint64_t b)
{
	while (times--) {
		TRY("wbinvd", : : "memory");
		fault_ends();
	}
	survived("flushed");
}

void ins_xsetbv(uint64_t value, uint64_t number)
{
	__asm__ volatile("mov %0, %%cr4" : : "r"(read_cr4() | 1ull << 18));	/* OSXSAVE */
	TRY("xsetbv", : "c"((uint32_t)number), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
	    : "memory");
	fault_ends();
	survived("set");
}

void ins_monitor(uint64_t hint, uint64_t ecx)
{
	static uint64_t line[8] __attribute__((aligned(64)));
	uint64_t now;

	timer_init(0x41, cell_info()->tsc_khz, false);
	now = rdtsc();
	timer_arm(now + cell_info()->tsc_khz, now);
	TRY("monitor", : "a"(line), "c"(0), "d"(0) : "memory");
	fault_ends();
	TRY("sti; mwait; cli", : "a"(hint), "c"(ecx) : "memory");
	irq_disable();
	fault_ends();
	survived("slept and woke");
}

void ins_harmless(uint64_t a, uint64_t b)
{
	uint32_t low, high, aux;
	uint64_t random;

	__asm__ volatile("pause; rdtsc" : "=a"(low), "=d"(high));
	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(aux));
	TRY("rdrand %0", "=r"(random) : : "cc");
	__asm__ volatile("clflush %0; prefetchw %0" : "+m"(low));
	survived("aux %x", aux);
}

void ins_cpuid_sweep(uint64_t a, uint64_t b)
{
	static const struct { uint32_t leaf, word, bits; } hidden[] = {
		{ 1, 2, 1u << 5 },		/* VMX */
		{ 0x80000001, 2, 1u << 2 },	/* SVM */
		{ 0x8000000A, 3, ~0u },		/* SVM's features */
		{ 0x80000008, 1, 1u << 3 },	/* INVLPGB */
	};
	static const uint32_t bases[] = {
		0, 0x40000000, 0x80000000, 0x8FFFFFF0, 0xC0000000, 0xFFFFFF00
	};
	unsigned int i, sub;
	uint32_t leaf;

	for (i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
		for (leaf = bases[i]; leaf < bases[i] + 0x40; leaf++)
			for (sub = 0; sub < 4; sub++)
				cpuid(leaf, sub);
	for (i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		struct cpuid_regs r = cpuid(hidden[i].leaf, 0);
		const uint32_t words[] = { r.eax, r.ebx, r.ecx, r.edx };

		if (words[hidden[i].word] & hidden[i].bits)
			breach("leaf %x shows %x", hidden[i].leaf, words[hidden[i].word]);
	}
	survived("asked");
}
