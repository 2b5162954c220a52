// SPDX-License-Identifier: GPL-2.0-only
/* Programs: run them, each on a VCPU of its own, wait for them, kill them. */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../drivers/input.h"
#include "../kernel/namedvcpu.h"
#include "../kernel/process.h"
#include "../kernel/uservcpu.h"
#include "../kernel/vcpuword.h"
#include "../user/include/quest/errors.h"
#include "shell.h"
#include "words.h"

#define PID_MAX		INT32_MAX

static volatile int foreground;		/* pid that ^C ends; 0: none */

static void break_foreground(void)
{
	const struct process *p = process_find(foreground);

	if (p)
		process_end_family(p, SIGKILL);
}

static void print_end(const char *name, int status)
{
	if (WIFSIGNALED(status))
		print("%s was killed (signal %d)\n", name, WTERMSIG(status));
	else if (WEXITSTATUS(status))
		print("%s ended with %d\n", name, WEXITSTATUS(status));
}

static void wait_for(int pid, const char *name)
{
	int status = 0;
	bool irqs = irq_save();

	foreground = pid;
	input_set_break(break_foreground);
	if (input_drop_break())		/* typed before the program ran */
		break_foreground();
	(void)process_wait(KERNEL_PID, pid, false, &status);
	input_set_break(NULL);
	foreground = 0;
	irq_restore(irqs);
	print_end(name, status);
}

/* A fresh VCPU for a command; BEST_EFFORT_VCPU, and why, if there is no room for one. */
static int own_vcpu(const char *name)
{
	const struct sched_param param = { .type = MAIN_VCPU, .C = COMMAND_C, .T = COMMAND_T };
	int vcpu = uservcpu_create(name, &param, KERNEL_PID);
	uint64_t wait;

	if (vcpu < 0) {
		print("%s: no VCPU of %d/%d ms: %s; it runs at best effort\n", name, COMMAND_C, COMMAND_T, strerror(vcpu));
		return BEST_EFFORT_VCPU;
	}
	wait = vcpu_begins_in_us(vcpu);
	if (wait > COMMAND_T * 1000)	/* what is shorter, any VCPU may have to wait */
		print("%s begins in %lu ms, and before only while nobody else wants the CPU: what a VCPU that is gone has used "
		      "must come back first\n", name, wait / 1000 + 1);
	return vcpu;
}

/* On one of the named VCPUs, or (`named` < 0) on one of its own. */
static int start(const struct program_args *args, int named, bool background)
{
	int vcpu = named < 0 ? own_vcpu(args->file) : named, pid;
	bool own = named < 0 && vcpu != BEST_EFFORT_VCPU, irqs = irq_save();
	const char *why = NULL;

	pid = process_run(args, vcpu, background, &why);
	if (own && pid < 0)
		(void)uservcpu_destroy(vcpu, true, KERNEL_PID);
	else if (own)
		uservcpu_give(vcpu, pid);
	irq_restore(irqs);
	if (pid < 0)
		print("%s: %s: %s\n", args->file, why ? why : "it cannot run", strerror(pid));
	return pid;
}

static bool is_program(const char *name)
{
	int n = archive_find(&archive, name);

	return n >= 0 && archive.files[n].program;
}

static bool names_vcpu(const char *word)
{
	size_t n = sizeof(VCPUWORD_KEY) - 1;

	return strlen(word) >= n && !memcmp(word, VCPUWORD_KEY, n);
}

static void run_on(int named, int argc, char **argv)
{
	struct program_args args = { .count = 0 };
	bool background = argc > 1 && !strcmp(argv[argc - 1], "&");
	int i, pid;

	copy_string(args.file, argv[0], sizeof(args.file));
	for (i = 0; i < argc - background; i++) {
		if (!program_add_arg(&args, argv[i])) {
			print("%s: %s\n", argv[0], strerror(-E2BIG));
			return;
		}
	}
	pid = start(&args, named, background);
	if (pid > 0 && background)
		print("[%d] %s\n", pid, args.file);
	else if (pid > 0)
		wait_for(pid, args.file);
}

