/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shell: a thread that reads lines and runs commands.
 *
 * In the stream of a cell a program sees "> " and QV_STREAM_READY when a line is awaited; then the
 * echo of the line and LF; then the command's output; then "> " and QV_STREAM_READY again, with the
 * line's status in comm.line_status.
 */
#ifndef QUEST_SHELL_H
#define QUEST_SHELL_H

#include <stdbool.h>

/*
 * The status of a line, like $? of a POSIX shell: the exit status of a program, 128 + its signal,
 * or one of the values below.
 */
enum shell_status {
	SHELL_FAILED = 1,		/* the command has printed why */
	SHELL_USAGE = 2,
	SHELL_CANNOT_RUN = 126,
	SHELL_NOT_FOUND = 127,
	SHELL_BROKEN = 128 + 2,		/* ended by ^C */
};

/*
 * A command returns this if its arguments are wrong. The shell then prints the usage of the
 * command, and the line's status is SHELL_USAGE.
 */
#define SHELL_SHOW_USAGE	(-1)

struct command {
	const char *name;
	const char *usage;		/* arguments, printed after the name; may be "" */
	const char *brief;		/* one line */
	const char *text;		/* further text that `help NAME` prints; may be NULL */
	int (*run)(int argc, char **argv);	/* returns the line's status, or SHELL_SHOW_USAGE */
};

/*
 * All commands except help, and the additional commands of the image for tests. Each list ends with
 * a NULL name. In the shipped image the second list is empty.
 */
extern const struct command shell_commands[];
extern const struct command shell_more_commands[];

/*
 * Return the n-th command, and the command called `name`, of both lists and help; NULL if no such
 * command exists.
 */
const struct command *command_nth(unsigned int n);
const struct command *command_find(const char *name);

/* Starts the shell's thread. Returns false if there is no memory. */
bool shell_start(void);

/* The functions of the commands, grouped by file. */
int command_ps(int argc, char **argv);
int command_vcpus(int argc, char **argv);
int command_uptime(int argc, char **argv);
int command_mem(int argc, char **argv);
int command_cpu(int argc, char **argv);
int command_echo(int argc, char **argv);
int command_clear(int argc, char **argv);
int command_exit(int argc, char **argv);
int command_spin(int argc, char **argv);
int command_sleep(int argc, char **argv);
int command_count(int argc, char **argv);
int command_load(int argc, char **argv);
int command_trace(int argc, char **argv);
int command_bench(int argc, char **argv);
int bench_sched(void);
int bench_share(void);
int bench_switch(void);
int bench_timer(void);
int command_hang(int argc, char **argv);
int command_lock(int argc, char **argv);
int command_unlock(int argc, char **argv);
int command_agree(int argc, char **argv);
int command_crash(int argc, char **argv);
int command_pci(int argc, char **argv);
int command_net(int argc, char **argv);
int command_recovery(int argc, char **argv);
int command_channels(int argc, char **argv);
int command_bound(int argc, char **argv);
int command_chan(int argc, char **argv);
int command_key(int argc, char **argv);
int command_run(int argc, char **argv);
int command_kill(int argc, char **argv);
int command_detach(int argc, char **argv);
int command_attach(int argc, char **argv);
int command_migrate(int argc, char **argv);
int command_rebalance(int argc, char **argv);
int command_top(int argc, char **argv);
int command_ls(int argc, char **argv);
int command_meminfo(int argc, char **argv);

/*
 * shell_runs() returns whether a line that begins with `word` runs programs: `word` is a program's
 * name or vcpu=NAME. shell_run() runs the program with its arguments, on a VCPU of its own or on
 * VCPU NAME. It waits for the program, unless the last argument is "&". Returns the line's status.
 */
bool shell_runs(const char *word);
int shell_run(int argc, char **argv);

/*
 * Starts one program in the background, as `run NAME [ARG...] &` does. Returns its pid; 0: it was
 * printed why it cannot run.
 */
int shell_spawn(int argc, char **argv);

/*
 * Moves program `pid` by link `link`, and waits. Returns 0, minus an error, or SHELL_BROKEN after
 * ^C. shell_print_move() prints such an error, and returns the line's status.
 */
int shell_move(int pid, int link, bool strict);
int shell_print_move(const char *pid, int error);

/* Print which programs in the background have ended; print all programs (`ps`). */
void shell_report_background(void);
void shell_processes(void);

#endif
