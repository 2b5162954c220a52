// SPDX-License-Identifier: GPL-2.0-only
/* Programs: run them, each on a VCPU of its own, wait for them, kill them. */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../drivers/input.h"
#include "../kernel/process.h"
#include "../kernel/uservcpu.h"
#include "../user/include/quest/errors.h"
#include "shell.h"
#include "words.h"

#define PID_MAX		INT32_MAX

static volatile int foreground;		/* pid that ^C ends; 0: none */

static void break_foreground(void)
{
	struct process *p = process_find(foreground);

	if (p)
		process_end(p, SIGKILL);
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

/* On a VCPU of its own, or at best effort if there is no room for one. */
static int start(const struct program_args *args, bool background)
{
	const struct sched_param param = { .type = MAIN_VCPU, .C = COMMAND_C, .T = COMMAND_T };
	const char *why = NULL;
	int vcpu, pid;
	bool irqs;

	vcpu = uservcpu_create(args->file, &param, KERNEL_PID);
	if (vcpu < 0)
		print("%s: no VCPU of %d/%d ms: %s; it runs at best effort\n", args->file, COMMAND_C, COMMAND_T,
		      strerror(vcpu));
	irqs = irq_save();
	pid = process_run(args, vcpu < 0 ? BEST_EFFORT_VCPU : vcpu, background, &why);
	if (vcpu >= 0 && pid < 0)
		(void)uservcpu_destroy(vcpu, true, KERNEL_PID);
	else if (vcpu >= 0)
		uservcpu_give(vcpu, pid);
	irq_restore(irqs);
	if (pid < 0)
		print("%s: %s: %s\n", args->file, why ? why : "it cannot run", strerror(pid));
	return pid;
}

bool shell_is_program(const char *name)
{
	int n = archive_find(&archive, name);

	return n >= 0 && archive.files[n].program;
}

void shell_run(int argc, char **argv)
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
	pid = start(&args, background);
	if (pid > 0 && background)
		print("[%d] %s\n", pid, args.file);
	else if (pid > 0)
		wait_for(pid, args.file);
}

void command_run(int argc, char **argv)
{
	if (argc < 2)
		shell_usage(argv);
	else if (!shell_is_program(argv[1]))
		print("%s: no such program; ls lists them\n", argv[1]);
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
