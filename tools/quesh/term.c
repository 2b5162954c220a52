// SPDX-License-Identifier: GPL-2.0-only
#include "term.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Escape sequences: the alternate screen, without line wrap */
#define ENTER	"\033[?1049h\033[?7l\033[2J"
#define LEAVE	"\033[0m\033[?7h\033[?25h\033[?1049l"

static struct termios saved;
static volatile sig_atomic_t taken, resized, end_signal, stop_asked;

bool term_write(const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t done = write(STDOUT_FILENO, at, len);

		if (done < 0 && errno == EAGAIN) {
			struct pollfd room = { .fd = STDOUT_FILENO, .events = POLLOUT };

			poll(&room, 1, 1000);
			continue;
		}
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		at += done;
		len -= (size_t)done;
	}
	return true;
}

/* Called by the handler of a crash, so it uses async-signal-safe functions only. */
void term_leave(void)
{
	ssize_t ignored;

	if (!taken)
		return;
	taken = 0;
	ignored = write(STDOUT_FILENO, LEAVE, sizeof(LEAVE) - 1);
	(void)ignored;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved);
}

static int take(void)
{
	struct termios raw = saved;

	cfmakeraw(&raw);
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw))
		return -1;
	taken = 1;
	return term_write(ENTER, sizeof(ENTER) - 1) ? 0 : -1;
}

int term_again(void)
{
	resized = 1;
	return take();
}

static void on_crash(int signal)
{
	term_leave();
	raise(signal);	/* the handler is reset, so the signal now has its default action */
}

static void on_end(int signal)
{
	end_signal = signal;
}

static void on_resize(int signal)
{
	(void)signal;
	resized = 1;
}

static void on_stop(int signal)
{
	(void)signal;
	stop_asked = 1;
}

static void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigemptyset(&action.sa_mask);
	sigaction(signal, &action, NULL);
}

int term_enter(void)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS };
	static const int ends[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGPIPE };
	size_t i;

	if (tcgetattr(STDIN_FILENO, &saved))
		return -1;
	for (i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		handle(crashes[i], on_crash, (int)SA_RESETHAND | SA_NODEFER);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		handle(ends[i], on_end, 0);
	handle(SIGWINCH, on_resize, 0);
	handle(SIGTSTP, on_stop, 0);
	return take();
}

void term_size(int *rows, int *cols)
{
	struct winsize size = { 0 };

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*rows = size.ws_row ? size.ws_row : 24;
	*cols = size.ws_col ? size.ws_col : 80;
}

bool term_was_resized(void)
{
	bool was = resized;

	resized = 0;
	return was;
}

int term_end_signal(void)
{
	return end_signal;
}

void term_stop_if_asked(void)
{
	if (!stop_asked)
		return;
	stop_asked = 0;
	term_leave();
	raise(SIGSTOP);
	if (take())
		end_signal = SIGHUP;
	resized = 1;
}
