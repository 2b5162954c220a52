// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include <inmate/trap.h>
#include "../kernel/machine.h"
#include "../kernel/thread.h"
#include "../mm/pages.h"
#include "shell.h"

#define FEATURE_COLUMNS	79	/* number of columns used, of the screen's 80 */
#define FEATURE_INDENT	8

extern char image_start[], image_end[];

static void print_seconds(uint64_t us)
{
	print("%lu.%03lu s", us / 1000000, us / 1000 % 1000);
}

int command_ps(int argc, char **argv)
{
	struct thread t;
	const char *state;
	uint64_t us;
	int i;

	(void)argc;
	(void)argv;
	print(" ID NAME            STATE     VCPU        CPU ms\n");
	for (i = 0; i < THREAD_MAX; i++) {
		if (!thread_snapshot(i, &t))
			continue;
		us = timer_to_us(t.sched.used);
		state = t.id == thread_current()->id ? "running" : thread_state_name(t.state);
		print("%3d %-15s %-9s %4d %9lu.%03lu\n", t.id, t.name, state, t.sched.vcpu,
		      us / 1000, us % 1000);
	}
	shell_processes();
	return 0;
}

int command_uptime(int argc, char **argv)
{
	uint64_t up = rdtsc() - machine.boot_tsc, idle = thread_idle_cycles();

	(void)argc;
	(void)argv;
	print("up ");
	print_seconds(timer_to_us(up));
	print(", idle ");
	print_seconds(timer_to_us(idle));
	print("\n");
	return 0;
}

static void print_range(const char *what, uint64_t start, uint64_t end)
{
	print("%-8s %012lx-%012lx %8lu KiB\n", what, start, end, (end - start) >> 10);
}

int command_mem(int argc, char **argv)
{
	const struct boot_info *b = &machine.boot;
	unsigned int i;

	(void)argc;
	(void)argv;
	for (i = 0; i < b->num_ram; i++)
		print_range("ram", b->ram[i].start, b->ram[i].end);
	for (i = 0; i < b->num_modules; i++)
		print_range("module", b->modules[i].start, b->modules[i].end);
	print_range("kernel", (uintptr_t)image_start, (uintptr_t)image_end);
	print("free %lu KiB of %lu KiB in pages of 4 KiB\n",
	      pages_available() * PAGE_SIZE >> 10, pages_managed() * PAGE_SIZE >> 10);
	return 0;
}

static unsigned int column;

static void print_feature(const char *name)
{
	unsigned int length = 1 + strlen(name);

	if (column + length > FEATURE_COLUMNS) {
		print("\n        ");
		column = FEATURE_INDENT;
	}
	column += length;
	print(" %s", name);
}

static void print_cell(void)
{
	const struct qv_info *info = cell_info();

	print("cell     %s: %u CPU(s), doorbell vector %u, ABI %u\n", info->name,
	      info->num_cpus, info->doorbell_vector, info->abi);
	if (cell_bad_indices())
		print("         the key queue's index was wrong %lu times\n", cell_bad_indices());
}

int command_cpu(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	print("vendor   %s family %u model %u stepping %u\n", machine.vendor, machine.family,
	      machine.model, machine.stepping);
	print("brand    %s\n", machine.brand);
	print("features");
	column = FEATURE_INDENT;
	machine_features(print_feature);
	print("\n");
	if (machine.hypervisor[0])
		print("hypervisor \"%s\", leaves to %08x\n", machine.hypervisor,
		      machine.hypervisor_leaf);
	if (!machine.alone)
		print_cell();
	print("APIC     %s, id %u, %lu stray interrupts\n",
	      apic_is_x2apic() ? "x2APIC" : "xAPIC", apic_id(), trap_stray_count());
	print("timer    %s", timer_mode());
	if (timer_khz())
		print(" at %u kHz", timer_khz());
	print("\nTSC      %u kHz, %s\n", machine.tsc_khz,
	      machine.invariant_tsc ? "invariant" : "not said to be invariant");
	return 0;
}
