/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shell: a thread that reads lines and runs commands.
 *
 * What a program sees in the stream of a cell: "> " and QV_STREAM_READY when a
 * line is awaited; then the echo of the line and LF; then the command's
 * output; then "> " and QV_STREAM_READY again, with the line's status in
 * comm.line_status.
 */
#ifndef QUEST_SHELL_H
#define QUEST_SHELL_H

#include <stdbool.h>

struct command {
	const char *name;
	const char *usage;		/* behind the name, may be "" */
	const char *brief;		/* one line */
	const char *text;		/* what `help NAME` adds; may be NULL */
	void (*run)(int argc, char **argv);
};

/* The commands, ending with a NULL name; and those of an image for tests, which the shipped one has none of. */
extern const struct command shell_commands[];
extern const struct command shell_more_commands[];

/* Start the shell thread. False: no memory. */
bool shell_start(void);

/* The commands, by file. */
void command_help(int argc, char **argv);
void command_ps(int argc, char **argv);
void command_vcpus(int argc, char **argv);
void command_uptime(int argc, char **argv);
void command_mem(int argc, char **argv);
void command_cpu(int argc, char **argv);
void command_echo(int argc, char **argv);
void command_clear(int argc, char **argv);
void command_spin(int argc, char **argv);
void command_sleep(int argc, char **argv);
void command_count(int argc, char **argv);
void command_load(int argc, char **argv);
void command_trace(int argc, char **argv);
void command_bench(int argc, char **argv);
void bench_sched(void);
void bench_share(void);
void bench_switch(void);
void bench_timer(void);
void command_hang(int argc, char **argv);
void command_lock(int argc, char **argv);
void command_unlock(int argc, char **argv);
void command_agree(int argc, char **argv);
void command_crash(int argc, char **argv);
void command_pci(int argc, char **argv);
void command_run(int argc, char **argv);
void command_kill(int argc, char **argv);
void command_detach(int argc, char **argv);
void command_attach(int argc, char **argv);
void command_ls(int argc, char **argv);
void command_meminfo(int argc, char **argv);

/* The status of the line that is carried out, as a POSIX shell's; 0 unless told. */
void shell_status(int status);

/*
 * Is `word` a program's name, or vcpu=NAME with one behind it? Run it with its arguments, on a VCPU of its own or on
 * that one, and wait for it, unless the last is "&".
 */
bool shell_runs(const char *word);
void shell_run(int argc, char **argv);

/* Print which programs in the background have ended; the programs that there are (`ps`). */
void shell_report_background(void);
void shell_processes(void);

/* "usage: NAME ..." for argv[0]. */
void shell_usage(char **argv);

#endif
