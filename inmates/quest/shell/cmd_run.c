// SPDX-License-Identifier: GPL-2.0-only
/* Runs programs, each on its own VCPU, with pipes between them; waits for them; kills them. */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../drivers/input.h"
#include "../kernel/vcpu/namedvcpu.h"
#include "../kernel/pipe.h"
#include "../kernel/process/children.h"
#include "../kernel/process/job.h"
#include "../kernel/process/process.h"
#include "../kernel/process/start.h"
#include "../kernel/vcpu/uservcpu.h"
#include "../migration/migration.h"
#include "../user/include/quest/errors.h"
#include "../user/include/quest/types.h"
#include "shell.h"
#include "stages.h"
#include "words.h"

#define PID_MAX		INT32_MAX
#define NO_PIPE		(-1)

static volatile int foreground;		/* number of the job that ^C ends; 0: no job */

static void break_foreground(void)
{
	(void)process_end_job(foreground, SIGKILL);
}

/* Returns the line's status. */
static int print_end(const char *name, int status)
{
	if (WIFMOVED(status)) {
		print("%s has moved to %s\n", name, migration_cell(WMOVEDBY(status)));
		return 0;
	}
	if (WIFSIGNALED(status))
		print("%s was killed (signal %d)\n", name, WTERMSIG(status));
	else if (WEXITSTATUS(status))
		print("%s ended with %d\n", name, WEXITSTATUS(status));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/*
 * Prints how a stage of a pipeline ended. Prints nothing about a stage that SIGPIPE ended: this is
 * no error, since the next stage has stopped reading.
 */
static int print_stage_end(const struct stage *s, int status, bool last)
{
	return last || status != SIGPIPE ? print_end(s->argv[0], status) : 0;
}

/* Waits for the `n` stages of a line. Returns the status of the last one. */
static int wait_for(const int *pids, const struct stage *stages, int n)
{
	int status[STAGES_MAX] = { 0 }, i, last = 0;
	bool irqs = irq_save();

	foreground = n ? pids[0] : 0;
	input_set_break(break_foreground);
	if (input_drop_break())		/* ^C was typed before the program could run */
		break_foreground();
	for (i = 0; i < n; i++)
		(void)process_wait(KERNEL_PID, pids[i], false, &status[i]);
	input_set_break(NULL);
	foreground = 0;
	irq_restore(irqs);
	for (i = 0; i < n; i++)
		last = print_stage_end(&stages[i], status[i], i == n - 1);
	return last;
}

/* Creates a VCPU for a command. If it is not admitted, prints why and returns BEST_EFFORT_VCPU. */
static int own_vcpu(const char *name)
{
	const struct sched_param param = { .type = MAIN_VCPU, .C = COMMAND_C, .T = COMMAND_T };
	int vcpu = uservcpu_create(name, &param, KERNEL_PID);
	uint64_t wait;

	if (vcpu < 0) {
		print("%s: no VCPU of %d/%d ms: %s; it runs at best effort\n", name, COMMAND_C,
		      COMMAND_T, strerror(vcpu));
		return BEST_EFFORT_VCPU;
	}
	wait = vcpu_begins_in_us(vcpu);
	if (wait <= COMMAND_T * 1000)	/* a wait of one period is normal for any VCPU */
		return vcpu;
	(void)uservcpu_destroy(vcpu, true, KERNEL_PID);
	print("%s: a VCPU of %d/%d ms would begin in %lu ms: "
	      "what one that is gone has used must come back first; it runs at best effort\n",
	      name, COMMAND_C, COMMAND_T, wait / 1000 + 1);
	return BEST_EFFORT_VCPU;
}

/*
 * Starts a program on VCPU `named`, or on a new VCPU if `named` is negative. The program is in job
 * `job`, or in a new job if `job` is 0. `in` and `out` are pipes, or NO_PIPE.
 */
static int start(const struct program_args *args, int named, bool background, int job, int in,
		 int out)
{
	int vcpu = named < 0 ? own_vcpu(args->file) : named, pid;
	bool own = named < 0 && vcpu != BEST_EFFORT_VCPU, irqs = irq_save();
	const char *why = NULL;

	pid = process_run(args, vcpu, background, job, &why);
	if (own && pid < 0)
		(void)uservcpu_destroy(vcpu, true, KERNEL_PID);
	else if (own)
		uservcpu_give(vcpu, pid);
	if (pid > 0 && in != NO_PIPE)	/* the program has not run yet, since interrupts are off */
		files_put(process_find(pid), STDIN,
			  (struct open_file){ .kind = FILE_PIPE_READ, .number = in });
	if (pid > 0 && out != NO_PIPE)
		files_put(process_find(pid), STDOUT,
			  (struct open_file){ .kind = FILE_PIPE_WRITE, .number = out });
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

static int named_of(const struct stage *s)
{
	return s->vcpu ? namedvcpu_find(s->vcpu) : SCHED_NO_VCPU;
}

static bool take_args(const struct stage *s, struct program_args *args)
{
	int i;

	*args = (struct program_args){ .count = 0 };
	copy_string(args->file, s->argv[0], sizeof(args->file));
	for (i = 0; i < s->argc; i++)
		if (!program_add_arg(args, s->argv[i]))
			return false;
	return true;
}

/* Checks a stage before any stage runs. Returns false, and prints why, if it cannot run. */
static bool can_run(const struct stage *s)
{
	struct program_args args;

	if (s->vcpu && named_of(s) < 0)
		print("%s: no VCPU of that name is on Quest's command line; vcpus lists all\n",
		      s->vcpu);
	else if (!s->argc)
		print("%s: and which program? ls lists them\n", s->vcpu ? s->vcpu : "|");
	else if (!is_program(s->argv[0]))
		print("%s: no such program; ls lists them\n", s->argv[0]);
	else if (!take_args(s, &args))
		print("%s: %s\n", s->argv[0], strerror(-E2BIG));
	else
		return true;
	return false;
}

/* Closes the shell's own end of a pipe after its stage has got a copy. */
static void close_end(int pipe, enum pipe_end end)
{
	bool irqs = irq_save();

	if (pipe != NO_PIPE)
		pipe_close(pipe, end);
	irq_restore(irqs);
}

static int new_pipe(void)
{
	bool irqs = irq_save();
	int pipe = pipe_create();

	irq_restore(irqs);
	if (pipe < 0)
		print("|: %s\n", strerror(pipe));
	return pipe < 0 ? NO_PIPE : pipe;
}

/*
 * Starts all stages. Each stage reads the output of the stage before. Returns how many were
 * started. After an error, the started stages end without help, since their pipes are closed.
 */
static int start_all(const struct stage *stages, int n, bool background, int *pids)
{
	int in = NO_PIPE, out, started, pid = 0;
	struct program_args args;

	for (started = 0; started < n; started++) {
		out = started < n - 1 ? new_pipe() : NO_PIPE;
		pid = -EMFILE;
		if (started == n - 1 || out != NO_PIPE) {
			(void)take_args(&stages[started], &args);
			pid = start(&args, named_of(&stages[started]), background,
				    started ? pids[0] : 0, in, out);
		}
		close_end(in, PIPE_READ);
		close_end(out, PIPE_WRITE);
		in = out;
		if (pid < 0)
			break;
		pids[started] = pid;
		if (background)
			print("[%d] %s\n", pid, args.file);
	}
	if (pid < 0)
		close_end(in, PIPE_READ);
	return started;
}

bool shell_runs(const char *word)
{
	return stages_vcpu(word) || is_program(word);
}

int shell_run(int argc, char **argv)
{
	bool background = argc > 1 && !strcmp(argv[argc - 1], "&");
	struct stage stages[STAGES_MAX];
	int wanted = stages_split(argc - background, argv, stages), n, i,
	    pids[STAGES_MAX], status = 0;

	for (i = 0; i < wanted; i++)
		if (!can_run(&stages[i]))
			return SHELL_NOT_FOUND;
	n = start_all(stages, wanted, background, pids);
	if (!background)
		status = wait_for(pids, stages, n);
	return n < wanted ? SHELL_CANNOT_RUN : status;
}

int shell_spawn(int argc, char **argv)
{
	struct stage stages[STAGES_MAX];
	int pids[STAGES_MAX];

	if (stages_split(argc, argv, stages) != 1) {
		print("|: one program at a time\n");
		return 0;
	}
	return can_run(&stages[0]) && start_all(stages, 1, true, pids) ? pids[0] : 0;
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

static bool end_one(int pid)
{
	struct process *p = process_find(pid);

	if (p)
		process_end(p, SIGKILL);
	return p;
}

int command_kill(int argc, char **argv)
{
	bool irqs, job = argc == 2 && argv[1][0] == '-', found;
	uint64_t id;

	if (argc != 2 || !words_number(argv[1] + job, PID_MAX, &id))
		return SHELL_SHOW_USAGE;
	irqs = irq_save();
	found = job ? process_end_job((int)id, SIGKILL) : end_one((int)id);
	irq_restore(irqs);
	if (!found)
		print("%s: %s\n", argv[1], strerror(-ESRCH));
	return found ? 0 : SHELL_FAILED;
}

int command_ls(int argc, char **argv)
{
	const struct archive_file *f;

	(void)argc;
	(void)argv;
	for (f = archive.files; f < archive.files + archive.num_files; f++)
		print("%-16s %8lu bytes  %s\n", f->name, f->size, f->program ? "program" : "data");
	return 0;
}

static void print_process(const struct process *p, uint64_t used)
{
	static const char *const states[] = { "free", "starting", "live", "ended", "detached",
						 "moving" };
	uint64_t us = timer_to_us(used);

	print("%5d %6d %-15s %-8s %4d %7u %8lu %9lu.%03lu %5d\n", p->pid, p->parent, p->name,
	      p->ending && p->state == PROCESS_LIVE ? "ending" : states[p->state], p->vcpu,
	      p->num_threads,
	      p->space.pages * PAGE_SIZE >> 10, us / 1000, us % 1000, p->job);
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
			print("  PID PARENT PROGRAM         STATE    VCPU THREADS"
			      "      KiB        CPU ms   JOB\n");
		any = true;
		print_process(&copy, used);
	}
}

int command_meminfo(int argc, char **argv)
{
	unsigned int processes = 0;
	int i;

	(void)argc;
	(void)argv;
	for (i = 0; i < PROCESS_MAX; i++)
		processes += process_at(i) != NULL;
	print("total %lu KiB, free %lu KiB, %u programs\n", pages_managed() * PAGE_SIZE >> 10,
	      pages_available() * PAGE_SIZE >> 10, processes);
	return 0;
}
