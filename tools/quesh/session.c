// SPDX-License-Identifier: GPL-2.0-only
/* The virtual terminal: shows the cell's screen and sends it keys. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history.h"
#include "quesh.h"
#include "term.h"

#define PERIOD_MS	30	/* ms between two reads of the screen */
#define DETACH_KEY	0x1d	/* ^] */
#define HISTORY_KEY	0x1e	/* ^^ */

enum end { GO_ON, HISTORY, DETACHED, CELL_ENDED, TERMINAL_ENDED };

struct session {
	struct console *console;
	struct history history;
	bool stay;
	bool stopped;		/* the cell has stopped, and .stay waits for its next life */
	const char *trouble;	/* shown in the status line, or NULL */
	struct painter painter;
	struct buf out;
	/* keys that were typed and are not yet in the cell's queue */
	uint8_t keys[QV_KEYS_LEN];
	size_t num_keys;
};

/* Some terminals send ^H for Backspace; cells get DEL. */
static uint8_t as_key(uint8_t byte)
{
	return byte == '\b' ? 0x7f : byte;
}

static enum end take_keys(struct session *session)
{
	uint8_t bytes[64];
	ssize_t len, i;

	len = read(STDIN_FILENO, bytes, sizeof(bytes));
	if (len < 0 && (errno == EINTR || errno == EAGAIN))
		return GO_ON;
	if (len <= 0)
		return TERMINAL_ENDED;
	for (i = 0; i < len; i++) {
		if (bytes[i] == DETACH_KEY)
			return DETACHED;
		if (bytes[i] == HISTORY_KEY)
			return HISTORY;
		if (session->console->writable && session->num_keys < sizeof(session->keys))
			session->keys[session->num_keys++] = as_key(bytes[i]);
	}
	return GO_ON;
}

static void send_keys(struct session *session)
{
	long sent;

	if (!session->num_keys)
		return;
	sent = console_type(session->console, session->keys, session->num_keys);
	if (sent <= 0)
		return;		/* the queue is full, so try again later */
	session->num_keys -= (size_t)sent;
	memmove(session->keys, session->keys + sent, session->num_keys);
}

/* Kernels that support only a VGA screen do not change screen_seq, so compare the screen itself. */
static bool draw(struct session *session)
{
	struct frame frame;

	console_frame(session->console, &frame);
	buf_clear(&session->out);
	painter_draw(&session->painter, &frame, &session->out);
	return term_write(session->out.data, session->out.len);
}

/* Shows the past in `less`. The cell's screen comes back afterwards. */
static enum end view(struct session *session)
{
	history_collect(&session->history);
	term_leave();
	session->trouble = history_view(&session->history) ? NULL : "less is not installed";
	return term_again() ? TERMINAL_ENDED : GO_ON;
}

/* Notices that the cell has ended, or runs again. */
static enum end follow(struct session *session)
{
	enum cell_life life = console_life(session->console);

	if (session->stopped && life == CELL_RUNNING)
		history_restart(&session->history);
	if (!history_collect(&session->history))
		session->trouble = "the log cannot be written";
	session->stopped = life == CELL_STOPPED && session->stay;
	return life == CELL_RUNNING || session->stopped ? GO_ON : CELL_ENDED;
}

static enum end step(struct session *session)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	enum end end = GO_ON;
	int rows, cols;

	if (poll(&input, 1, PERIOD_MS) > 0)
		end = take_keys(session);
	send_keys(session);
	term_stop_if_asked();
	if (term_end_signal())
		return TERMINAL_ENDED;
	if (term_was_resized()) {
		term_size(&rows, &cols);
		painter_resize(&session->painter, rows, cols);
	}
	if (!draw(session))
		return TERMINAL_ENDED;
	if (end == HISTORY)
		end = view(session);
	return end == GO_ON ? follow(session) : end;
}

/* Shows the status line if its text is necessary, or if the terminal has a free row for it */
static void set_status(struct session *session, const char *name, int rows)
{
	char text[128] = "";

	if (session->stopped)
		snprintf(text, sizeof(text), " %s: stopped; waits until it runs; ^] detaches",
			 name);
	else if (session->trouble)
		snprintf(text, sizeof(text), " %s: %s; ^] detaches", name, session->trouble);
	else if (!session->console->writable)
		snprintf(text, sizeof(text),
			 " %s: view only: another quesh holds the keyboard; ^] detaches", name);
	else if (rows > QV_SCREEN_ROWS)
		snprintf(text, sizeof(text), " %s: ^] detaches, ^^ scrolls back", name);
	painter_set_status(&session->painter, text);
}

int session_run(const struct options *options, struct console *console)
{
	struct session session = { .console = console, .stay = options->stay };
	enum end end = GO_ON;
	int rows, cols;

	if (term_enter()) {
		term_leave();
		fprintf(stderr, "quesh: the terminal cannot be used (%s)\n", strerror(errno));
		return EXIT_FAILURE;
	}
	term_size(&rows, &cols);
	painter_init(&session.painter, rows, cols, options->utf8);
	history_init(&session.history, console, options->log_fd, options->utf8);
	while (end == GO_ON) {
		term_size(&rows, &cols);
		set_status(&session, options->name, rows);
		end = step(&session);
	}
	term_leave();
	history_collect(&session.history);
	history_free(&session.history);
	buf_free(&session.out);
	if (end == CELL_ENDED)
		return say_end(options, console, console_life(console));
	if (end == TERMINAL_ENDED && term_end_signal()) {
		signal(term_end_signal(), SIG_DFL);
		raise(term_end_signal());
	}
	if (end == DETACHED)
		fprintf(stderr, "quesh: detached; %s continues\n", options->name);
	return EXIT_SUCCESS;
}
