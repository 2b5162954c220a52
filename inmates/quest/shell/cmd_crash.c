// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../mm/mm.h"
#include "shell.h"

/* an address at 16 GiB, above the RAM of any cell */
#define FOREIGN_ADDRESS	0x400000000ull
#define FOREIGN_MSR	0xC0010117		/* the MSR VM_HSAVE_PA */
/* the port of reset control; a write of 0 resets nothing */
#define FOREIGN_PORT	0xCF9

static volatile uint64_t *foreign(void)
{
	if (!map_identity(FOREIGN_ADDRESS, FOREIGN_ADDRESS + 4096, PTE_WRITE))
		print("no memory for a page table\n");
	return (volatile uint64_t *)FOREIGN_ADDRESS;
}

static void crash_memory(void)
{
	print("read %016lx\n", *foreign());
}

static void crash_write(void)
{
	*foreign() = 0x5A5A5A5A;
}

static void crash_msr(void)
{
	wrmsr(FOREIGN_MSR, 0);
}

static void crash_port(void)
{
	outb(FOREIGN_PORT, 0);
}

static void crash_triple(void)
{
	static const struct { uint16_t limit; uint64_t base; } __attribute__((packed)) none;

	irq_disable();
	__asm__ volatile("lidt %0; int3" : : "m"(none) : "memory");
}

static void crash_fault(void)
{
	uint64_t nowhere = 0;

	__asm__ volatile("" : "+r"(nowhere));
	*(volatile uint64_t *)nowhere = 1;
}

/* GCC warns that the recursion never ends, which is intended */
#pragma GCC diagnostic ignored "-Winfinite-recursion"
static long deeper(long n)
{
	volatile long room[100] = { n };

	return deeper(n + 1) + room[n % 100];
}

static void crash_stack(void)
{
	print("%ld\n", deeper(0));
}

/* The guard page below the boot stack, from boot/start.S. */
extern char boot_guard[];

static void crash_guard(void)
{
	*(volatile char *)boot_guard = 0;
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "memory", crash_memory },	{ "write", crash_write },
	{ "msr", crash_msr },		{ "port", crash_port },
	{ "triple", crash_triple },	{ "fault", crash_fault },
	{ "stack", crash_stack },	{ "guard", crash_guard },
};

int command_crash(int argc, char **argv)
{
	unsigned int i, n = sizeof(ways) / sizeof(ways[0]);

	for (i = 0; i < n && argc == 2; i++) {
		if (strcmp(ways[i].name, argv[1]))
			continue;
		console_flush();
		ways[i].run();
		print("still here: this was not stopped\n");
		return SHELL_FAILED;
	}
	print("crash one of:");
	for (i = 0; i < n; i++)
		print(" %s", ways[i].name);
	print("\n");
	return argc == 1 ? 0 : SHELL_USAGE;
}

int command_hang(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	print("hanging\n");
	console_flush();
	irq_disable();
	for (;;)
		cpu_relax();
}
