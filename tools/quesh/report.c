// SPDX-License-Identifier: GPL-2.0-only
/* Prints for the terminal and for commands; tells the time for their deadlines */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "quesh.h"

int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void print_out(struct buf *out)
{
	if (out->len)
		fwrite(out->data, 1, out->len, stdout);
	fflush(stdout);
	buf_clear(out);
}

int say_end(const struct options *options, const struct console *console, enum cell_life life)
{
	fflush(stdout);
	if (life == CELL_GONE)
		fprintf(stderr, "quesh: the cell %s is gone: it was destroyed\n"
			"  remedy: `quesh --wait %s` attaches when there is one again\n",
			options->name, options->name);
	else if (console_has_halted(console))
		fprintf(stderr, "quesh: the cell %s is shut down\n"
			"  remedy: qvctl cell start %s\n", options->name, options->name);
	else
		fprintf(stderr,
			"quesh: the cell %s has ended: it failed, or was stopped by force\n"
			"  remedy: `qvctl cell show %s` says why\n",
			options->name, options->name);
	return EXIT_FAILURE;
}