bool shell_runs(const char *word)
{
	return names_vcpu(word) || is_program(word);
}

void shell_run(int argc, char **argv)
{
	int named = names_vcpu(argv[0]) ? namedvcpu_find(argv[0]) : SCHED_NO_VCPU;
	int first = names_vcpu(argv[0]);

	if (first && named < 0)
		print("%s: no VCPU of that name is on Quest's command line; vcpus lists all\n", argv[0]);
	else if (first == argc)
		print("%s: and which program? ls lists them\n", argv[0]);
	else if (!is_program(argv[first]))
		print("%s: no such program; ls lists them\n", argv[first]);
	else
		run_on(named, argc - first, argv + first);
}

void command_run(int argc, char **argv)
{
	if (argc < 2)
		shell_usage(argv);
	else
		shell_run(argc - 1, argv + 1);
}

void shell_report_background(void)
{
	struct process p;
	bool irqs = irq_save(), some;

	while ((some = process_reap_background(&p))) {
		irq_restore(irqs);
		print("[%d] %s has ended", p.pid, p.name);
		print(WIFSIGNALED(p.status) ? ": killed (signal %d)\n" : ": exit %d\n",
		      WIFSIGNALED(p.status) ? WTERMSIG(p.status) : WEXITSTATUS(p.status));
		irqs = irq_save();
	}
	irq_restore(irqs);
}

void command_kill(int argc, char **argv)
{
	struct process *p;
	uint64_t pid;
	bool irqs;

	if (argc != 2 || !words_number(argv[1], PID_MAX, &pid)) {
		shell_usage(argv);
		return;
	}
	irqs = irq_save();
	p = process_find((int)pid);
	if (p)
		process_end(p, SIGKILL);
	irq_restore(irqs);
	if (!p)
		print("%s: %s\n", argv[1], strerror(-ESRCH));
}

void command_ls(int argc, char **argv)
{
	const struct archive_file *f;

	(void)argc;
	(void)argv;
	for (f = archive.files; f < archive.files + archive.num_files; f++)
		print("%-16s %8lu bytes  %s\n", f->name, f->size, f->program ? "program" : "data");
}

static void print_process(const struct process *p, uint64_t used)
{
	static const char *const states[] = { "free", "starting", "live", "ended" };
	uint64_t us = timer_to_us(used);

	print("%5d %6d %-15s %-9s %4d %7u %8lu %9lu.%03lu\n", p->pid, p->parent, p->name,
	      p->ending && p->state == PROCESS_LIVE ? "ending" : states[p->state], p->vcpu, p->num_threads,
	      p->space.pages * PAGE_SIZE >> 10, us / 1000, us % 1000);
}

void shell_processes(void)
{
	bool irqs, any = false;
	struct process copy;
	uint64_t used = 0;
	int i;

	for (i = 0; i < PROCESS_MAX; i++) {
		irqs = irq_save();
		copy.state = PROCESS_FREE;
		if (process_at(i)) {
			copy = *process_at(i);
			used = process_used(process_at(i));
		}
		irq_restore(irqs);
		if (copy.state == PROCESS_FREE)
			continue;
		if (!any)
			print("  PID PARENT PROGRAM         STATE     VCPU THREADS      KiB        CPU ms\n");
		any = true;
		print_process(&copy, used);
	}
}

void command_meminfo(int argc, char **argv)
{
	unsigned int processes = 0;
	int i;

	(void)argc;
	(void)argv;
	for (i = 0; i < PROCESS_MAX; i++)
		processes += process_at(i) != NULL;
	print("total %lu KiB, free %lu KiB, %u programs\n", pages_managed() * PAGE_SIZE >> 10,
	      pages_available() * PAGE_SIZE >> 10, processes);
}
