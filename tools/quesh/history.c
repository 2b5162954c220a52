// SPDX-License-Identifier: GPL-2.0-only
#include "history.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cp437.h"

#define NOT_STARTED	127

void history_init(struct history *history, const struct console *console, int log, bool utf8)
{
	memset(history, 0, sizeof(*history));
	history->console = console;
	history->log = log;
	history->utf8 = utf8;
	console_stream(console, &history->stream);
	/* in its first 16 KiB a ring still holds zeros, which are no text */
	history->stream.pos -= QV_STREAM_LEN;
}

void history_restart(struct history *history)
{
	history->stream.pos = 0;
	history->escape.state = ESCAPE_OUTSIDE;
}

bool history_write(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t done = write(fd, bytes, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes += done;
		len -= (size_t)done;
	}
	return true;
}

/* Drops the older half if the text is too long. Lines stay whole. */
static void drop_old(struct buf *text)
{
	const char *from;
	size_t gone;

	if (text->len <= HISTORY_MAX)
		return;
	from = memchr(text->data + HISTORY_MAX / 2, '\n', text->len - HISTORY_MAX / 2);
	gone = from ? (size_t)(from + 1 - text->data) : text->len;
	text->len -= gone;
	memmove(text->data, text->data + gone, text->len + 1);
}

bool history_collect(struct history *history)
{
	uint8_t bytes[4096];
	unsigned int left = QV_STREAM_LEN / sizeof(bytes);	/* a cell may print without end */
	bool ok = true;
	size_t len, i;

	while (left-- && (len = stream_read(&history->stream, bytes, sizeof(bytes)))) {
		size_t before = history->text.len;

		/* more than 2 GiB: the cell has restarted unseen, and counts from 0 again */
		if (history->stream.lost && history->stream.lost < 1u << 31 && before)
			buf_printf(&history->text, "\n(%llu bytes were lost)\n",
				   (unsigned long long)history->stream.lost);
		history->stream.lost = 0;
		for (i = 0; i < len; i++)
			if (!escape_takes(&history->escape, bytes[i]))
				cp437_put_text(&history->text, bytes[i], history->utf8);
		if (history->log >= 0 && history->text.len > before)
			ok &= history_write(history->log, history->text.data + before,
					history->text.len - before);
		drop_old(&history->text);
	}
	return ok;
}

static void __attribute__((noreturn)) run_less(int text)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	/* without commands that open files or start programs */
	if (dup2(text, STDIN_FILENO) < 0 || setenv("LESSSECURE", "1", 1) ||
	    setenv("LESSHISTFILE", "-", 1))
		_exit(NOT_STARTED);
	unsetenv("LESSOPEN");
	unsetenv("LESS");	/* with -F or -E it would end at once */
	execlp("less", "less", "-S", "+G", "--", "-", (char *)NULL);
	_exit(NOT_STARTED);
}

bool history_view(const struct history *history)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit, stop;
	int text = memfd_create("history", MFD_CLOEXEC), status = 0;
	bool ok = false;
	pid_t child;

	if (text < 0)
		return false;
	sigaction(SIGINT, &ignore, &interrupt);		/* ^C is for less */
	sigaction(SIGQUIT, &ignore, &quit);
	sigaction(SIGTSTP, &ignore, &stop);
	if (history_write(text, history->text.data, history->text.len) &&
	    !lseek(text, 0, SEEK_SET)) {
		child = fork();
		if (!child)
			run_less(text);
		while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		ok = child > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED);
	}
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	sigaction(SIGTSTP, &stop, NULL);
	close(text);
	return ok;
}

void history_free(struct history *history)
{
	buf_free(&history->text);
}
