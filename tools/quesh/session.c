// SPDX-License-Identifier: GPL-2.0-only
/* The virtual terminal: shows the cell's screen and sends it keys. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history.h"
#include "past.h"
#include "quesh.h"
#include "term.h"

#define PERIOD_MS	30	/* ms between two reads of the screen */
#define DETACH_KEY	0x1d	/* ^] */
#define HISTORY_KEY	0x1e	/* ^^ */
#define HINT_MS		5000	/* ms for which any terminal shows how to leave */
#define TAKE_MS		1000	/* ms in which a cell that lives takes keys */
#define KEYS_MAX	(1u << 20)	/* typed keys that wait here at most */

enum end { GO_ON, HISTORY, DETACHED, CELL_ENDED, TERMINAL_ENDED };

struct session {
	struct console *console;
	struct history history;
	bool stay;
	bool stopped;		/* the cell has stopped, and .stay waits for its next life */
	const char *trouble;	/* shown in the status line, or NULL */
	struct painter painter;
	struct buf out;
	struct buf keys;	/* keys that were typed and are not yet in the cell's queue */
	size_t lost;		/* keys that were typed while .keys was full */
	uint32_t leave;		/* console_leave() when it was looked at last */
	int64_t hint_end;	/* now_ms() until which the status line says how to leave */
	int64_t waiting_since;	/* now_ms() since which .keys is not empty, or 0 */
};

/* Some terminals send ^H for Backspace; cells get DEL. */
static uint8_t as_key(uint8_t byte)
{
	return byte == '\b' ? 0x7f : byte;
}

static enum end take_keys(struct session *session)
{
	enum end end = GO_ON;
	uint8_t bytes[256];
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
			end = HISTORY;
		else if (session->console->writable && session->keys.len >= KEYS_MAX)
			session->lost++;
		else if (session->console->writable)
			buf_putc(&session->keys, (char)as_key(bytes[i]));
	}
	return end;
}

static void send_keys(struct session *session)
{
	struct buf *keys = &session->keys;
	long sent;

	if (!session->console->writable)
		buf_clear(keys);
	if (!keys->len) {
		session->waiting_since = 0;
		return;
	}
	if (!session->waiting_since)
		session->waiting_since = now_ms();
	sent = console_type(session->console, keys->data, keys->len);
	if (sent <= 0)
		return;		/* the queue is full, so try again later */
	keys->len -= (size_t)sent;
	memmove(keys->data, keys->data + sent, keys->len);
	session->waiting_since = 0;
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

/* The cell's shell asks with `exit` that the terminal with the keyboard leaves. */
static bool asked_to_leave(struct session *session)
{
	uint32_t before = session->leave;

	session->leave = console_leave(session->console);
	/* it begins at 0 again when the cell restarts */
	return session->console->writable && session->leave > before;
}

/* Notices that the cell has ended, or runs again, or that its shell asks to leave. */
static enum end follow(struct session *session)
{
	enum cell_life life = console_life(session->console);

	if (session->console->writable && console_keyboard_is_lost(session->console))
		session->console->writable = false;

	if (session->stopped && life == CELL_RUNNING)
		history_restart(&session->history);
	if (!history_collect(&session->history))
		session->trouble = "the log cannot be written";
	session->stopped = life == CELL_STOPPED && session->stay;
	if (asked_to_leave(session))
		return DETACHED;
	return life == CELL_RUNNING || session->stopped ? GO_ON : CELL_ENDED;
}

static enum end step(struct session *session)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	enum end end = GO_ON;
	int rows, cols;

	/* is read even if .keys is full: ^] must work at once */
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
	else if (session->lost && session->keys.len)
		snprintf(text, sizeof(text), " %s: %zu wait, %zu typed keys are lost; ^] detaches",
			 name, session->keys.len, session->lost);
	else if (session->waiting_since && now_ms() - session->waiting_since > TAKE_MS)
		snprintf(text, sizeof(text), " %s: takes no keys, %zu wait; ^] detaches", name,
			 session->keys.len);
	else if (!session->console->writable)
		snprintf(text, sizeof(text),
			 " %s: view only: another quesh holds the keyboard; ^] detaches", name);
	else if (rows > QV_SCREEN_ROWS || now_ms() < session->hint_end)
		snprintf(text, sizeof(text), " %s: ^] detaches, ^^ scrolls back", name);
	painter_set_status(&session->painter, text);
}

/* The history begins with the output that earlier sessions have kept. */
static void begin_history(struct session *session, const struct options *options)
{
	struct buf *text = &session->history.text;
	size_t past;

	if (!options->no_history)
		past_load(text, options->name);
	past = text->len;
	if (!history_collect(&session->history))
		session->trouble = "the log cannot be written";
	past_join(text, past);
}

static void end_history(struct session *session, const struct options *options)
{
	char path[PATH_MAX];

	if (!options->no_history && !past_save(&session->history.text, options->name)) {
		const char *why = strerror(errno);

		fprintf(stderr, "quesh: the history of %s is not kept for the next session (%s)\n"
			"  remedy: see %s, or say --no-history\n", options->name, why,
			past_path(path, sizeof(path), options->name) ? path : "your home folder");
	}
	history_free(&session->history);
}

int session_run(const struct options *options, struct console *console)
{
	struct session session = { .console = console, .stay = options->stay };
	enum end end = GO_ON;
	int rows, cols;

	/* stays in the terminal's own screen, too */
	fprintf(stderr, "quesh: %s: ^] (Ctrl and ]) detaches%s\n", options->name,
		console->writable ? "" : "; view only");
	if (term_enter()) {
		term_leave();
		fprintf(stderr, "quesh: the terminal cannot be used (%s)\n", strerror(errno));
		return EXIT_FAILURE;
	}
	term_size(&rows, &cols);
	painter_init(&session.painter, rows, cols, options->utf8);
	history_init(&session.history, console, options->log_fd, options->utf8);
	begin_history(&session, options);
	session.leave = console_leave(console);
	session.hint_end = now_ms() + HINT_MS;
	while (end == GO_ON) {
		term_size(&rows, &cols);
		set_status(&session, options->name, rows);
		end = step(&session);
	}
	term_leave();
	history_collect(&session.history);
	end_history(&session, options);
	buf_free(&session.out);
	if (end == CELL_ENDED)
		return say_end(options, console, console_life(console));
	if (end == TERMINAL_ENDED && term_end_signal()) {
		signal(term_end_signal(), SIG_DFL);
		raise(term_end_signal());
	}
	if (end == DETACHED)
		fprintf(stderr, "quesh: detached; %s continues\n", options->name);
	if (session.keys.len + session.lost)
		fprintf(stderr, "quesh: %zu typed keys are lost: %s has not taken them\n",
			session.keys.len + session.lost, options->name);
	buf_free(&session.keys);
	return EXIT_SUCCESS;
}
