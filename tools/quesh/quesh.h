/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of quesh and its exit statuses */
#ifndef QUESH_H
#define QUESH_H

#include <stdbool.h>
#include <stdint.h>

#include "console.h"

#define EXIT_USAGE	2
#define EXIT_TIMED_OUT	124

struct options {
	const char *name;
	const char *folder;
	const char **commands;
	int num_commands;
	double timeout;		/* timeout in seconds, for each command and for --wait */
	bool timeout_given;
	bool wait;
	bool dump;
	bool force;		/* takes the keyboard from the program that has it */
	bool stay;		/* waits for the next life of a cell that stops */
	const char *log;	/* file to which the output is appended, or NULL */
	int log_fd;		/* the open file, or -1 */
	bool no_history;	/* of earlier sessions, and for later ones */
	bool utf8;		/* the terminal's character set is UTF-8 */
};

/* report.c: returns milliseconds of the monotonic clock */
int64_t now_ms(void);

/* Prints a buffer at once and empties it. */
void print_out(struct buf *out);

/* Reports that the cell has stopped or was destroyed. Returns the exit status. */
int say_end(const struct options *options, const struct console *console, enum cell_life life);

/* session.c, command.c: both return the exit status */
int session_run(const struct options *options, struct console *console);
int commands_run(const struct options *options, struct console *console);

#endif
