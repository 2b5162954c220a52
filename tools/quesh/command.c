// SPDX-License-Identifier: GPL-2.0-only
/* quesh NAME -c 'line': prints the output of the cell's shell, for scripts */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "line.h"
#include "quesh.h"

#define PERIOD_MS	5	/* ms between two reads of the stream */
#define BREAK_MS	2000	/* ms in which an interrupted command can end */
#define BREAK_KEY	"\003"	/* ^C */

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

/* A command of another user may still run in the shell. */
static int say_busy(const struct options *options, const char *what)
{
	say_late(options, what);
	fprintf(stderr,
		"  remedy: a longer -t, or ^C in `quesh %s`: it ends what still runs there\n",
		options->name);
	return EXIT_TIMED_OUT;
}

/* Reports that the command was interrupted, and whether it has `ended`. */
static int say_interrupted(const struct options *options, bool ended)
{
	say_late(options, "the command did not end");
	if (ended)
		fprintf(stderr, "  it was interrupted by ^C; remedy: a longer -t\n");
	else
		fprintf(stderr,
			"  ^C does not end it: it still runs; remedy: qvctl cell shutdown %s\n",
			options->name);
	return EXIT_TIMED_OUT;
}

static int say_keyboard_lost(const struct options *options)
{
	fprintf(stderr, "quesh: %s: another quesh took the keyboard by --force\n"
		"  remedy: run the line again later\n", options->name);
	return EXIT_TIMED_OUT;
}

static int say_cut(const struct options *options, const char *command, uint32_t max)
{
	fprintf(stderr, "quesh: %s: the line has %zu bytes, and the cell's shell takes %u\n"
		"  remedy: a shorter line\n", options->name, strlen(command), max);
	return EXIT_USAGE;
}

/*
 * Waits until the shell is ready for a line. Reading starts there. Returns 0 or the exit status.
 */
static int await_ready(const struct options *options, struct console *console,
		       struct stream *stream, int64_t deadline)
{
	while (!stream_at_ready(stream)) {
		enum cell_life life = console_life(console);

		if (life != CELL_RUNNING)
			return say_end(options, console, life);
		if (now_ms() >= deadline)
			return say_busy(options, "the cell's shell was not ready for a line");
		pause_ms(PERIOD_MS);
	}
	return 0;
}

/* Puts all of `keys` into the queue. Returns 0 or the exit status. */
static int type_keys(const struct options *options, struct console *console,
		     const struct buf *keys, int64_t deadline)
{
	size_t done = 0;

	while (done < keys->len) {
		long sent = console_type(console, keys->data + done, keys->len - done);
		enum cell_life life = console_life(console);

		if (sent > 0)
			done += (size_t)sent;
		else if (life != CELL_RUNNING)
			return say_end(options, console, life);
		else if (console_keyboard_is_lost(console))
			return say_keyboard_lost(options);
		else if (now_ms() >= deadline)
			return say_late(options, "the cell did not take the keys");
		else
			pause_ms(PERIOD_MS);
	}
	return 0;
}

static int type_line(const struct options *options, struct console *console,
		     const char *command, int64_t deadline)
{
	struct buf line = { 0 };
	int status;

	buf_puts(&line, command);
	buf_putc(&line, '\r');
	status = type_keys(options, console, &line, deadline);
	buf_free(&line);
	return status;
}

/* Reads once and prints. Returns whether there was any output. */
static bool read_some(struct answer *answer, struct stream *stream, struct buf *out)
{
	uint8_t bytes[4096];
	uint64_t lost = stream->lost;
	size_t len = stream_read(stream, bytes, sizeof(bytes));

	if (stream->lost > lost)	/* the echo may be among the lost bytes */
		answer->echoed = true;
	answer_feed(answer, bytes, len, out);
	print_out(out);
	return len > 0;
}

enum outcome { ANSWERED, CELL_ENDED, LATE };

/* Prints until the shell is ready again, the cell ends, or the deadline passes. */
static enum outcome print_until(struct console *console, struct stream *stream,
				struct answer *answer, int64_t deadline)
{
	enum outcome outcome = ANSWERED;
	struct buf out = { 0 };

	while (!answer->done && outcome == ANSWERED) {
		enum cell_life life = console_life(console);

		if ((read_some(answer, stream, &out) && now_ms() < deadline) || answer->done)
			continue;
		if (life != CELL_RUNNING)
			outcome = CELL_ENDED;
		else if (now_ms() >= deadline)
			outcome = LATE;
		else
			pause_ms(PERIOD_MS);
	}
	buf_free(&out);
	return outcome;
}

/* Prints the rest of an incomplete line. */
static void print_rest(struct answer *answer)
{
	struct buf out = { 0 };

	answer_flush(answer, &out);
	print_out(&out);
	buf_free(&out);
}

static int print_answer(const struct options *options, struct console *console,
			struct stream *stream, struct answer *answer, int64_t deadline)
{
	enum outcome outcome = print_until(console, stream, answer, deadline);
	bool late = outcome == LATE;
	int status;

	if (late && console_type(console, BREAK_KEY, 1) == 1)
		outcome = print_until(console, stream, answer, now_ms() + BREAK_MS);
	if (outcome != ANSWERED)
		print_rest(answer);
	if (late)
		status = say_interrupted(options, outcome != LATE);
	else
		status = outcome == ANSWERED ? console_line_status(console) : EXIT_FAILURE;
	if (outcome == CELL_ENDED)
		say_end(options, console, console_life(console));
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
	uint32_t max;
	int status;

	console_stream(console, &stream);
	status = await_ready(options, console, &stream, deadline);
	if (status)
		return status;
	max = console_line_max(console);
	if (max && strlen(command) > max)
		return say_cut(options, command, max);
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
