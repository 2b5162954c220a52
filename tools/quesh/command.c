// SPDX-License-Identifier: GPL-2.0-only
/* quesh NAME -c 'line': what the cell's shell prints, for scripts */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "line.h"
#include "quesh.h"

#define PERIOD_MS	5	/* between two looks at the stream */

static void pause_ms(long ms)
{
	struct timespec span = { .tv_nsec = ms * 1000000 };

	nanosleep(&span, NULL);
}

static int say_late(const struct options *options, const char *what)
{
	fflush(stdout);
	fprintf(stderr, "quesh: %s: %s within %g s\n", options->name, what, options->timeout);
	return EXIT_TIMED_OUT;
}

/* A command goes on when nobody waits for it any more. */
static int say_busy(const struct options *options, const char *what)
{
	say_late(options, what);
	fprintf(stderr, "  remedy: a longer -t, or ^C in `quesh %s`: it ends what still runs there\n", options->name);
	return EXIT_TIMED_OUT;
}

/* Waits for the shell to await a line. 0, or the exit status. */
static int await_ready(const struct options *options, struct console *console,
		       const struct stream *stream, int64_t deadline)
{
	while (!stream_is_ready(stream)) {
		enum cell_life life = console_life(console);

		if (life != CELL_RUNNING)
			return say_end(options, console, life);
		if (now_ms() >= deadline)
			return say_busy(options, "the cell's shell was not ready for a line");
		pause_ms(PERIOD_MS);
	}
	return 0;
}

static int type_line(const struct options *options, struct console *console,
		     const char *command, int64_t deadline)
{
	struct buf line = { 0 };
	size_t done = 0;
	int status = 0;

	buf_puts(&line, command);
	buf_putc(&line, '\r');
	while (done < line.len && !status) {
		long sent = console_type(console, line.data + done, line.len - done);
		enum cell_life life = console_life(console);

		if (sent > 0)
			done += (size_t)sent;
		else if (life != CELL_RUNNING)
			status = say_end(options, console, life);
		else if (now_ms() >= deadline)
			status = say_late(options, "the cell did not take the keys");
		else
			pause_ms(PERIOD_MS);
	}
	buf_free(&line);
	return status;
}

/* Reads once and prints. Returns whether anything was there. */
static bool read_some(struct answer *answer, struct stream *stream, struct buf *out)
{
	uint8_t bytes[4096];
	size_t len = stream_read(stream, bytes, sizeof(bytes));

	answer_feed(answer, bytes, len, out);
	print_out(out);
	return len > 0;
}

static int print_answer(const struct options *options, struct console *console,
			struct stream *stream, struct answer *answer, int64_t deadline)
{
	struct buf out = { 0 };
	int status = 0;

	while (!answer->done && !status) {
		enum cell_life life = console_life(console);

		if (read_some(answer, stream, &out) && now_ms() < deadline)
			continue;
		if (answer->done)
			break;
		if (life != CELL_RUNNING || now_ms() >= deadline) {
			answer_flush(answer, &out);
			print_out(&out);
			status = life != CELL_RUNNING ? say_end(options, console, life) :
				 say_busy(options, "the command did not end");
		} else {
			pause_ms(PERIOD_MS);
		}
	}
	buf_free(&out);
	if (stream->lost)
		fprintf(stderr, "quesh: %s: %llu bytes of output came too fast and were lost\n",
			options->name, (unsigned long long)stream->lost);
	return status;
}

static int run_one(const struct options *options, struct console *console, const char *command)
{
	int64_t deadline = now_ms() + (int64_t)(options->timeout * 1000);
	struct buf prompt = { 0 };
	struct answer answer;
	struct stream stream;
	int status;

	console_stream(console, &stream);
	status = await_ready(options, console, &stream, deadline);
	if (status)
		return status;
	console_stream(console, &stream);
	stream_prompt(&stream, options->utf8, &prompt);
	answer_init(&answer, command, prompt.data ? prompt.data : "", options->utf8);
	status = type_line(options, console, command, deadline);
	if (!status)
		status = print_answer(options, console, &stream, &answer, deadline);
	answer_free(&answer);
	buf_free(&prompt);
	return status;
}

int commands_run(const struct options *options, struct console *console)
{
	int i, status = 0;

	for (i = 0; i < options->num_commands && !status; i++)
		status = run_one(options, console, options->commands[i]);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "quesh: the output could not be written (%s)\n", strerror(errno));
		return EXIT_FAILURE;
	}
	return status;
}
