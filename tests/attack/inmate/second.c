// SPDX-License-Identifier: GPL-2.0-only
/* Attacks by two CPUs. The code of the second is copied to a page below 1 MiB. */
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "attack.h"

#define PAGE_OF_CODE	0x8000u
#define COUNTER		(*(volatile uint32_t *)0x7000)

/* The code is in second_entry.S, which describes each of these */
extern const char code16_count[], code16_memory[], code16_port[], code16_msr[], code16_triple[],
	code16_vmrun[], code16_vmmcall[], code16_vmcall[], code16_vmxon[], code16_icr[],
	code16_wild[], code16_cpuid[], code16_race[];

static const char *const codes[] = {
	code16_memory, code16_port, code16_msr, code16_triple, code16_icr, code16_wild,
	code16_vmrun, code16_vmmcall, code16_vmcall, code16_vmxon,
};

uint32_t second_id(void)
{
	return cell_info()->apic_ids[1];
}

static void wait_some(uint32_t turns)
{
	while (turns--) {
		still_here();
		cpu_relax();
	}
}

void start_second(const void *code, uint64_t length)
{
	memcpy((void *)(uintptr_t)PAGE_OF_CODE, code, length);
	COUNTER = 0;
	ipi(0x4500, second_id());
	wait_some(10000);
	ipi(0x4600 | PAGE_OF_CODE >> 12, second_id());
}

static void start(const char *code)
{
	start_second(code, 0x100);
}

static void await_count(void)
{
	uint32_t i;

	for (i = 0; i < 100000000 && !COUNTER; i++)
		wait_some(1);
	if (!COUNTER)
		breach("the second CPU did not do its part");
}

void second_start(uint64_t a, uint64_t b)
{
	start(code16_count);
	await_count();
	survived("it counts");
}

void second_flood(uint64_t low, uint64_t b)
{
	uint32_t i;

	start(code16_count);
	await_count();
	for (i = 0; i < 1000; i++) {
		ipi(0x4000 | low, second_id());
		if (low == 0x500)
			ipi(0x4600 | PAGE_OF_CODE >> 12, second_id());
		still_here();
	}
	start(code16_count);
	await_count();
	survived("it still counts");
}

void second_fails(uint64_t a, uint64_t b)
{
	start(code16_memory);
	silence();
}

void second_both(uint64_t a, uint64_t b)
{
	volatile uint8_t *at = window(0xFEC00000);

	start(code16_memory);
	while (!COUNTER)
		cpu_relax();
	breach("read %x", *at);
}

/* If a row must be harmless, it counts its exceptions. */
/* @ud: the code raises #UD, and the handler of #UD counts */
void second_code(uint64_t which, uint64_t ud)
{
	start(codes[which]);
	if (ud) {
		await_count();
		survived("it was #UD");
	}
	for (;;)
		still_here();
}

void second_init_busy(uint64_t a, uint64_t b)
{
	uint32_t i;

	for (i = 0; i < 300; i++) {
		start(code16_cpuid);
		wait_some(100);
	}
	start(code16_count);
	await_count();
	survived("it still counts");
}

/*
 * The first CPU writes its task priority by a six-byte instruction. Meanwhile the second CPU
 * changes the register and the immediate of that instruction. The monitor filters the version that
 * it reads, or cannot decode it.
 */
void second_race(uint64_t a, uint64_t b)
{
	static const uint8_t code[] = {
		0xC7, 0x00, 0x00, 0x45, 0x00, 0x00,	/* movl $0x4500, (%rax) */
		0xC3,
	};
	uint8_t *to = (uint8_t *)0x6000;

	memcpy(to, code, sizeof(code));
	start(code16_race);
	for (;;) {
		*(volatile uint32_t *)(APIC_PAGE + 0x310) = second_id() << 24;
		__asm__ volatile("call *%0" : : "r"(to), "a"(0xFEE00080ull) : "memory");
		still_here();
	}
}
